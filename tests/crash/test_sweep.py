"""Killed, or told that the disk is full, at any call: the next start makes good (RULINGS 52). Sampled; CRASH_ALL=1 takes every point."""
import random

import pytest

from sweep import ALL, WRITING, Sweep

DAEMON_STATES = ["I0", "I1", "I2c", "I2", "I3", "O1", "O2", "O3"]
DAEMON, ZYGOTE, CHILDREN = 0, 1, (2, 3, 4, 5, 6)


@pytest.fixture(scope="module")
def sweep():
    sweep = Sweep()
    yield sweep
    sweep.close()


def kills(sweep, scene, process, most):
    return sweep.run(scene, [("kill", process, share) for share in sweep.shares(scene, process, most)])


def test_killed_anywhere_the_daemon_loses_nothing(sweep):
    kills(sweep, "letters", DAEMON, 180).demand(DAEMON_STATES)


def test_killed_anywhere_a_mime_child_harms_nobody(sweep):
    for child in CHILDREN if ALL else CHILDREN[1:2]:
        kills(sweep, "letters", child, 22).demand(["I1"])


def test_killed_anywhere_the_zygote_harms_nobody(sweep):
    kills(sweep, "letters", ZYGOTE, 12).demand()


def test_killed_twice_in_a_row(sweep):
    dice = random.Random(44)
    pairs = [(dice.random(), dice.random()) for _ in range(400 if ALL else 16)]
    report = sweep.run("letters", [("kill_twice", *pair) for pair in pairs])
    report.ends["never"] = 0  # the second life may be shorter than the first
    report.demand()


def test_killed_anywhere_while_a_store_is_founded(sweep):
    kills(sweep, "founding", DAEMON, 30).demand(["nothing", "store and key.new", "store and key"])


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EINTR"])
def test_errors_of_writes_and_syncs_are_made_good(sweep, error):
    for scene, most in (("letters", 16), ("founding", 5)):
        shares = sweep.shares(scene, DAEMON, most, WRITING)
        sweep.run(scene, [("fail", DAEMON, share, error, False) for share in shares]).demand()


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_a_disk_that_stays_full_or_broken(sweep, error):
    shares = sweep.shares("letters", DAEMON, 10, WRITING - {"write"})
    sweep.run("letters", [("fail", DAEMON, share, error, True) for share in shares]).demand()
