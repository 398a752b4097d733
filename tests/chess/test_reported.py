"""What other programs' users have reported as wrong, tried here with positions of our own.

Each kind that was reported once (of readers of moves and PGN, of Chess960, of repetition and dead positions) stands here once or
more, so that the same never has to be reported of us. What happens inside is tested beside each part; this is from outside."""
import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("B", "build"))
PROGRAM = os.environ.get("EPISTLE", str(BUILD / "epistle"))


def run(*arguments, given=""):
    return subprocess.run([PROGRAM, *arguments], input=given, capture_output=True, text=True, timeout=60)


def notated(fen, move, *options):
    """What `notate` says: its lines by name, or the two sentences of a refusal."""
    done = run("notate", fen, move, *options)
    if done.returncode == 0:
        return dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert done.returncode == 1, done.stderr
    why, possible = done.stdout.splitlines()
    return {"why": why, "possible": sorted(possible.removeprefix("possible: ").split())}


# ---- moves as written ----

@pytest.mark.parametrize("fen, written, san, uci", [
    # more than is needed: both squares where a file would do
    ("3r2k1/8/8/8/8/7R/8/3R2K1 w - - 0 1", "Rd1d3", "Rdd3", "d1d3"),
    ("3r2k1/8/8/8/8/7R/8/3R2K1 w - - 0 27", "27.Rd1d3", "Rdd3", "d1d3"),
    # the other one is pinned, so no file is written; but whoever writes it is understood
    ("4r1k1/8/8/8/4R3/8/2R5/4K3 w - - 0 1", "Rcc4", "Rc4", "c2c4"),
    ("4r1k1/8/8/8/4R3/8/2R5/4K3 w - - 0 1", "R2c4", "Rc4", "c2c4"),
    ("6k1/8/8/b7/8/2N5/8/4K1N1 w - - 0 1", "Nge2", "Ne2", "g1e2"),
    # five rooks: four can, or three and one is pinned
    ("1k6/8/8/2r5/r2r3r/8/8/3R1K2 b - - 0 1", "Rac4", "Rac4", "a4c4"),
    ("1k6/8/8/2r5/r2r3r/8/8/3R1K2 b - - 0 1", "R5c4", "Rcc4", "c5c4"),
    # three queens: neither file nor rank alone is enough
    ("Q2Q4/8/8/Q7/8/8/5k2/7K w - - 0 1", "Qa8d5", "Qa8d5", "a8d5"),
    ("Q2Q4/8/8/Q7/8/8/5k2/7K w - - 0 1", "Qd8d5", "Qdd5", "d8d5"),
    ("Q2Q4/8/8/Q7/8/8/5k2/7K w - - 0 1", "Q5d5", "Q5d5", "a5d5"),
    # promotion as programs write it
    ("8/1P6/8/8/8/5k2/8/7K w - - 0 1", "b7b8q", "b8=Q", "b7b8q"),
    ("8/8/8/8/8/5k2/1p6/7K b - - 0 1", "b2b1n", "b1=N", "b2b1n"),
    ("8/8/8/8/8/5k2/1p6/7K b - - 0 1", "b1Q", "b1=Q+", "b2b1q"),
    # castling with noughts, with marks that are right or not
    ("r3k3/8/8/8/3K4/8/8/8 b q - 0 1", "0-0-0+", "O-O-O+", "e8c8"),
    ("4k2r/8/8/8/8/8/8/K7 b k - 0 1", "0-0+", "O-O", "e8g8"),
    # mate by castling
    ("8/8/8/8/8/2B5/pr6/k3K2R w K - 0 1", "O-O#", "O-O#", "e1g1"),
    ("8/8/8/8/8/2B5/pr6/k3K2R w K - 0 1", "O-O", "O-O#", "e1g1"),
])
def test_moves_as_people_and_programs_write_them(fen, written, san, uci):
    answer = notated(fen, written)
    assert (answer.get("san"), answer.get("uci")) == (san, uci), answer


