"""Reports of real mail servers on letters of ours: matched to their letter, never answered (states O7)."""
import re

import pytest

from served import ServedClub
from servers import wait_for


@pytest.fixture
def club(tmp_path, dovecot, postfix):
    yield ServedClub(tmp_path / "club", dovecot, postfix, relay="smtps")
    postfix.hold_back(None)


def reports(club):
    """The reports that lie in the club's mailbox."""
    return [raw for _, raw in club.letters_there().values() if b"multipart/report" in raw]


def state_of(club, address):
    """State and words of the one letter to this address that is not simply accepted."""
    row, = [row for row in club.json("outbox") if row["address"] == address]
    return row["state"], row["words"]


def trouble_of(club, player):
    return next(row["trouble"] for row in club.json("player", "list") if row["name"] == player.name)


def test_a_bounce_marks_its_letter_and_the_address_and_is_not_answered(club):
    ann = club.player("Ann East")
    gone = club.player("Bob West", address=f"nobody{club.number}@west.example")
    club.run("game", "new", ann.name, gone.name)
    club.once()  # the relay takes it, and sends it back a moment later
    report, = reports(club)
    assert b"Action: failed" in report and b"Return-Path: <>" in report
    token = re.search(rb"Delivered-To: \w+\+b\.(\w{26})@club\.example", report).group(1)
    row, = club.take()
    assert (row["kind"], row["outcome"], row["letters_out"], row["outcomes"]) == ("bounce", "ignored", [], [])
    assert state_of(club, gone.address)[0] == "bounced" and trouble_of(club, gone) and not trouble_of(club, ann)
    assert f"<{token.decode()}@club.example>".encode() in report  # the very letter, by the token of the envelope
    assert "\\Seen" in next(iter(club.letters_there().values()))[0]
    for _ in range(3):
        assert club.take() == []
    assert len(reports(club)) == 1 and len(ann.read_new()) == 1, "a report was answered"
    club.run("verify")


def test_a_bounce_of_one_letter_leaves_the_others_alone(club):
    ann, bob = club.player("Ann East"), club.player("Bob West")
    gone = club.player("Cid North", address=f"nobody{club.number}@north.example")
    numbers = [int(club.run("game", "new", ann.name, other.name).split()[1]) for other in (bob, gone)]
    club.once()
    club.take()
    assert [row["address"] for row in club.json("outbox")] == [gone.address]
    club.answer(ann, ann.newest(numbers[0]), "e4")
    club.take()
    club.answer(bob, bob.newest(), "e5")
    club.take()
    assert club.json("game", "show", numbers[0])["moves"] == ["e4", "e5"]
    club.answer(ann, ann.newest(numbers[1]), "d4")  # a notice to an address in trouble: tried all the same, and back again
    played, = club.take()
    assert played["outcome"] == "played"
    ann.read_new()
    report, = club.take()
    assert (report["kind"], report["letters_out"]) == ("bounce", [])
    assert {row["state"] for row in club.json("outbox") if row["address"] == gone.address} == {"bounced"}
    words = next(row["words"] for row in club.json("outbox") if row["address"] == gone.address and row["kind"] != "answer")
    assert words.startswith("came back undelivered: 5"), words  # the server's own
    told, = ann.read_new()  # it was a notice, the opponent waits for its answer
    assert "could not be delivered" in told.flat and "Cid North" in told.flat
    arbiter = club.player("Tom Director", address="td@club.example", add=False)
    assert any(re.search(rf"Cid North \(nobody{club.number}@.*could not be delivered.*says: \"5", letter.flat) for letter in arbiter.read_new())


def test_a_delay_report_is_matched_and_an_answer_takes_it_back(club):
    ann, bob = club.player("Ann East"), club.player("Bob West")
    club.postfix.hold_back(bob.address)
    game = int(club.run("game", "new", ann.name, bob.name).split()[1])
    club.once()
    assert club.json("outbox") == []  # accepted by the relay
    wait_for(lambda: reports(club), "Postfix warns that the letter is late", seconds=60)
    report, = reports(club)
    assert b"Action: delayed" in report
    row, = club.take()
    assert (row["kind"], row["outcome"], row["letters_out"]) == ("bounce", "ignored", [])
    assert state_of(club, bob.address)[0] == "delayed" and not trouble_of(club, bob)
    assert bob.read_new() == []
    club.postfix.hold_back(None)
    wait_for(bob.read_new, "the letter arrives after all", seconds=60)
    club.answer(ann, ann.newest(), "e4")
    club.once()
    club.answer(bob, bob.letters[0], "board")
    club.once()
    assert [row for row in club.json("outbox") if row["address"] == bob.address] == []
    club.answer(bob, bob.newest(), "e5")
    club.once()
    assert club.json("game", "show", game)["moves"] == ["e4", "e5"]
    club.run("verify")


def test_a_bounce_after_a_delay(club):
    ann = club.player("Ann East")
    gone = club.player("Bob West", address=f"nobody{club.number}@west.example")
    club.postfix.hold_back(gone.address)
    club.run("game", "new", ann.name, gone.name)
    club.once()
    wait_for(lambda: reports(club), "Postfix warns that the letter is late", seconds=60)
    club.take()
    assert state_of(club, gone.address)[0] == "delayed"
    club.postfix.hold_back(None)
    wait_for(lambda: len(reports(club)) == 2, "Postfix sends it back", seconds=60)
    row, = club.take()
    assert row["letters_out"] == [] and state_of(club, gone.address)[0] == "bounced" and trouble_of(club, gone)


def test_a_strangers_answer_that_bounces_starts_no_loop(club):
    """The null sender towards strangers: what comes back goes nowhere."""
    stranger = f"nobody{club.number}@far.example"
    raw = f"From: <{stranger}>\r\nTo: <{club.user}>\r\nSubject: hello\r\nMessage-ID: <1@far.example>\r\n\r\nhelp\r\n".encode()
    club.deliver(raw, sender=stranger)
    row, = club.take()
    assert len(row["letters_out"]) == 1
    for _ in range(3):
        assert club.take() == []
    assert reports(club) == []
    assert f"to=<{stranger}>" in club.postfix.log
