"""Moves written in every notation and language and read back: tests/chess/notations.c says what is demanded.

The whole of it, every legal move of every position in every language, takes about an hour: NOTATIONS_ALL=1 in the environment.
"""
import os
import re
import subprocess

PROGRAM = os.path.join(os.environ.get("B", "build"), "tests", "notations")
ALL = os.environ.get("NOTATIONS_ALL") == "1"


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=4 * 3600)


def test_a_hundred_thousand_positions():
    done = run("--positions", "100000", *(["--all"] if ALL else []))
    assert done.returncode == 0, done.stdout + done.stderr
    positions, moves, texts, doubtful, phone = (int(figure) for figure in re.findall(r"\d+", done.stdout))
    assert positions == 100000 and moves >= positions and texts >= 7 * moves
    # both ways of being in doubt came up, and both are rare
    assert 0 < doubtful < texts / 50 and 0 < phone < moves / 100


def test_few_positions_with_all_their_moves():
    done = run("--positions", "60", "--seed", "4", "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("positions 60, moves ")


def test_usage():
    done = run("--nonsense")
    assert done.returncode == 2 and done.stderr.startswith("usage: ")
