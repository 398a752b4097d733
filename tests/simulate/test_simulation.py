"""The simulation and the VFS below it, as `make test` runs them; `make simulate` runs more seeds."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", ROOT / "build"))
SEEDS = int(os.environ.get("SEEDS", "200"))


def lines(*words):
    done = subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout.splitlines()


def test_what_was_synced_survives_a_loss_of_power_and_the_rest_is_really_lost():
    assert lines(BUILD / "tests" / "test_power", 10)[-1] == "6 passed, 0 failed"


@pytest.mark.parametrize("part", range(4))
def test_ten_players_five_days(part):
    share = SEEDS // 4
    assert lines(BUILD / "tests" / "simulate", "--seeds", f"{part * share + 1}-{(part + 1) * share}")[-1] == f"{share} passed, 0 failed"


def test_a_seed_is_always_the_same_story():
    first, second = (lines(BUILD / "tests" / "simulate", "--seeds", "7-7") for _ in range(2))
    assert first == second
