"""The club's mailbox over IMAP, by a real Dovecot: what is read, what is filed, and what is left alone."""
import datetime
import imaplib
import re

import pytest

from served import ServedClub
from serving import Serve

AFTERS = ["seen", "move:Processed", "delete"]


@pytest.fixture
def served(tmp_path, dovecot):
    def make(**more):
        return ServedClub(tmp_path / "club", dovecot, **more)
    return make


def begin(club):
    """Two players with a game, both told of it."""
    ann, bob = club.player("Ann East"), club.player("Bob West")
    return (ann, bob, *club.new_game(ann, bob))


def moves(club, game):
    return club.json("game", "show", game)["moves"]


def mark(club, flags, uid, folder="INBOX", sign="+FLAGS"):
    """Another mail program at the same mailbox."""
    with club.dovecot.imap(club.user) as line:
        line.select(folder)
        assert line.uid("store", str(uid), sign, flags)[0] == "OK"


@pytest.mark.parametrize("after", AFTERS)
@pytest.mark.parametrize("scheme", ["imaps", "imap"])
def test_letters_are_read_and_filed(served, scheme, after):
    club = served(incoming=scheme, mailbox={"after": after})
    club.run("check", "--init")
    assert "no errors" in club.run("check")
    ann, bob, game, letter, _ = begin(club)
    club.answer(ann, letter, "e4\n\nGood luck!")
    before = club.letters_there()
    assert len(before) == 1 and "\\Seen" not in next(iter(before.values()))[0]
    settled = club.take()
    assert [row["outcome"] for row in settled] == ["played"]
    assert "Good luck!" in bob.newest().text
    there, moved = club.letters_there(), club.letters_there("Processed")
    if after == "seen":
        assert list(there) == list(before) and "\\Seen" in there[next(iter(before))][0] and not moved
    elif after == "delete":
        assert not there and not moved
    else:
        assert not there and [raw for _, raw in moved.values()] == [raw for _, raw in before.values()]
    club.answer(bob, bob.newest(), "e5")
    assert [row["outcome"] for row in club.take()] == ["played"]
    assert club.take() == []  # nothing is read twice


def test_a_folder_that_is_missing_is_named_and_made(served):
    club = served(mailbox={"after": "move:Done/Chess", "also": "Junk"})
    told = club.run_failing("check")
    assert "Done/Chess" in told and "Junk" in told and "--init" in told
    club.run("check", "--init")
    club.run("check")
    ann, bob, game, letter, _ = begin(club)
    club.answer(ann, letter, "e4")
    assert [row["outcome"] for row in club.take()] == ["played"]
    assert len(club.letters_there("Done/Chess")) == 1


def test_letters_taken_for_junk_are_read_too(served):
    club = served(mailbox={"also": "Junk", "after": "seen"})
    club.run("check", "--init")
    ann, bob, game, letter, _ = begin(club)
    club.dovecot.append(ann.answer(letter, "e4", club.now), club.now, "Junk", user=club.user)
    assert [row["outcome"] for row in club.take()] == ["played"]
    (flags, _), = club.letters_there("Junk").values()
    assert "\\Seen" in flags


@pytest.mark.parametrize("also", [False, True])
def test_folders_may_have_names_of_any_language(served, also):
    """Modified UTF-7 on the wire; the other mail program writes it by itself here."""
    name, wire = "Schach & Spiele/Züge", "Schach &- Spiele/Z&APw-ge"
    folder = {"also": name} if also else {"folder": "/Schach%20%26%20Spiele/Z%C3%BCge"}
    club = served(mailbox=folder)
    if also:
        club.run("check", "--init")
    else:
        with club.dovecot.imap(club.user) as line:
            line.create(f'"{wire}"')
    club.run("check")
    with club.dovecot.imap(club.user) as line:
        assert wire.encode() in b" ".join(line.list()[1])
    ann, bob, game, letter, _ = begin(club)
    club.dovecot.append(ann.answer(letter, "e4", club.now), club.now, wire, user=club.user)
    assert [row["outcome"] for row in club.take()] == ["played"]


def test_a_mailbox_read_in_webmail_loses_nothing(served):
    """Opened, marked as read, answered there: what is new is told by UID."""
    club = served(mailbox={"after": "move:Processed"})
    club.run("check", "--init")
    ann, bob, game, letter, other = begin(club)
    club.answer(ann, letter, "e4")
    uid, = club.letters_there()
    with club.dovecot.imap(club.user) as line:
        line.select("INBOX")
        line.uid("fetch", str(uid), "(BODY[])")  # sets \\Seen
    assert "\\Seen" in club.letters_there()[uid][0]
    assert [row["outcome"] for row in club.take()] == ["played"]
    club.answer(bob, bob.newest(), "e5")
    uid, = club.letters_there()
    mark(club, "(\\Seen \\Answered \\Flagged)", uid)
    assert [row["outcome"] for row in club.take()] == ["played"]
    with club.dovecot.imap(club.user) as line:  # seen, then marked as unread again
        line.select("Processed")
        line.uid("store", "1:*", "-FLAGS", "(\\Seen)")
    assert club.take() == [] and len(moves(club, game)) == 2


def test_filing_that_fails_loses_nothing_and_is_made_up_for(served):
    """Where the folder should be there is something else. What was read was only looked at: the letter lies where it was and as it was."""
    club = served(mailbox={"after": "move:Processed"})
    ann, bob, game, letter, _ = begin(club)
    club.answer(ann, letter, "e4")
    uid, = club.letters_there()
    obstacle = club.dovecot.maildir(club.user).path / ".Processed"
    obstacle.touch()
    told = club.run_failing("once", status=None)
    assert "Processed" in told and len(told.strip().split("\n")) == 1, told
    assert moves(club, game) == ["e4"] and "\\Seen" not in club.letters_there()[uid][0]
    obstacle.unlink()
    club.once()
    assert len(club.json("letters")) == 1 and moves(club, game) == ["e4"]
    assert club.letters_there() == {} and len(club.letters_there("Processed")) == 1


