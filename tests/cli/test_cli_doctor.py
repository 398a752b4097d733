"""doctor: one line for each thing, ok, warn or fail, each with what to do."""
import json
import os
import re
import shutil
import sqlite3
import subprocess

import pytest

from club import Club, PROGRAM, ROOT

SUBJECTS = {"configuration", "store", "key file", "templates", "mailbox", "outgoing", "outages", "permissions", "disk", "clock", "SQLite", "libcurl",
            "libetpan", "address", "trust", "arrival", "arbiter", "operator", "unit", "reader"}


def doctor(club, *words, status=0):
    done = subprocess.run([PROGRAM, "-c", str(club.configuration), "doctor", "--json", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == status and done.stderr == "", done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert [told[grade] for grade in ("ok", "warn", "fail")] == [sum(line["grade"] == grade for line in told["lines"]) for grade in ("ok", "warn", "fail")]
    assert status == (1 if told["fail"] else 0)
    return told["lines"]


def of(lines, subject):
    return [(line["grade"], line["text"]) for line in lines if line["subject"] == subject]


def only(lines, subject):
    (found,) = of(lines, subject)
    return found


def failing(lines):
    return [line["subject"] for line in lines if line["grade"] == "fail"]


def test_every_subject_has_its_line(club):
    lines = doctor(club)
    assert {line["subject"] for line in lines} == SUBJECTS
    assert failing(lines) == []
    plain = [re.match(r"(ok|warn|fail) +([^:]+): (.*)$", line).groups() for line in club.run("doctor").splitlines()]
    assert [line[:2] for line in plain] == [(line["grade"], line["subject"]) for line in lines]
    assert [line[2] for line in plain if line[1] not in ("clock", "disk")] == [line["text"] for line in lines if line["subject"] not in ("clock", "disk")]


def test_errors_of_the_configuration_and_the_store_are_failures(club):
    club.configuration.write_text(club.configuration.read_text().replace("[mailbox]", "colour = red\n[mailbox]"))
    club.store.with_suffix(".key").chmod(0o644)
    lines = doctor(club, status=1)
    assert failing(lines) == ["configuration", "key file"]
    assert "there is no colour in [service]" in only(lines, "configuration")[1]
    assert "chmod 600" in only(lines, "key file")[1]


def test_a_configuration_that_is_not_there(club):
    club.configuration.unlink()
    lines = doctor(club, status=1)
    assert failing(lines) == ["configuration"] and "check --init" in only(lines, "configuration")[1]


def test_a_copy_of_the_store_that_everybody_may_read(club):
    copy = club.folder / "yesterday.backup"
    shutil.copy(club.store, copy)
    copy.chmod(0o644)
    (club.folder / "notes.txt").write_text("SQLite is nice")
    (club.folder / "notes.txt").chmod(0o644)
    grade, text = only(doctor(club, status=1), "permissions")
    assert grade == "fail" and str(copy) in text and "chmod 600" in text
    copy.chmod(0o600)
    assert only(doctor(club), "permissions")[0] == "ok"
    club.store.chmod(0o644)
    assert only(doctor(club, status=1), "permissions")[0] == "fail"


def test_the_stores_folder(club):
    club.folder.chmod(0o777)
    grade, text = only(doctor(club, status=1), "permissions")
    assert grade == "fail" and "everybody may write" in text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_run_as_another_than_the_services_user(club):
    os.chown(club.store, 65534, 65534)
    grade, text = only(doctor(club), "permissions")
    assert grade == "warn" and "runuser -u" in text


def test_room_on_the_disk(club):
    club.limits["free_space_mb"] = 1000000
    disk = os.statvfs(club.folder)
    room = disk.f_bavail * disk.f_frsize // 2**20
    if room > 1000000:
        pytest.skip("no floor can be set that high")
    club.write_configuration()
    grade, text = only(doctor(club, status=1), "disk")
    assert grade == "fail" and "free_space_mb = 1000000" in text
    club.limits["free_space_mb"] = max(room * 2 // 3, 1)
    club.write_configuration()
    assert only(doctor(club), "disk")[0] == "warn"
    club.limits["free_space_mb"] = 0
    club.write_configuration()
    assert only(doctor(club), "disk")[0] == "ok"


def test_a_clock_behind_the_store(running):
    """The club lives in 2031, the machine does not yet."""
    running.answer(running.ann, running.letters["Ann Muster"], "1. e4\n")
    running.once()
    grade, text = only(doctor(running, status=1), "clock")
    assert grade == "fail" and re.search(r"holds something of 20\d\d-", text)


def test_what_is_known_of_sqlite(club):
    grade, text = only(doctor(club), "SQLite")
    version = tuple(map(int, sqlite3.sqlite_version.split(".")))  # Python uses the same library here
    mended = version >= (3, 51, 3) or (3, 50, 7) <= version < (3, 51) or (3, 44, 6) <= version < (3, 45)
    assert sqlite3.sqlite_version in text
    assert grade == ("ok" if mended else "warn")


def test_addresses_and_people(tmp_path):
    club = Club(tmp_path / "a", operator="op@club.example")
    lines = doctor(club)
    assert only(lines, "address")[0] == "warn"  # it is the example's
    assert only(lines, "trust") == ("ok", "Authentication-Results of mx.club.example count")
    assert only(lines, "operator") == ("ok", "op@club.example is told of outages")
    text = club.configuration.read_text().replace("chess@club.example", "chess@schachverein.test")
    club.configuration.write_text(text)
    grade, told = only(doctor(club), "address")
    assert grade == "warn" and "chess+test@schachverein.test" in told and "reply_tag = none" in told
    club.configuration.write_text(text.replace("[service]", "[service]\nreply_tag = none"))
    assert only(doctor(club), "address")[0] == "ok"
    lonely = re.sub(r"(arbiter|operator|trusted_authserv) = .*\n", "", text)
    club.configuration.write_text(lonely)
    lines = doctor(club)
    assert [only(lines, subject)[0] for subject in ("trust", "arrival", "arbiter", "operator")] == ["warn"] * 4
    club.configuration.write_text(text.replace("operator = op@club.example", "operator = chess@schachverein.test"))
    assert failing(doctor(club, status=1)) == ["operator"]


def test_answers_that_came_prove_the_address(running):
    running.configuration.write_text(running.configuration.read_text().replace("chess@club.example", "chess@club.test"))
    assert only(doctor(running), "address")[0] == "warn"
    running.configuration.write_text(running.configuration.read_text().replace("chess@club.test", "chess@club.example"))
    running.answer(running.ann, running.letters["Ann Muster"], "1. e4\n")
    running.once()
    running.configuration.write_text(running.configuration.read_text().replace("chess@club.example", "chess@club.test"))
    assert only(doctor(running, status=1), "address") == ("ok", "answers to chess+TOKEN@club.test arrive")  # the failure is the clock's


def test_outages_that_last(club):
    with sqlite3.connect(club.store) as store:
        store.execute("INSERT INTO outage(subject, began, ended, next_try, tries, told, why) VALUES ('mailbox', 1900000000, NULL, 1900000600, 7, 1, ?)",
                      ("imap.club.example does not answer",))
        store.execute("INSERT INTO outage(subject, began, ended, next_try, tries, told, why) VALUES ('relay', 1900000000, 1900000900, 0, 2, 0, 'gone')")
    store.close()
    grade, text = only(doctor(club, status=1), "outages")
    assert grade == "fail"
    assert text == "mailbox, since 2030-03-17T17:46:40Z, tried 7 times: imap.club.example does not answer"


def test_the_password_is_not_shown(tmp_path, dovecot, mailbox_user):
    wrong = tmp_path / "wrong"
    wrong.touch(0o600)
    wrong.write_text("battery staple\n")
    club = Club(tmp_path / "club", mailbox=dovecot.mailbox(user=mailbox_user, password_file=wrong))
    lines = doctor(club, status=1)
    assert failing(lines) == ["mailbox"] and "battery" not in json.dumps(lines)
    assert "mailbox" not in failing(doctor(club, "--offline"))
    club = Club(tmp_path / "good", mailbox=dovecot.mailbox(user=mailbox_user))
    assert only(doctor(club), "mailbox") == ("ok", f"logged in at imaps://localhost:{dovecot.ports['imaps']}")


def test_a_machine_that_grants_no_reader(club):
    """No pipe can be made to it; what else can be looked at is looked at."""
    done = subprocess.run(["prlimit", "--nofile=4", PROGRAM, "-c", str(club.configuration), "doctor"], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and any(line.startswith("fail reader: letters cannot be read") for line in lines)
    assert any(line.startswith("ok   configuration") for line in lines)