@pytest.mark.parametrize("fen, written, said, possible", [
    ("4k3/8/8/2p1p3/3P4/8/8/4K3 b - - 0 1", "xd4", "more than one pawn", ["cxd4", "exd4"]),
    ("8/5P2/8/8/8/1k6/8/K7 w - - 0 1", "f8", "what the pawn becomes", ["f8=B", "f8=N", "f8=Q", "f8=R"]),
    ("8/5P2/8/8/8/1k6/8/K7 w - - 0 1", "f7f8", "what the pawn becomes", ["f8=B", "f8=N", "f8=Q", "f8=R"]),
    ("4k3/8/8/8/8/8/8/4K1RR w K - 0 1", "O-O", "g1", None),          # the outer rook has the right, the inner one stands in its way
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "Ne3", "knight", None),
])
def test_what_is_no_move_is_told_why(fen, written, said, possible):
    answer = notated(fen, written)
    assert said in answer["why"]
    assert possible is None or answer["possible"] == possible


def test_a_pawn_that_alone_can_capture_needs_no_file():
    assert notated("4k3/8/8/2p5/3P4/8/8/4K3 b - - 0 1", "xd4")["uci"] == "c5d4"


# ---- PGN ----

def replayed(text):
    done = run("replay", "-", given=text)
    sums = dict(part.split(" ") for part in done.stdout.splitlines()[-1].split(", "))
    return [int(sums[name]) for name in ("games", "moves", "errors")], done.stdout.splitlines()[:-1]


@pytest.mark.parametrize("text, sums", [
    ("{before the first move} 1. d4 {behind it} d5 *\n", [1, 2, 0]),
    ('[Event "no moves"]\n[White "A"]\n\n[Event "another"]\n\n1. d4 d5 1/2-1/2\n', [2, 2, 0]),
    ('[Event "The \\"Little\\" Cup"]\n\n1. d4 *\n', [1, 1, 0]),
    ("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 5. d3 0-0 *\n", [1, 10, 0]),
    ("1. e4 e5 2. Nf3 2....Nc6 3. Bc4 3....Bc5 *\n", [1, 6, 0]),
    # a line with crowds of rooks, each named as it must be
    ('[SetUp "1"]\n[FEN "3rk3/8/8/2r5/r2r3r/8/8/5K1R w - - 0 1"]\n\n1. Kg1 Rac4 2. Kf1 R4d5 3. Kg1 Rcc4 *\n', [1, 5, 1]),
    ('[SetUp "1"]\n[FEN "3rk3/8/8/2r5/r2r3r/8/8/5K1R w - - 0 1"]\n\n1. Kg1 Rac4 2. Kf1 R4d5 3. Kg1 R5xd5+ *\n', [1, 5, 1]),
    ('[SetUp "1"]\n[FEN "3rk3/8/8/2r5/r2r3r/8/8/5K2 w - - 0 1"]\n\n1. Kg1 Rac4 2. Kf1 R4c3 3. Kg1 R5c4 4. Kf1 Rh1+ *\n', [1, 8, 0]),
])
def test_games_are_read(text, sums):
    assert replayed(text)[0] == sums


def test_an_illegal_move_is_named_by_its_number_and_side():
    sums, faults = replayed("1. d4 d5 2. Bf4 Nf6 3. Nbe3 *\n")
    assert sums == [1, 4, 1]
    assert len(faults) == 1 and "Move 3 of White, Nbe3" in faults[0]


def test_quotes_without_escapes_do_not_swallow_what_follows():
    sums, faults = replayed('[Event "Cup "Little" Open"]\n[White "A"]\n\n1. e4 e5 *\n\n[Event "next"]\n\n1. d4 *\n')
    assert sums == [2, 3, 1]
    assert ":1: " in faults[0]


# ---- Chess960 ----

def uci_moves(fen, *options):
    done = run("moves", fen, *options)
    assert done.returncode == 0, done.stderr
    return [move.split("=")[0] for move in done.stdout.split()]


