"""Perft: node counts of files, and the verb. tests/data/chess/perft-own.epd is ours, its counts are another program's."""
import os
import pathlib
import re
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("B", "build"))
PROGRAM = os.environ.get("EPISTLE", str(BUILD / "epistle"))
SUITE = BUILD / "tests" / "perft_suite"
SHARED = pathlib.Path(os.environ.get("EPISTLE_SHARED", "../shared")) / "chess-data"
OWN = "tests/data/chess/perft-own.epd"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def suite(*arguments):
    return subprocess.run([SUITE, *arguments], capture_output=True, text=True, timeout=3600)


def perft(*arguments):
    return subprocess.run([PROGRAM, "perft", *arguments], capture_output=True, text=True, timeout=60)


def counts(done):
    """{move: count}, total; all that the verb must say, in its order."""
    assert (done.returncode, done.stderr) == (0, "")
    *moves, total, speed = done.stdout.splitlines()
    assert re.fullmatch(r"nodes per second: \d+", speed)
    moves = dict(line.split(": ") for line in moves)
    assert list(moves) == sorted(moves)
    return {move: int(count) for move, count in moves.items()}, int(re.fullmatch(r"total: (\d+)", total).group(1))


# ---- files ----

def test_own_set():
    done = suite("--all", OWN)
    assert done.returncode == 0, done.stdout + done.stderr
    sums = re.fullmatch(r"positions (\d+), counts (\d+), nodes (\d+), walked (\d+), wrong 0\n", done.stdout)
    assert int(sums.group(1)) >= 60 and int(sums.group(2)) >= 200


# The budget of a position is what fits half a minute a file on a slow machine (a quarter of that on ours); under the sanitizers
# each node takes thirty times as long. PERFT_ALL counts every depth: hundreds of milliards of nodes, some ten minutes.
@pytest.mark.parametrize("file, nodes_max, positions", [
    ("perft-standard.epd", 300_000_000, 64),
    ("perft-chess960.epd", 100_000_000, 320),
    ("perft-tricky.txt", 500_000_000, 18),
])
def test_shared_files(file, nodes_max, positions):
    if not (SHARED / file).exists():
        pytest.skip("the positions beside the project are not here")
    budget = ["--nodes-max", str(nodes_max // 100 if os.environ.get("EPISTLE_ASAN") else nodes_max)]
    done = suite(*(["--all"] if os.environ.get("PERFT_ALL") else budget), str(SHARED / file))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"positions {positions}, ") and done.stdout.endswith(", wrong 0\n")


@pytest.mark.parametrize("text, status", [
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1 15 ;D2 66\n", 0),
    ("# one\n\nid x\nepd 4k3/8/8/8/8/8/8/4K2R w K -\nperft 1 15\nperft 2 66\n", 0),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1 15 ;D2 67\n", 1),
    ("epd 4k3/8/8/8/8/8/8/4K2R w K -\nperft 1 16\n", 1),
    ("", 2),
    ("perft 1 15\n", 2),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1\n", 2),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;E1 15\n", 2),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1 15x\n", 2),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1\n", 2),
    ("4k3/8/8/8/8/8/8/8 w - - 0 1 ;D1 15\n", 2),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1 15" + 1000 * " " + ";D2 67\n", 2),
])
def test_the_counter_of_files_itself(tmp_path, text, status):
    file = tmp_path / "some.epd"
    file.write_text(text)
    assert suite(str(file)).returncode == status


def test_the_budget_of_a_position(tmp_path):
    file = tmp_path / "some.epd"
    file.write_text("4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1 15 ;D2 66 ;D3 1197\n" * 2)
    for budget, counted in [("1", 2), ("15", 2), ("80", 2), ("81", 4), ("1277", 4), ("1278", 6)]:
        assert f"positions 2, counts {counted}, " in suite("--nodes-max", budget, str(file)).stdout


# ---- the verb ----

def test_each_move_and_the_total():
    moves, total = counts(perft("3"))
    assert len(moves) == 20 and moves["a2a3"] == 380 and moves["g1f3"] == 440
    assert total == sum(moves.values()) == 8902


def test_depths_from_nought():
    assert counts(perft("0")) == ({}, 1)
    moves, total = counts(perft("1"))
    assert set(moves.values()) == {1} and total == 20
    stalemate = "k7/P7/1K6/8/8/8/8/8 b - - 0 1"
    assert counts(perft("0", stalemate)) == ({}, 1)
    assert counts(perft("5", stalemate)) == ({}, 0)


def test_mate_has_no_moves():
    mated = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"
    assert counts(perft("1", mated)) == ({}, 0)
    assert counts(perft("99", mated)) == ({}, 0)


@pytest.mark.parametrize("fen, options, castling", [
    ("4k3/8/8/8/8/8/8/QR1K4 w Q - 0 1", ["--chess960"], "d1b1"),
    ("4k3/8/8/8/8/8/8/QR1K4 w B - 0 1", [], "d1b1"),          # a right standard chess cannot have
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", [], "e1g1"),
    ("4k3/8/8/8/8/8/8/4K2R w H - 0 1", [], "e1g1"),
    ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", ["--chess960"], "e1h1"),
])
def test_castling_is_written_as_the_game_writes_it(fen, options, castling):
    assert castling in counts(perft("1", fen, *options))[0]


def test_fen_in_one_word_or_several():
    assert counts(perft("3", START)) == counts(perft("3", *START.split()))
    assert counts(perft("2", "4k3/8/8/8/8/8/8/4K2R", "w", "K", "-"))[1] == 66
    assert counts(perft("2", "4k3/8/8/8/8/8/8/4K2R", "w", "K", "-", "--chess960"))[1] == 66


@pytest.mark.parametrize("depth", ["", "x", "3x", "-1", "1.5", "100", "99999999999999999999", "0x3"])
def test_bad_depth(depth):
    done = perft("--", depth)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "DEPTH must be a number" in done.stderr


@pytest.mark.parametrize("fen", ["nonsense", "", "8/8/8/8/8/8/8/8 w - - 0 1", START + " more", "4k3/8/8/8/8/8/8/4K1R1 w - e9 0 1",
                                 "4k3/8/8/8/8/8/8/4K1R1 w A - 0 1", "4k3/8/8/8/8/8/8/4R1K1 w - - 0 1"])
def test_bad_fen(fen):
    done = perft("2", fen)
    assert done.returncode == 1 and done.stdout == "" and len(done.stderr.splitlines()) == 1


def test_usage():
    assert perft("--help").stdout.startswith("usage: epistle perft DEPTH [FEN] [--chess960]\n")
    for arguments in ([], ["--fast", "3"], ["3", *START.split(), "more"]):
        done = perft(*arguments)
        assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1
