"""A letter with which the daemon dies each time is set aside at the third, and the others are handled (RULINGS 44); an error stops nobody."""
import pytest

import faults
from scenes import LETTERS, Scene


def kill_handing_over(scene, letter):
    """Kills the daemon where it hands this letter's bytes to the MIME process."""
    return faults.kill(scene.program, 0, 2 * letter + 2, call="write", path="pipe:")  # its size goes first, then its bytes


@pytest.mark.parametrize("poison", [0, 2, 4])
def test_set_aside_at_the_third_unclean_end(tmp_path, poison):
    scene = Scene(tmp_path)
    for life in range(3):
        place = poison if life < 2 else 0  # all are stored in the first life; those before it are settled in the second
        scene.base = tmp_path / f"before-{life}"
        scene.work.rename(scene.base)
        scene.restore()
        assert kill_handing_over(scene, place).status == faults.KILLED
        assert scene.ask("SELECT tries FROM letter_in WHERE id = ?", poison + 1) == life + 1
    scene.club.run("once", "--now", scene.program[-1])
    scene.club.run("verify")
    rows = scene.club.json("letters")
    assert len(rows) == LETTERS
    aside = [row["id"] for row in rows if row["outcome"] == "set aside"]
    assert aside == [poison + 1]
    assert "died three times" in scene.club.json("letter", poison + 1)["why"]
    assert not scene.waiting()
    outcomes = {row["id"]: row["outcome"] for row in rows}
    del outcomes[poison + 1]
    expected = {1: "awaiting proof", 2: "played", 3: "asked", 4: "played", 5: "done"}
    del expected[poison + 1]
    assert outcomes == expected


def test_ends_that_were_clean_do_not_count(tmp_path):
    """No process can be had for reading, five times: the letters wait, and none is set aside for it."""
    scene = Scene(tmp_path)
    for _ in range(5):
        run = faults.fail(scene.program, 1, 1, "EAGAIN", only="clone,clone3,fork,vfork", lasting=True)
        assert run.program == 75 and "waits" in run.err, (run.report, run.err)
        assert scene.ask("SELECT count(*) FROM letter_in WHERE state = 'stored'") == LETTERS
        assert scene.ask("SELECT sum(tries) FROM letter_in") == 0
    assert not scene.recover()
    assert scene.set_aside() == 0


def test_an_error_in_a_batch_has_its_letters_settled_one_by_one(tmp_path):
    """RULINGS 42: all in the same run."""
    scene = Scene(tmp_path)
    calls = [call for call in faults.calls(scene.program)[1] if call.process == 0]
    last = [call.at for call in calls if call.name == "write" and call.path.startswith("pipe:")][-1]
    log = f"{scene.club.store}-wal"
    at = sum(call.name == "pwrite64" and call.path == log and call.at < last for call in calls) + 1
    scene.restore()
    run = faults.fail(scene.program, 0, at, "EIO", only="pwrite64", call="pwrite64", path=log)
    assert run.status == 0, run.err
    assert "failed: 0" in run.report
    assert not scene.waiting()
    assert scene.set_aside() == 0
    scene.club.run("verify")


def test_a_letter_out_with_which_the_daemon_dies_waits_a_day_and_the_others_go(tmp_path):
    """RULINGS 36: unknown three times, then daily."""
    scene = Scene(tmp_path)
    box = f"{scene.club.outgoing}/cid@cid.example/"
    for life in range(3):
        scene.base = tmp_path / f"before-{life}"
        scene.work.rename(scene.base)
        scene.restore()
        run = faults.kill(scene.program, 0, 1, call="openat", path=f"{box}tmp/")
        assert run.status == faults.KILLED and box in run.report, run.report
    letter = scene.ask("SELECT min(id) FROM letter_out WHERE id > ? AND address = 'cid@cid.example'", scene.letters_before)
    scene.club.run("once", "--now", scene.program[-1])
    assert scene.ask("SELECT group_concat(id || state) FROM letter_out WHERE state NOT IN ('accepted', 'overtaken')") == f"{letter}trying"
    assert len(scene.club.inbox.waiting()) == 0
    scene.recover()
    scene.club.run("verify")
    assert scene.ask("SELECT state FROM letter_out WHERE id = ?", letter) == "accepted"