def test_the_right_belongs_to_the_outermost_rook():
    inner, outer = "3k4/8/8/8/8/8/8/1K2R2R w E - 0 1", "3k4/8/8/8/8/8/8/1K2R2R w K - 0 1"
    assert "b1e1" in uci_moves(inner) and "b1h1" not in uci_moves(inner)
    assert "b1h1" not in uci_moves(outer)  # e1 stands in its way
    assert notated(outer, "Kb2")["fen"].split()[2] == "-"
    assert notated(outer, "Re8+")["fen"].split()[2] == "K"
    assert notated(inner, "Rh8+")["fen"].split()[2] == "K"     # the other rook is gone: X-FEN needs no file
    assert notated(inner, "Rh2")["fen"].split()[2] == "K"
    assert notated(inner, "Ka2")["fen"].split()[2] == "-"


def test_a_right_with_an_enemy_rook_further_out():
    fen = "4k3/pppppppp/8/8/8/8/PPPPPPPP/3K2Rr w K - 0 1"
    assert notated(fen, "a3")["fen"].split()[2] == "K"
    assert "would be in check" in notated(fen, "O-O")["why"]  # on g1 no rook shields him any more


@pytest.mark.parametrize("fen, written, castling", [
    ("4k3/8/8/8/8/8/8/4BKR1 w G - 0 1", "f1g1", "O-O"),        # they change places: the rook's square says castling
    ("4k3/8/8/8/8/8/8/QR1K4 w B - 0 1", "d1b1", "O-O-O"),
    ("4k3/8/8/8/8/8/8/QR1K4 w B - 0 1", "O-O-O", "O-O-O"),
    ("2r1k2r/8/8/8/8/8/8/4K3 b hc - 0 1", "0-0-0", "O-O-O"),
    ("6kr/8/8/8/8/8/8/4K3 b h - 0 1", "O-O", "O-O"),           # the king stands where he ends
    ("5rk1/8/8/8/8/8/8/4K3 b f - 0 1", "g8f8", "O-O-O"),       # the side is where the rook stands
])
def test_castling_wherever_they_stand(fen, written, castling):
    assert notated(fen, written, "--chess960").get("san") == castling


def test_castling_to_the_other_side_is_another_move():
    assert "why" in notated("5rk1/8/8/8/8/8/8/4K3 b f - 0 1", "O-O", "--chess960")


def test_castling_in_games_from_arrays():
    head = '[Variant "Chess960"]\n[SetUp "1"]\n[FEN "{}"]\n\n'
    short = head.format("nrbbqnkr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQNKR w KQkq - 0 1") + "1. Ng3 Ng6 2. O-O O-O *\n"
    long = head.format("rkbqnnbr/pppppppp/8/8/8/8/PPPPPPPP/RKBQNNBR w KQkq - 0 1")
    long += "1. d3 d6 2. Bd2 Bd7 3. Qc1 Qc8 4. Qd1 Qd8 5. Bc3 Bc6 6. Qd2 Qd7 7. O-O-O O-O-O *\n"
    assert replayed(short)[0] == [1, 4, 0]
    assert replayed(long)[0] == [1, 14, 0]


def test_rights_on_files_without_a_rook_are_an_error():
    fen = "nrkbbrqn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBRQN w HAha - 0 1"
    for options in ([], ["--chess960"]):
        done = run("moves", fen, *options)
        assert done.returncode == 1 and done.stdout == "" and "castling" in done.stderr
    assert run("moves", fen.replace("HAha", "FBfb")).returncode == 0


# ---- positions that cannot be, or have odd fields ----

@pytest.mark.parametrize("fen, said", [
    ("4k3/8/8/8/4Q3/8/8/4K3 w - - 0 1", "check"),
    ("8/8/8/3k4/4K3/8/8/8 b - - 0 1", "check"),
    ("8/8/8/8/8/1r6/1k6/1K6 b - - 0 1", "check"),
])
def test_the_side_not_to_move_may_not_be_in_check(fen, said):
    done = run("moves", fen)
    assert done.returncode == 1 and done.stdout == "" and said in done.stderr


