"""Help, usage, exit statuses, and what stands on stderr."""
import os
import pathlib
import re
import subprocess

import pytest

from club import PROGRAM

VERBS = ["serve", "once", "check", "doctor", "demo", "player", "game", "letters", "letter", "outbox", "status", "verify", "read", "perft", "notate", "moves", "replay", "mating"]
PARTS = [["player", part] for part in ("add", "list", "show", "block")] + [["game", part] for part in ("new", "show", "list", "move")]


def epistle(*words, **more):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60, **more)


def one_line(text):
    return text.count("\n") == 1 and text.startswith("epistle: ")


def test_the_list_names_every_verb():
    done = epistle("--help")
    assert done.returncode == 0 and done.stderr == ""
    assert re.findall(r"^  (\w+) ", done.stdout, re.M) == VERBS
    assert epistle().returncode == 2 and epistle().stderr == done.stdout


@pytest.mark.parametrize("words", [[verb] for verb in VERBS] + PARTS, ids=" ".join)
def test_help_everywhere_and_without_a_configuration(words):
    done = epistle("-c", "/nonexistent", *words, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("usage: epistle " + words[0])


@pytest.mark.parametrize("words", [["sing"], ["once", "--later"], ["once", "today"], ["once", "--now"], ["game"], ["game", "eat"], ["game", "show"],
                                   ["player", "add", "Ann"], ["outbox", "hold"], ["letters", "--failed=yes"], ["-c"], ["once", "-c"]], ids=" ".join)
def test_usage_is_2_and_one_line(words):
    done = epistle(*words)
    assert done.returncode == 2 and done.stdout == "" and one_line(done.stderr)


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01T00:00:00Z", "2026-11-30T18:00", "now"])
def test_times_are_rfc_3339(time):
    assert epistle("once", "--now", time).returncode == 2


def test_without_a_configuration_or_store(club, tmp_path):
    done = epistle("-c", tmp_path / "none.conf", "status")
    assert done.returncode == 1 and one_line(done.stderr) and "none.conf" in done.stderr
    other = tmp_path / "other.conf"
    other.write_text(club.configuration.read_text().replace(str(club.store), str(tmp_path / "other.db")))
    done = epistle("-c", other, "status")
    assert done.returncode == 1 and one_line(done.stderr) and "check --init" in done.stderr
    assert not (tmp_path / "other.db").exists()


def test_the_configuration_may_stand_anywhere(running):
    for words in (["-c", running.configuration, "game", "list"], ["game", "-c", running.configuration, "list"], ["game", "list", "-c", running.configuration]):
        assert epistle(*words).stdout.startswith("1  Ann Muster – Bob Klein")


def test_a_reader_that_goes_away_is_no_error_to_speak_of(running):
    done = subprocess.run(["bash", "-c", '"$0" -c "$1" game show 1 | true', PROGRAM, str(running.configuration)], capture_output=True, text=True)
    assert done.stderr == ""


def test_a_full_disk_under_standard_output_is_told(running):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([PROGRAM, "-c", str(running.configuration), "game", "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and one_line(done.stderr)


def test_a_second_service_waits(running):
    """The state lock is held by another process: 75, and the mailbox stays as it is."""
    lock = f"{running.store}.lock"
    holder = subprocess.Popen(["flock", "-n", lock, "bash", "-c", "echo locked; read"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "locked\n"
    running.answer(running.ann, running.letters["Ann Muster"], "e4")
    done = epistle("-c", running.configuration, "once")
    assert done.returncode == 75 and one_line(done.stderr)
    running.run("status")
    running.run("game", "move", "1", "d4")  # other verbs need no state lock
    holder.communicate("\n")
    running.once()
    assert running.run("game", "show", "1", "--fen").startswith("rnbqkbnr/pppppppp/8/8/3P4/")


@pytest.mark.parametrize("verb", ["player", "game"])
def test_the_parts_of_a_verb_have_a_line_each(verb):
    out = epistle(verb, "--help").stdout
    assert re.findall(r"^  (\w+)", out, re.M) == [part for name, part in PARTS if name == verb]
    done = epistle(verb, "sing")
    assert done.returncode == 2 and all(part in done.stderr for name, part in PARTS if name == verb)


def test_a_missing_configuration_says_what_to_do(tmp_path):
    for verb in ("status", "check", "once"):
        done = epistle("-c", tmp_path / "none.conf", verb)
        assert done.returncode == 1 and one_line(done.stderr) and "epistle.conf(5)" in done.stderr and "-c FILE" in done.stderr


def test_a_mailbox_that_is_not_mounted_is_not_made(running):
    """The queue is sent all the same, and the letters are read when the mailbox is back."""
    running.answer(running.ann, running.letters["Ann Muster"], "e4")
    where = running.inbox.path
    where.rename(f"{where}.away")
    where.mkdir()  # the mount point
    running.run("game", "new", "2", "1")
    done = epistle("-c", running.configuration, "once")
    assert done.returncode == 75 and one_line(done.stderr) and str(where) in done.stderr and "check --init" in done.stderr
    assert list(where.iterdir()) == []
    assert running.run("outbox") == "" and len(running.bob.read_new()) == 1
    where.rmdir()
    pathlib.Path(f"{where}.away").rename(where)
    running.once()
    assert len(running.bob.read_new()) == 1


def test_an_outgoing_maildir_that_is_not_mounted_keeps_letters_waiting(running):
    running.answer(running.ann, running.letters["Ann Muster"], "e4")
    away = running.outgoing.rename(f"{running.outgoing}.away")
    done = subprocess.run(running.once_command(), capture_output=True, text=True)
    assert done.returncode == 75 and one_line(done.stderr) and str(running.outgoing) in done.stderr
    assert not running.outgoing.exists()
    assert running.run("game", "show", "1", "--fen").startswith("rnbqkbnr/pppppppp/8/8/4P3/")  # the letter was read
    assert running.run("outbox").count("queued") == 2
    away.rename(running.outgoing)
    running.advance(hours=1)
    running.once()
    assert running.run("outbox") == "" and len(running.bob.read_new()) == 1


def test_an_address_with_odd_characters_gets_its_letters(running):
    player = running.player("Pat O'Brien", "o'brien+x=y@brien.example")
    running.run("game", "new", "Pat O'Brien", "1")
    running.once()
    assert len(player.read_new()) == 1 and running.run("outbox") == ""


def test_a_language_without_templates_is_refused(running):
    text = running.configuration.read_text()
    running.configuration.write_text(text.replace("language = en", "language = xx"))
    for words in (["once"], ["check"], ["game", "new", "1", "2"]):
        done = epistle("-c", running.configuration, *words)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and '"xx"' in done.stderr


def test_a_mailbox_that_cannot_be_read_is_75(running):
    where = running.inbox.path
    os.rename(where, f"{where}.away")
    where.write_text("not a folder")
    done = epistle("-c", running.configuration, "once")
    assert done.returncode == 75 and one_line(done.stderr)


def test_replay_says_why_in_words():
    done = epistle("replay", "-", input="1. e4 e5 2. zork *\n\n1. Ke3 *\n")
    assert done.returncode == 1 and "zork, is not written like a move." in done.stdout and "the king on e1 cannot go to e3" in done.stdout


def test_demo_plays_and_shows_every_letter(tmp_path):
    done = epistle("demo", tmp_path / "demo", env={"PATH": os.environ["PATH"], **{k: v for k, v in os.environ.items() if "ASAN" in k or "SAN_" in k}})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    letters = re.findall(r"^════ Letter (\d+), as (.*) sees it ════$", done.stdout, re.M)
    assert [int(number) for number, _ in letters] == list(range(1, 33))
    for words in ("Two knights can go to e7", "Nce7", "Nge7", "your king is in check", "Nf3#", "checkmated", "0-1"):
        assert words in done.stdout
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout)
    assert len(list((tmp_path / "demo" / "mailbox" / "cur").iterdir())) == 16
    assert sum(1 for _ in (tmp_path / "demo" / "players").glob("*/cur/*")) == 32
    show = epistle("-c", tmp_path / "demo" / "epistle.conf", "verify")
    assert show.returncode == 0 and show.stdout.endswith("faults 0\n")
    assert epistle("demo", tmp_path / "demo").returncode == 1  # it is there already
