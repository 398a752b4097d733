"""Games of Chess960 by letter: the array by number or drawn, castling from any squares, the record and the PGN."""
import re
import subprocess

import pytest

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
CORNER = "8/8/8/4k3/8/8/8/RK6 w Q - 0 1"  # the rook stands where the king's way to c1 begins, the king where the rook's ends


@pytest.fixture
def pair(club):
    return club.player("Ann East"), club.player("Bob West")


def test_an_array_by_its_number(club, pair):
    ann, bob = pair
    number, first, second = club.new_game(ann, bob, "--variant", "chess960:0")
    assert club.fen(number) == "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1"
    assert "Chess960" in first.flat and "start array number 0 of 0 to 959" in first.flat and "the king on g1 and the rook on f1" in first.flat
    assert "the king on g8 and the rook on f8" in second.flat
    club.run("verify")


def test_number_518_is_chess960_all_the_same(club, pair):
    ann, bob = pair
    number, first, _ = club.new_game(ann, bob, "--variant", "chess960:518")
    assert club.fen(number).startswith(START) and "start array number 518" in first.flat
    pgn = club.run("game", "show", number, "--pgn")
    assert '[Variant "Chess960"]' in pgn and '[SetUp "1"]' in pgn
    settled = club.settle(ann, first, "e4")
    assert settled.codes == ["played"], settled
    club.run("verify")


def test_an_array_is_drawn(club, pair):
    ann, bob = pair
    numbers = [club.new_game(ann, bob, "--variant", "chess960")[0] for _ in range(8)]
    ranks = [club.fen(number).split("/")[-1].split()[0] for number in numbers]
    assert len(set(ranks)) > 4  # the same twice: 1 in 960
    for rank in ranks:
        bishops = [file for file, letter in enumerate(rank) if letter == "B"]
        assert sorted(rank) == sorted("RNBQKBNR") and sum(bishops) % 2 == 1 and re.search("R.*K.*R", rank)
    club.run("verify")


def test_castling_from_odd_squares_by_letter(club, pair):
    ann, bob = pair
    number, first, _ = club.new_game(ann, bob, "--variant", "chess960", "--fen", CORNER)
    assert "start array number" not in first.flat and "Chess960" in first.flat
    wrong = club.settle(ann, first, "O-O")
    assert not wrong.changed and wrong.outcome == "refused"
    settled = club.settle(ann, first, "0-0-0")
    assert settled.codes == ["played"] and club.fen(number).startswith("8/8/8/4k3/8/8/8/2KR4 b - -")
    second = bob.newest(number)
    assert club.settle(bob, second, "Ke6").codes == ["played"]
    pgn = club.run("game", "show", number, "--pgn")
    assert "1. O-O-O Ke6" in pgn and '[Variant "Chess960"]' in pgn
    file = club.folder / "game.pgn"
    file.write_text(pgn)
    assert "errors 0" in club.run("replay", file)
    club.run("verify")


def test_a_position_no_game_can_have_led_to_is_told(club, pair):
    done = subprocess.run([club.program, "-c", str(club.configuration), "game", "new", "Ann East", "Bob West", "--fen",
                           "4k3/8/8/8/8/8/PPPPPPPP/QQ2K3 w - - 0 1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "game 1\n"
    assert "no game can have led to this position" in done.stderr and "White" in done.stderr and len(done.stderr.splitlines()) == 1


def test_rights_that_were_dropped_are_told_and_a_set_up_game_says_so(club, pair):
    done = subprocess.run([club.program, "-c", str(club.configuration), "game", "new", "Ann East", "Bob West", "--fen",
                           "4k3/8/8/8/8/8/4P3/4K2R w KQkq - 0 1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "begins without it" in done.stderr and "Q" in done.stderr and len(done.stderr.splitlines()) == 1
    club.once()
    assert "from the position below" in pair[0].newest().flat
    said = club.run_failing("game", "new", "Ann East", "Bob West", "--fen", "qqqqkqqq/qqqqqqqq/8/8/8/8/8/4K3 w - - 0 1")
    assert said == "epistle: In this position the game is over already: the side to move is checkmated.\n"
    said = club.run_failing("game", "new", "Ann East", "Bob West", "--fen", "4k3/8/8/8/8/8/8/4K3 w - - 0 1")
    assert said == "epistle: In this position the game is over already: neither side can ever checkmate the other.\n"


@pytest.mark.parametrize("options, word", [
    (["--variant", "chess961"], "no variant"), (["--variant", "chess960:960"], "0 to 959"), (["--variant", "chess960:"], "0 to 959"),
    (["--variant", "chess960:-1"], "0 to 959"), (["--variant", "chess960:5x"], "0 to 959"),
    (["--variant", "chess960:5", "--fen", CORNER], "leave one out"), (["--variant", "chess960", "--fen", "rubbish"], "FEN"),
])
def test_variants_that_are_none(club, pair, options, word):
    said = club.run_failing("game", "new", "Ann East", "Bob West", *options)
    assert word in said and len(said.splitlines()) == 1
    assert club.json("game", "list") == []