@pytest.mark.parametrize("fen, move, after", [
    ("4k1r1/8/8/8/8/8/8/R3K3 w Qk - 0 1", "Ra2", "4k1r1/8/8/8/8/8/R7/4K3 b k - 1 1"),  # X-FEN: the rook on g8 may have it
    ("3k3r/8/8/8/8/8/8/R2K4 w Qq - 0 1", "Ra2", "3k3r/8/8/8/8/8/R7/3K4 b - - 1 1"),    # no rook on that side of him
    ("4k3/7r/8/8/8/8/8/4K3 w KQkq h3 0 0", "Kd1", "4k3/7r/8/8/8/8/8/3K4 b - - 1 1"),
    ("4k3/8/8/8/8/8/8/4K3 b - - 0 0", "Kd8", "3k4/8/8/8/8/8/8/4K3 w - - 1 2"),
])
def test_impossible_rights_are_dropped_and_move_nought_is_one(fen, move, after):
    assert notated(fen, move)["fen"] == after


# ---- repetition, dead positions, flags ----

def line(fen, *moves):
    done = subprocess.run([BUILD / "tests" / "faults_line", fen, *moves], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return dict(part.split(":", 1) for part in done.stdout.splitlines())


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.mark.parametrize("fen, moves, times", [
    # a double step beside no pawn, or whose capture would bare the king, is no other position
    (START, "c4 Nf6 Nc3 Ng8 Nb1 Nf6 Nc3 Ng8 Nb1", 3),
    ("8/8/8/8/k3p2R/8/3P4/3K4 w - - 0 1", "d4 Ka3 Kd2 Ka4 Kd1 Ka3 Kd2 Ka4 Kd1", 3),
    ("8/8/8/8/k3p3/8/3P3R/3K4 w - - 0 1", "d4 Ka3 Kd2 Ka4 Kd1 Ka3 Kd2 Ka4 Kd1", 2),  # here it could be taken, the first time
    # the position at the beginning counts, whatever way back to it
    ("4k3/4p3/8/8/8/8/8/4K3 b - - 0 1", "Kd7 Kd2 Ke8 Ke1 Kf7 Kf2 Ke8 Ke1", 3),
    # rooks that may castle no longer: the first time is another position
    ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "Ra2 Kd8 Ra1 Ke8 Ra2 Kd8 Ra1 Ke8", 2),
    ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "Ra2 Kd8 Ra1 Ke8 Ra2 Kd8 Ra1 Ke8 Ra2 Kd8 Ra1 Ke8", 3),
    # two rooks that change places; the same men on the same squares are the same
    ("6k1/8/8/8/8/8/R7/R5K1 w - - 0 1", "Rb1 Kg7 Rbb2 Kg8 Ra1 Kg7 Rba2 Kg8", 2),
])
def test_repetition(fen, moves, times):
    answer = line(fen, *moves.split())
    assert int(answer["times"]) == times
    assert ("threefold" in answer["draws"]) == (times >= 3)


@pytest.mark.parametrize("fen, moves, mating, ending", [
    ("8/8/3k4/4b3/8/2K5/8/6B1 w - - 0 1", "", "--", "insufficient"),          # both on dark squares
    ("8/8/3k4/5b2/8/2K5/8/6B1 w - - 0 1", "", "WB", "none"),
    ("b7/1B2k3/2b5/8/8/8/6B1/4KB2 w - - 0 1", "", "--", "insufficient"),      # all on light squares
    ("4k3/8/8/1p1p1p2/1P1P1P2/8/8/4K3 w - - 0 1", "", "WB", "none"),          # the kings get round this wall
    ("4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 0 1", "", "--", "dead"),        # not round this one
    ("8/2kr4/8/8/K7/8/8/8 w - - 0 1", "Ka5 Rd8 Ka6 Rb8 Ka7 Ra8+", "--", None),  # the only move takes the rook
    ("8/2kr4/8/8/K7/8/8/8 w - - 0 1", "Ka5 Rd8 Ka6 Rb8 Ka7", "-B", "none"),
])
def test_who_can_still_mate(fen, moves, mating, ending):
    answer = line(fen, *moves.split())
    assert answer["mating"].strip() == mating
    assert ending is None or answer["ending"].strip() == ending
