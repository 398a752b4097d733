"""The simulation and the VFS below it, as `make test` runs them; `make simulate` runs more seeds."""
import concurrent.futures
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", ROOT / "build"))
SEEDS = int(os.environ.get("SEEDS", "200"))
JOBS = int(os.environ.get("JOBS", "2"))
# In memory where that can be: what is synced and what is not is decided by vfs_power, not by the disk.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

# Seeds that once showed a fault of the service, with what it was. A change of the simulation makes another story of a seed: then the
# fault's own test must stand for it, and the seed goes.
KNOWN = {
    24: "a copy of a letter was answered again when UIDVALIDITY had changed and it was read under another name",
}


def lines(*words, seconds=1500):
    environment = {**os.environ, **({"TMPDIR": MEMORY} if MEMORY else {})}
    done = subprocess.run(list(map(str, words)), cwd=ROOT, capture_output=True, text=True, timeout=seconds, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout.splitlines()


def seeds(first, last):
    return lines(BUILD / "tests" / "simulate", "--seeds", f"{first}-{last}")


def test_what_was_synced_survives_a_loss_of_power_and_the_rest_is_really_lost():
    assert lines(BUILD / "tests" / "test_power", 10)[-1] == "6 passed, 0 failed"


@pytest.mark.parametrize("seed", KNOWN)
def test_seeds_that_once_failed(seed):
    assert seeds(seed, seed)[-1] == "1 passed, 0 failed"


def test_ten_players_five_days():
    """A seed that fails is named in the message; `build/tests/simulate SEED` tells its story."""
    shares = [(first, min(first + 9, SEEDS)) for first in range(1, SEEDS + 1, 10)]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        ends = [found[-1] for found in pool.map(lambda share: seeds(*share), shares)]
    assert ends == [f"{last - first + 1} passed, 0 failed" for first, last in shares]


def test_a_seed_is_always_the_same_story():
    first, second = (seeds(7, 7) for _ in range(2))
    assert first == second
