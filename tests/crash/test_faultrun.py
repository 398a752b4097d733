"""faultrun itself, tried on a stand-in of the daemon's shape (victim.c)."""
import time

import pytest

import faults

VICTIM = faults.BUILD / "tests" / "victim"


@pytest.fixture
def victim(tmp_path):
    configuration = tmp_path / "conf"
    configuration.write_text("x")
    out = tmp_path / "out"
    return [VICTIM, configuration, out, "3"], configuration, out


def test_counting_sees_every_process_in_order_of_birth(victim):
    program, configuration, out = victim
    run, processes = faults.count(program, own_from=configuration)
    assert run.status == 0
    assert [process.number for process in processes] == [0, 1, 2, 3, 4]  # daemon, zygote, three children
    assert out.read_text() == "letter\n" * 3  # the locked children worked under it
    daemon, zygote, child = processes[0], processes[1], processes[2]
    assert 20 < daemon.own < daemon.count
    assert 1 < zygote.own < zygote.count
    assert child.own == 1


def test_counts_do_not_change_from_run_to_run(victim):
    program, configuration, _ = victim
    first, second = faults.count(program)[1], faults.count(program)[1]
    assert [(p.count, p.own) for p in first] == [(p.count, p.own) for p in second]


def test_own_calls_begin_with_the_configuration(victim):
    program, configuration, _ = victim
    _, calls, processes = faults.calls(program, own_from=configuration)
    first = next(call for call in calls if call.process == 0 and call.at == processes[0].own)
    assert (first.name, first.path) == ("openat", str(configuration))
    assert [call.path for call in calls if call.name == "fsync"] == [str(program[2])] * 3


def test_each_kill_stops_before_its_call(victim):
    program, _, out = victim
    _, calls, processes = faults.calls(program)
    out.unlink()
    for call in calls:
        if call.process != 0 or call.at < processes[0].own:
            continue
        before = [c for c in calls if c.process == 0 and c.at < call.at and c.name == "write" and c.path == str(out)]
        run = faults.kill(program, 0, call.at)
        assert run.status == faults.KILLED
        assert f"killed: 0 {call.at} {call.name}" in run.report
        assert len(out.read_text() if out.exists() else "") == 7 * len(before)
        out.unlink(missing_ok=True)


def test_killing_a_child_leaves_the_program_its_own_end(victim):
    program, _, out = victim
    run = faults.kill(program, 3, 2)  # the second letter's child
    assert run.status == 0
    assert "killed: 3 2" in run.report
    assert out.read_text() == "letter\ndead..\nletter\n"


def test_never_reached(victim):
    program, _, _ = victim
    assert faults.kill(program, 0, 100000).status == faults.NEVER
    assert faults.kill(program, 9, 1).status == faults.NEVER


@pytest.mark.parametrize("error", ["ENOSPC", "EIO", "EINTR"])
def test_an_error_takes_the_place_of_the_call(victim, error):
    program, _, out = victim
    _, calls, _ = faults.calls(program)
    out.unlink()
    second = [call for call in calls if call.process == 0 and call.name == "write" and call.path == str(out)][1]
    run = faults.fail(program, 0, second.at, error)
    assert run.status == run.program == 75
    assert f"failed: 0 {second.at} write {out}" in run.report
    assert out.read_text() == "letter\n"


def test_errors_keep_to_their_calls(victim):
    program, _, out = victim
    _, calls, _ = faults.calls(program)
    read = next(call for call in calls if call.process == 0 and call.name == "read" and call.at > 30)
    run = faults.fail(program, 0, read.at, "EIO")
    assert (run.status, run.program) == (faults.OTHER, 0)
    out.unlink()
    run = faults.fail(program, 0, read.at, "EIO", only="fsync", lasting=True)
    assert (run.status, run.program) == (75, 75)  # the first fsync after it failed


def test_orphans_are_found_and_ended():
    started = time.monotonic()
    run = faults.count([VICTIM, "--orphan", "30"])[0]
    assert run.status == faults.ORPHAN
    assert "orphan: process=1" in run.report
    assert 1.9 < time.monotonic() - started < 5
    assert faults.count([VICTIM, "--orphan", "0"])[0].status == 0
