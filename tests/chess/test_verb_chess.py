"""The verbs perft, moves and replay, as CONTRACT has them; run from the project root."""
import json
import os
import re
import subprocess

import pytest

PROGRAM = os.environ.get("EPISTLE", os.path.join(os.environ.get("B", "build"), "epistle"))
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def run(*arguments, given=""):
    return subprocess.run([PROGRAM, *arguments], input=given, capture_output=True, text=True, timeout=60)


def test_perft():
    done = run("perft", "3")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0] == "a2a3: 380" and len(lines) == 22
    assert lines[-2] == "total: 8902"
    assert re.fullmatch(r"nodes per second: \d+", lines[-1])
    assert run("perft", "1", "4k3/8/8/8/8/8/8/QR1K4 w Q - 0 1", "--chess960").stdout.count("d1b1: 1") == 1


@pytest.mark.parametrize("verb", ["perft", "notate", "moves", "replay"])
def test_help_and_usage(verb):
    assert run(verb, "--help").returncode == 0
    for arguments in ([verb, "--nonsense"], [verb]):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1


def test_moves():
    with open("tests/data/chess/moves-standard.tsv") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    done = run("moves", "-", given="".join(fen + "\n" for fen, _ in lines))
    assert done.returncode == 0
    assert done.stdout.splitlines() == [moves for _, moves in lines]
    assert run("moves", lines[0][0]).stdout == lines[0][1] + "\n"
    done = run("moves", "-", given="# some\n\nbad\n" + START + "\n")
    assert done.returncode == 1 and done.stdout.startswith("\n\n\na2a3=")
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("epistle: -:3: ")
    done = run("moves", "-", given="# some\n\n" + START + "\n")
    assert done.returncode == 0 and done.stderr == ""


def test_replay(tmp_path):
    good, bad = tmp_path / "good.pgn", tmp_path / "bad.pgn"
    good.write_text('[Event "A"]\n\n1. e4 e5 *\n\n1. d4 *\n')
    bad.write_text('[Event "A"]\n\n1. e4 e5 2. Ke3 *\n[Event "B"]\n\n1. d4 *\n')
    done = run("replay", str(good))
    assert done.returncode == 0 and done.stdout == "games 2, moves 3, errors 0\n"
    done = run("replay", str(bad))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "games 2, moves 3, errors 1"
    assert done.stdout.startswith(f"{bad}:3: game 1: Move 2 of White, Ke3")
    sums = json.loads(run("replay", str(bad), "--json").stdout)
    assert (sums["games"], sums["moves"], sums["errors"]) == (2, 3, 1)
    assert sums["faults"][0]["move"] == 2 and sums["faults"][0]["side"] == "white"
    assert run("replay", str(tmp_path / "none.pgn")).returncode == 1
