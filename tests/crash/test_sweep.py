"""Killed, or told that the disk is full, at any call: the next start makes good (RULINGS 52). Sampled; CRASH_ALL=1 takes every point."""
import pytest

from sweep import Sweep

DAEMON_STATES = ["I0", "I1", "I2c", "I2", "I3", "O1", "O2", "O3"]


@pytest.fixture
def sweep(tmp_path):
    return Sweep(tmp_path)


def test_killed_anywhere_the_daemon_loses_nothing(sweep):
    sweep.kill(0, most=250)
    sweep.report(DAEMON_STATES)


def test_killed_anywhere_a_mime_child_harms_nobody(sweep):
    assert len(sweep.children()) >= 5
    sweep.kill(sweep.children()[1], most=50)
    assert set(sweep.histogram) & {"I1", "I2", "I3"}
    sweep.report([])


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EINTR"])
def test_errors_of_writes_and_syncs_are_made_good(sweep, error):
    sweep.fail(0, error, most=40)
    sweep.report([])


def test_a_disk_that_stays_full(sweep):
    sweep.fail(0, "ENOSPC", most=15, lasting=True)
    sweep.report([])
