"""The rules against another program (stockfish): random games by oracle.c, and the node counts of our own perft set."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import perft_own

PROGRAM = pathlib.Path(os.environ.get("B", "build")) / "tests" / "oracle"
ENGINE = shutil.which("stockfish", path=os.environ["PATH"] + ":/usr/games")
needs_engine = pytest.mark.skipif(ENGINE is None, reason="stockfish is not installed")


def oracle(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=600)


@needs_engine
@pytest.mark.parametrize("seed", [1, 2026])
def test_random_games(seed):
    done = oracle("--engine", ENGINE, "--plies", "20000", "--seed", str(seed))
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    counts = {name: int(count) for name, count in re.findall(r"([a-z][a-z0-9 ]*) (\d+)(?:, |\n)", done.stdout)}
    assert counts["differences"] == 0
    assert counts["plies"] == 20000 and counts["legal moves"] > 400000 and counts["arrays"] > 300
    assert counts["asked again"] < 20  # once in a while the engine contradicts itself, but not always
    # what random games seldom come to was really there
    for rare in ["castlings", "in chess960", "shields", "en passant", "barred", "promotions", "checks", "double checks", "mates", "stalemates"]:
        assert counts[rare] > 0, rare


# An engine that lies in one line of its answer: each lie must be noticed, or the comparison would be for nothing.
LIES = {
    "another move": (r"s/^e2e4: 1$/e2e5: 1/", "the list of legal moves"),
    "check": (r"s/^Checkers: $/Checkers: a1 /", "check"),
    "who gives check": (r"s/^Checkers: ([a-h][1-8]) $/Checkers: \1 a1 /", "check"),
    "castling": (r"s/^(Fen: .* b) KQkq/\1 KQk/", "the position"),
    "en passant": (r"s/^(Fen: .* [wb] [KQkq]+) -/\1 e3/", "the position"),
    "counters": (r"s/^(Fen: .*) 1 1$/\1 2 1/", "the position"),
}


@needs_engine
@pytest.mark.parametrize("lie", LIES)
def test_a_difference_is_found(tmp_path, lie):
    command, named = LIES[lie]
    liar = tmp_path / "liar"
    liar.write_text(f"#!/bin/sh\n{ENGINE} | sed -u -E '{command}'\n")
    liar.chmod(0o755)
    done = oracle("--engine", str(liar), "--plies", "2000")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(named + " differs")


@needs_engine
def test_a_list_cut_short_is_no_list(tmp_path):
    liar = tmp_path / "liar"
    liar.write_text(f"#!/bin/sh\n{ENGINE} | sed -u '/^e2e4: 1$/d'\n")
    liar.chmod(0o755)
    assert oracle("--engine", str(liar), "--plies", "400").returncode == 2


def test_an_engine_that_ends_is_no_proof():
    done = oracle("--engine", "/bin/true", "--plies", "100")
    assert done.returncode == 2 and "ended" in done.stderr


# ---- tests/data/chess/perft-own.epd ----

@pytest.fixture
def engine():
    engine = perft_own.Engine(ENGINE)
    yield engine
    engine.close()


@needs_engine
def test_the_counts_of_our_set_are_the_engines(engine):
    with open("tests/data/chess/perft-own.epd") as file:
        positions = list(perft_own.positions(file.read()))
    wrong = [(fen, depth) for fen, counts in positions for depth, count in counts.items()
             if count <= 20000 and engine.perft(fen, depth) != count]
    assert len(positions) >= 60 and wrong == []


@needs_engine
def test_a_new_position_gets_its_counts(tmp_path):
    file = tmp_path / "new.epd"
    file.write_text("# nothing to do\n4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1 1\n\n# new\nQR1k4/8/8/8/8/8/8/K7 b - - 0 1\n")
    perft_own.main(str(file))
    lines = file.read_text().splitlines()
    assert lines[:4] == ["# nothing to do", "4k3/8/8/8/8/8/8/4K2R w K - 0 1 ;D1 1", "", "# new"]
    assert lines[4].startswith("QR1k4/8/8/8/8/8/8/K7 b - - 0 1 ;D1 3 ;D2 ")
