"""IMAP servers that break or stall, by our own fake_imap: the program ends in time, says what was wrong, loses no letter, plays none twice,
and does the rest once the server is in order again. What goes on after a broken line goes on in a new process each time: nothing is remembered."""
import os
import resource

import pytest

from fake_imap import Closed
from imap_club import LATER, MEND, PATIENCE, TIMEOUT, club, server  # noqa: F401

ROOM = 200_000  # kB that the program may use, whatever a server announces


# --- faults that end the line ---


def hang_up(session, _):
    raise Closed


def bye(session, _):
    session.send("* BYE the cellar is flooded\r\n")
    raise Closed


def silence(session, _):
    session.server.ended.wait(PATIENCE)


def drip(session, _):
    session.drip("* OK [ALERT] patience, patience ", pause=0.1)


def endless_line(session, _):
    session.send("* OK ")
    while True:
        session.send(b"y" * 100_000)


def endless_answers(session, _):
    while True:
        session.send(b"* OK still at it\r\n" * 1000)


def not_imap(session, _):
    session.send("HTTP/1.1 200 OK\r\n\r\n<html>\r\n")
    raise Closed


def giant_literal(session, _):
    session.send("* 1 FETCH (UID 1 BODY[] {4294967290}\r\nabc")
    raise Closed


def giant_literal_sent(session, _):
    session.send("* 1 FETCH (UID 1 BODY[] {300000000}\r\n")
    for _ in range(3000):
        session.send(b"x" * 100_000)


def cut_literal(session, _):
    session.send("* 1 FETCH (UID 1 BODY[] {5000}\r\nFrom: some")
    raise Closed


def wrong_tag(session, _):
    session.send("* OK so\r\nelsewhere OK done\r\n")
    raise Closed


READING = {
    "UID FETCH": [hang_up, bye, endless_line, endless_answers, not_imap, wrong_tag, giant_literal, giant_literal_sent, cut_literal],
    "UID SEARCH": [hang_up, endless_answers],
    "EXAMINE": [bye, endless_line],
    "NOOP": [hang_up, bye, not_imap],
    "GREETING": [hang_up, bye],
    "CAPABILITY": [bye],
    "AUTHENTICATE": [hang_up],
}
FILING = {"UID STORE": [hang_up, bye, endless_line, endless_answers, not_imap, wrong_tag], "SELECT": [hang_up, bye]}


@pytest.mark.parametrize("command", READING)
def test_a_broken_line_loses_nothing(club, server, command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of whatever ran before in this process
    uid = club.move()
    for fault in READING[command]:
        server.on[command] = fault
        words = club.suffer()
        if fault is bye and command not in ("CAPABILITY", "GREETING"):
            assert "the cellar is flooded" in words
        assert not server.inbox.letters[uid].flags and not club.json("letters"), fault.__name__
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert after < ROOM or after == before or "EPISTLE_ASAN" in os.environ
    club.heal()


@pytest.mark.parametrize("command", FILING)
def test_a_line_that_breaks_while_filing_plays_nothing_twice(club, server, command):
    club.move()
    for fault in FILING[command]:
        server.on[command] = fault
        club.suffer()
        assert len(club.played()) == 1 and not club.json("letters")[0]["filed"], fault.__name__
    club.heal()


def test_a_server_that_stalls_is_given_up(club, server):
    """However it does so: the operation has its time, and no more."""
    club.move()
    club.with_mailbox(timeout=TIMEOUT)
    for command, fault in (("EXAMINE", silence), ("UID SEARCH", drip), ("UID FETCH", drip), ("SELECT", drip), ("UID STORE", silence)):
        server.on[command] = fault
        assert f"after {TIMEOUT} s" in club.suffer()
        assert len(club.played()) == (command in ("SELECT", "UID STORE"))
        del server.on[command]
    club.with_mailbox(timeout=None)
    club.heal()


@pytest.mark.parametrize("word", ["NO", "BAD"])
def test_a_refusal_is_told_in_the_servers_words(club, server, word):
    club.move()
    for command in ("NOOP", "CAPABILITY", "EXAMINE", "UID FETCH", "SELECT", "UID STORE"):
        server.on[command] = lambda session, _: session.send(f"{session.tag} {word} the moon is full\r\n")
        if command == "UID FETCH" and word == "NO":  # that is the letter's own trouble
            assert "the moon is full" in club.once_with_words()
        else:
            assert "the moon is full" in club.suffer(MEND if command == "CAPABILITY" else LATER)  # curl asks for that before the log-in
        del server.on[command]
    club.heal()


def test_nobody_logs_in_with_a_wrong_password(club, server, tmp_path):
    club.move()
    (tmp_path / "password").write_text("Secret\n")
    assert "refused the log-in" in club.suffer(MEND)
    (tmp_path / "password").write_text("secret\n")
    club.heal()


# --- letters with which the line breaks ---


def breaking_with(bad, *marks):
    """UID FETCH of one of these letters breaks the line, if what is asked for holds one of the marks; without marks always."""
    def fetch(session, words):
        numbers, _, items = words.partition(" ")
        if set(bad) & set(session.uids(numbers)) and (not marks or any(mark in items for mark in marks)):
            raise Closed
        session.usual()
    return fetch


HEADS, BODIES = ("[HEADER]",), ("BODY.PEEK[]",)


@pytest.mark.parametrize("marks", [HEADS, BODIES, ()], ids=["head", "body", "any"])
def test_letters_that_break_the_line_keep_no_other_from_being_read(club, server, marks):
    """One in the middle, two side by side at the beginning, one at the end. The others are read by the first run, for the next would do as the first."""
    read = []
    for bad in ([1], [0, 1], [3]):
        letters = [club.ask() for _ in range(4)]
        server.on["UID FETCH"] = breaking_with([letters[number] for number in bad], *marks)
        words = club.once_with_words()
        assert all(f"the letter {letters[number]} in" in words for number in bad) and words.count("cannot be had") == len(bad)
        read += [letters[number] for number in range(4) if number not in bad]
        assert club.settled() == read
        server.on.clear()
        club.run("once")
        read = sorted(read + [letters[number] for number in bad])
        assert club.settled() == read


@pytest.mark.parametrize("marks", [HEADS, BODIES], ids=["head", "body"])
def test_a_single_letter_that_breaks_the_line_is_no_outage(club, server, marks):
    uid = club.ask()
    server.on["UID FETCH"] = breaking_with([uid], *marks)
    assert f"the letter {uid} in" in club.once_with_words()
    assert not club.settled()
    server.on.clear()
    club.run("once")
    assert club.settled() == [uid]


def test_many_letters_that_break_the_line_are_given_up_soon(club, server):
    letters = [club.ask() for _ in range(20)]
    server.on["UID FETCH"] = breaking_with(letters, *BODIES)
    lines = server.lines
    words = club.once_with_words()
    assert not club.settled() and "broke with others too often" in words
    assert server.lines - lines < 30
    server.on.clear()
    club.run("once")
    assert club.settled() == letters


def test_a_line_that_breaks_once_makes_no_letter_unreadable(club, server):
    letters = [club.ask() for _ in range(3)]
    server.once("UID FETCH", hang_up)
    words = club.once_with_words()
    assert club.settled() == letters and "cannot be had" not in words
