"""The crash sweep over IMAP and SMTP: killed at any call, the next start makes good. Sampled here; 500 points with CRASH_ALL=1."""
import random

import pytest

from sweep import ALL, WRITING, Sweep
from test_sweep import DAEMON, DAEMON_STATES


@pytest.fixture(scope="module")
def sweep():
    sweep = Sweep()
    yield sweep
    sweep.close()


def spread(count):
    """Shares of the way, evenly: what a point is changes with the server's answers, so they are not counted but measured."""
    return [(i + 0.5) / count for i in range(count)]


def test_killed_anywhere_the_daemon_loses_nothing_on_its_lines(sweep):
    sweep.run("served", [("kill", DAEMON, share) for share in spread(400 if ALL else 44)]).demand(DAEMON_STATES)


def test_killed_twice_in_a_row_on_its_lines(sweep):
    dice = random.Random(7)
    pairs = [(dice.random(), dice.random()) for _ in range(100 if ALL else 6)]
    report = sweep.run("served", [("kill_twice", *pair) for pair in pairs])
    report.ends["never"] = 0  # the second life may be shorter than the first
    report.demand()


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
def test_errors_of_writes_on_its_lines_are_made_good(sweep, error):
    shares = sweep.shares("served", DAEMON, 40 if ALL else 6, WRITING)[:40]
    sweep.run("served", [("fail", DAEMON, share, error, False) for share in shares]).demand()
