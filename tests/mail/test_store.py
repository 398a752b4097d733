"""The store, its key, its lock: what is refused, and with which exit code (RULINGS 1, 48; the schema's number)."""
import os
import sqlite3
import subprocess

import pytest

from club import stamp


@pytest.fixture
def running(club):
    club.ann, club.bob = club.player("Ann East"), club.player("Bob West")
    club.new_game(club.ann, club.bob)
    return club


def failing(club, *arguments, expect=1):
    done = subprocess.run([club.program, "-c", str(club.configuration), *arguments], capture_output=True, text=True, timeout=30)
    assert done.returncode == expect, done
    assert len(done.stderr.strip().splitlines()) == 1 or arguments[0] in ("check", "verify"), done.stderr  # one line: what, why, what to do
    return done.stderr


def slowed(club):
    """`once` whose first syncs take their time. The leak checker cannot work in a traced process."""
    return ["env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:delay_enter=400000:when=1..8",
            *club.once_command()]


def test_of_two_at_the_same_time_the_second_says_later(running):
    """A first `once` is stopped at work; a second one exits 75 and touches nothing; the first ends well."""
    club = running
    for _ in range(5):
        club.deliver(club.ann.answer(club.ann.newest(), "Ke3", club.advance(minutes=1)))
    first = subprocess.Popen(slowed(club), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while first.poll() is None and club.json("letters") == []:  # until it has stored the batch
        pass
    for _ in range(20):
        second = subprocess.run(club.once_command(), capture_output=True, text=True, timeout=60)
        if second.returncode == 75 or first.poll() is not None:
            break
    assert second.returncode == 75 and len(second.stderr.strip().splitlines()) == 1, second
    out, err = first.communicate(timeout=120)
    assert first.returncode == 0, err
    club.once()
    assert len(club.json("letters")) == 5
    club.run("verify")


def test_verbs_that_read_do_not_need_the_lock(running):
    club = running
    club.deliver(club.ann.answer(club.ann.newest(), "Ke3", club.advance(minutes=1)))
    first = subprocess.Popen(slowed(club), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(3):
        club.run("status")
        club.run("game", "list")
    club.run("player", "add", "Carl North", "carl@north.example")  # waits for its turn
    assert first.wait(timeout=60) == 0


def test_a_store_without_its_key_is_an_error(running):
    club = running
    key = club.folder / "epistle.key"
    kept = key.read_bytes()
    assert key.stat().st_mode & 0o777 == 0o600
    key.unlink()
    for arguments in (("once", "--now", stamp(club.now)), ("check",), ("check", "--init"), ("player", "list")):
        assert "key" in failing(club, *arguments)
        assert not key.exists()
    key.write_bytes(b"\0" * len(kept))
    os.chmod(key, 0o600)
    assert "key" in failing(club, "once", "--now", stamp(club.now))
    key.write_bytes(kept)
    club.once()
    club.run("verify")


def test_a_key_without_its_store_is_an_error(running):
    club = running
    for file in club.folder.glob("epistle.db*"):
        file.unlink()
    before = (club.folder / "epistle.key").read_bytes()
    assert "store" in failing(club, "check", "--init")
    failing(club, "once", "--now", stamp(club.now))
    assert (club.folder / "epistle.key").read_bytes() == before and not club.store.exists()


def test_a_newer_schema_is_refused(running):
    club = running
    with sqlite3.connect(club.store) as store:
        version, = store.execute("PRAGMA user_version").fetchone()
        store.execute(f"PRAGMA user_version = {version + 1}")
    store.close()
    for arguments in (("once", "--now", stamp(club.now)), ("status",), ("verify",), ("check",)):
        assert "newer" in failing(club, *arguments)
    with sqlite3.connect(club.store) as store:
        store.execute(f"PRAGMA user_version = {version}")
    store.close()
    club.once()


def test_no_store_is_made_by_once(club):
    for file in club.folder.glob("epistle.*"):
        if file != club.configuration:
            file.unlink()
    failing(club, "once", "--now", stamp(club.now))
    assert not club.store.exists()


def test_verify_finds_damage(running):
    club = running
    club.settle(club.ann, club.ann.newest(), "e4")
    club.run("verify")
    with sqlite3.connect(club.store) as store:
        tables = [name for name, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = next(name for name in tables if name in ("entry", "entries", "record"))
        column = next(row[1] for row in store.execute(f"PRAGMA table_info({table})") if row[1] in ("text", "line", "fields", "body"))
        changed = store.execute(f"UPDATE {table} SET {column} = replace({column}, 'e2e4', 'd2d4')").rowcount
        assert changed
    store.close()
    assert failing(club, "verify")


def test_the_folder_holds_no_secret_for_others(running):
    club = running
    for file in club.folder.glob("epistle.db*"):
        assert file.stat().st_mode & 0o007 == 0, file
    raw = club.ann.answer(club.ann.newest(), "e4\n\nan unmistakable remark", club.advance(minutes=1))
    club.deliver(raw)
    club.once()
    stored = b"".join(file.read_bytes() for file in club.folder.glob("epistle.db*"))
    assert b"User-Agent: Mozilla Thunderbird" not in stored  # raw letters are encrypted


def test_times_that_go_back_do_no_harm(running):
    club = running
    assert club.settle(club.ann, club.ann.newest(), "e4").outcome == "played"
    club.advance(days=-2)
    assert club.settle(club.bob, club.bob.newest(), "e5").outcome == "played"
    club.advance(days=3)
    club.once()
    assert "1... e5" in club.ann.newest().text
    club.run("verify")