@pytest.mark.parametrize("after", AFTERS)
def test_what_another_program_has_marked_as_deleted_survives_our_filing(served, after):
    club = served(mailbox={"after": "seen"})
    ann, bob, game, letter, _ = begin(club)
    club.answer(ann, letter, "e4")
    club.take()
    old, = club.letters_there()
    mark(club, "(\\Deleted)", old)
    club.servers["mailbox"]["after"] = after
    club.write_configuration()
    club.run("check", "--init")
    club.answer(bob, bob.newest(), "e5")
    fresh = max(club.letters_there())
    assert fresh != old and [row["outcome"] for row in club.take()] == ["played"]
    there = club.letters_there()
    assert "\\Deleted" in there[old][0], "the letter that another program marked is gone"
    assert (fresh in there) == (after == "seen")


def test_a_letter_marked_as_deleted_before_we_saw_it_counts(served):
    club = served()
    ann, bob, game, letter, _ = begin(club)
    club.answer(ann, letter, "e4")
    uid, = club.letters_there()
    mark(club, "(\\Deleted)", uid)
    assert [row["outcome"] for row in club.take()] == ["played"]
    assert {"\\Deleted", "\\Seen"} <= club.letters_there()[uid][0]


def test_a_folder_that_was_made_anew_doubles_nothing(served):
    """UIDVALIDITY has changed and the same letters stand there again, under other UIDs."""
    club = served(mailbox={"folder": "/Club"})
    with club.dovecot.imap(club.user) as line:
        line.create("Club")
    ann, bob, game, letter, _ = begin(club)
    raw = [ann.answer(letter, "e4", club.now), ann.write(club.user, "chess", "help", club.now)]
    for one in raw:
        club.dovecot.append(one, club.now, "Club", user=club.user)
    assert len(club.take()) == 2
    bob_said = bob.answer(bob.newest(), "e5", club.now)
    club.dovecot.append(bob_said, club.now, "Club", user=club.user)
    assert [row["outcome"] for row in club.take()] == ["played"]
    before, sent = club.records(), len(club.json("outbox"))
    with club.dovecot.imap(club.user) as line:
        was = line.status("Club", "(UIDVALIDITY)")
        assert line.delete("Club")[0] == "OK" and line.create("Club")[0] == "OK"
        assert line.status("Club", "(UIDVALIDITY)") != was
    for one in [bob_said, *raw]:  # in another order too: UID 1 is another letter now
        club.dovecot.append(one, club.now, "Club", user=club.user)
    club.take()
    assert club.records() == before and len(club.json("outbox")) == sent
    assert len(moves(club, game)) == 2
    assert all("\\Seen" in flags for flags, _ in club.letters_there("Club").values())
    club.dovecot.append(ann.answer(ann.newest(), "Nf3", club.now), club.now, "Club", user=club.user)
    assert [row["outcome"] for row in club.take()] == ["played"]


def test_a_letter_over_two_megabytes_is_read_in_part(served):
    club = served()
    ann, bob, game, letter, _ = begin(club)
    raw = ann.answer(letter, "e4", club.now, program="bare")
    raw += b"".join(b"%07d and so on, and so on, and so on, as mail programs like it\r\n" % i for i in range(40000))
    assert len(raw) > 2 * 1024 * 1024
    club.dovecot.append(raw, club.now, user=club.user)
    row, = club.take()
    assert row["outcome"] in ("played", "asked") and bob.newest() is not None
    assert club.store.stat().st_size < 2 * 1024 * 1024


def test_arrival_is_what_the_mailbox_says(served):
    """INTERNALDATE, where no server of ours has put its own line on the letter; never the Date field's word."""
    club = served()
    ann, bob, game, letter, _ = begin(club)
    arrival = club.now - datetime.timedelta(seconds=40)
    lie = re.sub(rb"Date: [^\r]*", b"Date: Fri, 01 Jan 2010 00:00:00 +0000", ann.answer(letter, "e4", club.now))
    club.dovecot.append(lie, arrival, user=club.user)
    row, = club.take()
    assert row["outcome"] == "played"
    assert datetime.datetime.fromisoformat(row["arrival"].replace("Z", "+00:00")) == arrival


def test_many_letters_at_once(served):
    """More than one batch, read over one line."""
    club = served(mailbox={"after": "move:Processed"})
    club.run("check", "--init")
    ann, bob, game, letter, _ = begin(club)
    before = club.json("letters")
    with club.dovecot.imap(club.user) as line:
        for i in range(150):
            line.append("INBOX", "", imaplib.Time2Internaldate(club.now), ann.answer(letter, "games" if i != 77 else "e4", club.now, program="bare"))
    log = len(club.dovecot.log)
    club.once()
    fresh = club.json("letters")
    assert len(fresh) - len(before) == 150 and moves(club, game) == ["e4"]
    assert club.letters_there() == {} and len(club.letters_there("Processed")) == 150
    logins = [text for text in club.dovecot.log[log:].split("\n") if f"Login: user=<{club.user}>" in text]
    assert len(logins) - 2 <= 2, "one line is enough for all letters"  # two are the test's own


def test_two_copies_of_the_program_cannot_run_on_one_store(served):
    club = served()
    begin(club)
    with Serve(club) as first:
        for verb in ("once", "serve"):
            assert "another" in club.run_failing(verb, status=75)
        assert first.process.poll() is None
        assert club.json("game", "list")  # verbs that only look work all the same
    club.once()
