"""The verb notate: one move in every notation and the FEN after it, or why it is none; run from the project root."""
import os
import subprocess

import pytest

PROGRAM = os.environ.get("EPISTLE", os.path.join(os.environ.get("B", "build"), "epistle"))
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PROMOTE = "3r2k1/4P3/8/8/8/8/6p1/4K3 w - - 0 1"
CASTLE = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"


def notate(*arguments):
    return subprocess.run([PROGRAM, "notate", *arguments], capture_output=True, text=True, timeout=60)


def lines(*arguments):
    done = notate(*arguments)
    assert done.returncode == 0 and done.stderr == "", done
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def test_every_notation_in_order():
    done = notate(START, "g1f3")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "san: Nf3", "long: Ng1-f3", "uci: g1f3", "numeric: 7163", "figurine: ♘f3", "spoken: knight Felix three",
        "fen: rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1"]


def test_a_language_of_ones_own():
    said = lines(PROMOTE, "exd8=D+", "--language", "de-AT")
    assert said["san"] == "exd8=Q+" and said["numeric"] == "57481"
    assert said["de"] == "exd8=D+" and said["de long"] == "e7xd8=D+"
    assert said["de spoken"] == "Bauer Eva sieben schlaegt David acht wird Dame, Schach"
    assert said["fen"] == "3Q2k1/8/8/8/8/8/6p1/4K3 b - - 0 1"
    said = lines(START, "Кf3", "--language", "RU")
    assert said["ru"] == "Кf3" and said["ru spoken"] == "конь Felix три"
    assert "pl spoken" not in lines(START, "Sf3", "--language", "pl")  # it has no words here but Law E's, which are German


@pytest.mark.parametrize("text", ["O-O-O", "0-0-0", "e8c8", "5838", "lange Rochade", "castles queen side", "Ke8-c8"])
def test_castling_however_it_is_written(text):
    said = lines(CASTLE, text)
    assert (said["san"], said["uci"], said["numeric"]) == ("O-O-O", "e8c8", "5838")
    assert (said["figurine"], said["spoken"]) == ("O-O-O", "long castling")
    assert said["fen"] == "2kr3r/8/8/8/8/8/8/R3K2R w KQ - 1 2"


def test_chess960_castling_is_king_takes_rook():
    said = lines("4k3/8/8/8/8/8/8/QR1K4 w Q - 0 1", "d1b1", "--chess960")
    assert (said["san"], said["uci"], said["numeric"]) == ("O-O-O", "d1b1", "4121")


def test_with_its_number():
    assert lines(START, "1. e4")["san"] == "e4"


@pytest.mark.parametrize("fen,move,why,possible", [
    (START, "Bc4", "Bc4 is not possible: the way of the bishop from f1 is blocked by the pawn on e2.", None),
    (START, "e4=Q", "e4=Q is not possible: nothing is promoted by this move.", "e4"),
    (START, "Sf3", "Sf3 begins with a letter that is no piece in this language.", "Nf3"),
    (START, "hello", "hello is not written like a move.", None),
    (PROMOTE, "e8", "e8 does not say what the pawn becomes.", "e8=B e8=N e8=Q+ e8=R+"),
    ("8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1", "exd6",
     "exd6 is not legal: with both pawns gone from their squares the king would be in check from the rook on h5.", None),
    ("4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1", "Nd2", "Nd2 can be done by more than one knight.", "Nbd2 Nfd2"),
])
def test_why_it_is_none_and_what_would_be(fen, move, why, possible):
    done = notate(fen, move)
    assert done.returncode == 1 and done.stderr == ""
    first, second = done.stdout.splitlines()
    assert first == why
    assert second.startswith("possible: ")
    assert possible is None or second == "possible: " + possible


def test_usage():
    done = notate(START, "e4", "--language", "tlh")
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
    assert " cs da de es et fi fr hu is it ja lo nb nl nn no pl pt ro ru st sv, not tlh" in done.stderr
    for arguments in ([], [START], [START, "e4", "e5"], [START, "e4", "--nonsense"]):
        assert notate(*arguments).returncode == 2
    assert notate("nonsense", "e4").returncode == 1


def test_a_hostile_word_shows_no_control_characters():
    done = notate(START, "e4\x1b[2J")
    assert done.returncode == 1 and "\x1b" not in done.stdout


def test_a_game_that_is_over_has_no_moves():
    for fen, word in (("k7/2Q5/1K6/8/8/8/8/8 b - - 9 60", "nothing, Black is stalemated"),
                      ("6k1/5ppp/8/8/8/8/5PPP/r5K1 w - - 0 1", "nothing, White is checkmated")):
        done = notate(fen, "Kb8")
        assert done.returncode == 1 and done.stdout.splitlines()[-1] == f"possible: {word}"


def test_what_a_terminal_would_obey_is_not_printed():
    done = notate(START, "\x1b[31mNf3\x07\u202e\u009b31m")
    assert done.returncode == 1 and not any(mark in done.stdout for mark in ("\x1b", "\x07", "\u202e", "\u009b"))
    done = notate(START, "é" * 5000)
    assert done.returncode == 1 and len(done.stdout) < 1000 and done.stdout.startswith("é" * 100 + "... ")
