"""IMAP servers that give odd answers, or file in odd ways, by our own fake_imap: the program loses no letter, plays none twice, and files nothing
that is not its own."""
import os

import pytest

from fake_imap import CAPABILITIES, Closed, FakeImap, Folder
from imap_club import MEND, ImapClub, club, server  # noqa: F401


# --- answers that are odd ---


@pytest.mark.parametrize("body", ["NIL", '""', "{0}\r\n"])
def test_an_empty_letter_stays_waiting(club, server, body):
    uid = club.move()
    server.on["UID FETCH"] = lambda session, words: (session.send(f"* 1 FETCH (UID 1 RFC822.SIZE 10 BODY[] {body})\r\n"), session.ok())
    club.run("once")
    assert not club.json("letters") and not server.inbox.letters[uid].flags
    club.heal()


def test_answers_twice_out_of_order_and_for_others(club, server):
    """Each letter twice, in the wrong order, flags in between, and letters nobody asked for."""
    club.move()
    club.ask("help")
    stranger = club.ask("games")

    def answer(session, words):
        numbers, _, items = words.partition(" ")
        for uid in reversed(session.uids(numbers)):
            session.send(f"* {uid} FETCH (FLAGS (\\Recent))\r\n* {uid} FETCH (UID {uid} FLAGS (\\Flagged $odd))\r\n")
            session.answer_fetch(uid, items)
            session.answer_fetch(uid, items)
        session.answer_fetch(stranger, items, body=b"From: eve@evil.example\r\n\r\ngame 1: resign\r\n")
        session.send("* 9 FETCH (UID 999 RFC822.SIZE 3 BODY[] {3}\r\nabc)\r\n* 17 EXISTS\r\n* 3 RECENT\r\n* OK [NOTICE] fine weather\r\n")
        session.ok()
    server.on["UID FETCH"] = answer
    club.run("once")
    rows = club.json("letters")
    assert len(rows) == 3 and all(row["filed"] for row in rows)
    club.heal()


def test_an_answer_nobody_knows_loses_nothing(club, server):
    club.move()

    def odd(session, words):
        session.send("* XYZZY (\"a\" 5) nothing happens\r\n")
        session.usual()
    for command in ("EXAMINE", "UID SEARCH", "UID FETCH", "UID STORE"):
        server.on[command] = odd
        try:
            club.run("once")
        except AssertionError:
            club.suffer()
        del server.on[command]
    club.heal()


def test_letters_that_are_not_there(club, server):
    """SEARCH tells of letters that have gone, of the same ones several times, and of number 0."""
    uid = club.move()
    answer = f"* SEARCH 77 {uid} 4294967295 0 {uid}\r\n* SEARCH {uid} 78\r\n"
    server.once("UID SEARCH", lambda session, _: (session.send(answer), session.ok()))
    assert "cannot be had" not in club.once_with_words()
    assert [row["filed"] for row in club.json("letters")] == [True]
    club.heal()


def test_a_letter_that_is_listed_and_never_given(club, server):
    """It has not gone, whatever the server's OK to FETCH says: it cannot be read, which is told."""
    uid = club.ask("games")
    club.move()

    def fetch(session, words):
        numbers, _, items = words.partition(" ")
        for number in session.uids(numbers):
            if number != uid:
                session.answer_fetch(number, items)
        session.ok()
    server.on["UID FETCH"] = fetch
    words = club.once_with_words()
    assert f"the letter {uid} in" in words and "lists it and does not give it" in words
    assert len(club.played()) == 1 and len(club.json("letters")) == 1
    assert club.json("status")["unreadable"] == 1
    club.heal()


def test_a_server_that_cannot_search(club, server):
    club.move()
    server.on["UID SEARCH"] = lambda session, _: session.no("no index")
    club.run("once")
    assert len(club.played()) == 1
    club.heal()


def test_an_empty_mailbox_that_cannot_be_searched(club, server):
    server.on["UID SEARCH"] = server.on["UID FETCH"] = lambda session, _: session.no("nothing to search in")
    club.run("once")
    club.move()
    club.heal()


def test_a_folder_without_uidvalidity(club, server):
    club.move()
    server.on["EXAMINE"] = lambda session, _: (setattr(session, "folder", server.inbox), session.send("* 1 EXISTS\r\n"), session.ok("[READ-ONLY] open"))
    assert "UIDVALIDITY" in club.suffer()
    club.heal()


def test_one_letter_that_the_server_refuses_keeps_no_other_from_being_read(club, server):
    bad = club.ask("games")
    club.move()

    def fetch(session, words):
        if bad in session.uids(words.partition(" ")[0]):
            session.no("[SERVERBUG] this one is broken")
        else:
            session.usual()
    server.on["UID FETCH"] = fetch
    assert "this one is broken" in club.once_with_words()
    assert len(club.played()) == 1 and len(club.json("letters")) == 1
    server.on.clear()
    club.run("once")
    assert len(club.json("letters")) == 2
    club.heal()


# --- large letters ---


LARGE = "games\n" + ("y" * 70 + "\n") * 25_000  # 1.8 MB


def test_large_letters_come_in_pieces(club, server):
    """The line breaks with each answer that takes too long: nothing that is asked for is larger than a slow line brings in time."""
    letters = [club.ask(LARGE), club.ask(), club.ask(LARGE), *(club.ask("games\n" + ("z" * 70 + "\n") * 3000) for _ in range(4))]

    def fetch(session, words):
        sent, send = [], session.send

        def counted(text):
            sent.append(len(text))
            if sum(sent) > 600_000:
                raise Closed
            send(text)
        session.send = counted
        try:
            session.usual()
        finally:
            session.send = send
    server.on["UID FETCH"] = fetch
    lines = server.lines
    club.run("once")
    assert server.lines == lines + 1
    assert club.settled() == letters
    for row in club.json("letters"):
        raw = club.run("letter", row["id"], "--raw")
        assert raw.replace("\r\n", "\n") == server.inbox.letters[int(club.json("letter", row["id"])["name"])].raw.decode().replace("\r\n", "\n")


def test_a_size_that_lies(club, server):
    """Announced as small, and much larger: it comes in pieces, and no more of it than of any letter is taken."""
    club.move()
    large = [club.ask("games\n" + "x" * 70 + "\n" * 30_000), club.ask(LARGE)]

    def fetch(session, words):
        numbers, _, items = words.partition(" ")
        for uid in session.uids(numbers):
            session.answer_fetch(uid, items.replace("RFC822.SIZE", "X"))
            if "RFC822.SIZE" in items:
                session.send(f"* {uid} FETCH (UID {uid} RFC822.SIZE 700)\r\n")
        session.ok()
    server.on["UID FETCH"] = fetch
    club.run("once")
    assert len(club.json("letters")) == 3 and all("\\Seen" in server.inbox.letters[uid].flags for uid in large)
    club.heal()


def test_pieces_that_do_not_fit_together(club, server):
    """A server that always begins at the beginning: the letter is not put together wrongly, it cannot be read."""
    club.ask(LARGE)

    def fetch(session, words):
        numbers, _, items = words.partition(" ")
        for uid in session.uids(numbers):
            session.answer_fetch(uid, items if "HEADER" in items else items[:items.index("<")] + "<0.131072>)")
        session.ok()
    server.on["UID FETCH"] = fetch
    assert "other parts of it than were asked for" in club.once_with_words()
    assert not club.settled()


def test_the_beginning_of_a_letter_too_large(club, server):
    club.move()
    club.ask("games\n" + ("y" * 70 + "\r\n") * 45_000)
    club.run("once")
    assert any("<0.65536>" in said for said in server.commands("UID FETCH"))
    assert len(club.json("letters")) == 2
    club.heal()


# --- filing ---


def test_letters_of_another_uidvalidity_are_never_filed(club, server):
    """The folder is made anew between reading and filing; its letters have the same numbers."""
    club.move()

    def made_anew(session, words):
        server.folders["INBOX"] = Folder(4711)
        club.ask("games")
        del server.on["SELECT"]
        session.usual()
    server.on["SELECT"] = made_anew
    club.run("once")
    assert len(club.played()) == 1
    assert not server.commands("UID STORE") and not server.inbox.letters[1].flags
    assert club.json("letters")[0]["filed"]
    club.run("once")
    assert len(club.json("letters")) == 2 and "\\Seen" in server.inbox.letters[1].flags


def test_a_folder_that_may_not_be_written(club, server):
    club.move()
    server.on["SELECT"] = lambda session, words: session.do_select(words, "READ-ONLY")
    assert "right to write" in club.suffer(MEND)
    club.heal()


@pytest.mark.parametrize("after, command", [("seen", "UID STORE"), ("move:Done", "UID MOVE"), ("delete", "UID STORE")])
def test_one_letter_that_the_server_will_not_file_keeps_no_other_from_it(tmp_path, server, after, command):
    server.folders["Done"] = Folder(7)
    club = ImapClub(tmp_path, server, mailbox={"after": after})
    club.move()
    bad, last = club.ask("games"), club.ask("games")

    def refuse(session, words):
        if bad in session.uids(words.partition(" ")[0]):
            session.no("[SERVERBUG] not this one")
        else:
            session.usual()
    server.on[command] = refuse
    words = club.once_with_words()
    assert f"the letter {bad} in" in words and "not this one" in words
    rows = {int(club.json("letter", row["id"])["name"]): row for row in club.json("letters")}
    assert [rows[uid]["filed"] for uid in sorted(rows)] == [True, False, True] and not server.inbox.letters[bad].flags
    assert "\\Seen" in server.inbox.letters[last].flags if after == "seen" else list(server.inbox.letters) == [bad]
    club.heal()
    assert all(row["filed"] for row in club.json("letters"))


def test_a_folder_that_is_not_seen_for_a_moment(tmp_path, server):
    """Its letters are filed later, as long as nobody says, on two lines in a row, that there is no such folder."""
    server.folders["Junk"] = Folder(8)
    club = ImapClub(tmp_path, server, mailbox={"also": "Junk"})

    def unlisted(session, words):
        if "Junk" in words:
            session.ok()
        else:
            session.usual()

    def refusing(words_of_refusal, times):
        def select(session, words):
            if "Junk" in words and times:
                times.pop()
                session.no(words_of_refusal)
            else:
                session.usual()
        return select
    for words, times, filed in (("[UNAVAILABLE] the disk is away", [1, 1, 1], False), ("[NONEXISTENT] no such folder", [1], True),
                                ("[NONEXISTENT] no such folder", [1, 1], "gone")):
        club.run("once")
        uid = club.ask("games", folder="Junk")
        server.once("UID STORE", lambda session, _: session.no("not now"))
        club.run_failing("once", status=None)
        server.on["LIST"], server.on["SELECT"] = unlisted, refusing(words, times)
        club.run_failing("once", status=None if filed is False else 0)
        assert max(club.json("letters"), key=lambda row: row["id"])["filed"] == bool(filed)
        assert ("\\Seen" in server.folders["Junk"].letters[uid].flags) == (filed is True)
        server.on.clear()


def test_another_account_is_another_mailbox(club, server):
    """A new provider, whose mailbox has the same folder, UIDVALIDITY and UIDs: its letters are read, and none of them is filed in place of an old one."""
    club.move()
    server.on["UID STORE"] = lambda session, _: session.no("not now")
    club.suffer()
    assert not club.json("letters")[0]["filed"]
    with FakeImap() as other:
        club.server = other
        club.with_mailbox(url=f"imap://127.0.0.1:{other.port}")
        other.inbox.validity = server.inbox.validity
        club.ask("games")
        other.on["UID FETCH"] = lambda session, _: session.no("not yet")
        club.once_with_words()
        assert not other.commands("UID STORE") and not other.inbox.letters[1].flags
        other.on.clear()
        club.run("once")
        assert len(club.json("letters")) == 2 and "\\Seen" in other.inbox.letters[1].flags
    assert all(row["filed"] for row in club.json("letters"))


@pytest.mark.parametrize("capabilities", [CAPABILITIES, CAPABILITIES.replace(" MOVE", ""), CAPABILITIES.replace(" MOVE", "").replace(" UIDPLUS", "")])
@pytest.mark.parametrize("there", [True, False])
def test_moving(tmp_path, server, capabilities, there):
    server.capabilities = capabilities
    if there:
        server.folders["Done"] = Folder(7)
    club = ImapClub(tmp_path, server, mailbox={"after": "move:Done"})
    others = club.ask("games", flags=["\\Deleted"])
    club.move()
    club.run("once")
    assert len(server.folders["Done"].letters) == (2 if "MOVE" in capabilities else 1)
    if "UIDPLUS" in capabilities:
        assert not server.inbox.letters
    else:
        assert all("\\Deleted" in letter.flags for letter in server.inbox.letters.values()) and others in server.inbox.letters
    club.run("once")
    assert len(server.folders["Done"].letters) == (2 if "MOVE" in capabilities else 1)
    club.heal()


@pytest.mark.parametrize("at", ["UID COPY", "UID STORE", "UID EXPUNGE"])
def test_moving_by_a_copy_that_breaks_off(tmp_path, server, at):
    """The command is done, its answer lost: at most one further copy, and nothing is left behind."""
    server.capabilities = CAPABILITIES.replace(" MOVE", "")
    server.folders["Done"] = Folder(7)
    club = ImapClub(tmp_path, server, mailbox={"after": "move:Done"})
    club.move()

    def done_and_lost(session, words):
        session.send = lambda text: None
        session.usual()
        session.close()
    server.on[at] = done_and_lost
    club.suffer()
    club.heal()
    assert not server.inbox.letters
    assert len(server.folders["Done"].letters) == (2 if at == "UID COPY" else 1)


@pytest.mark.parametrize("uidplus", [True, False])
def test_deleting(tmp_path, server, uidplus):
    """Another program's \\Deleted letter, which came later, is read and deleted as ours; one that we cannot read stays."""
    server.capabilities = CAPABILITIES if uidplus else CAPABILITIES.replace(" UIDPLUS", "")
    club = ImapClub(tmp_path, server, mailbox={"after": "delete"})
    club.move()
    club.run("once")
    assert bool(server.inbox.letters) != uidplus
    club.heal()
    words = club.run("check", expect=0) if uidplus else club.run_failing("check")
    assert uidplus or "UIDPLUS" in words


def test_names_of_folders_on_a_server_with_a_prefix(tmp_path, server):
    """`Junk` is INBOX.Junk there, and `Chess/Done` INBOX.Chess.Done."""
    server.folders["INBOX.Junk"] = Folder(8)
    server.on["NAMESPACE"] = lambda session, _: (session.send('* NAMESPACE (("INBOX." ".")) NIL NIL\r\n'), session.ok())
    club = ImapClub(tmp_path, server, mailbox={"also": "Junk", "after": "move:Chess/Done"})
    club.run("check", "--init")
    club.move(folder="INBOX.Junk")
    club.run("once")
    assert list(server.folders) == ["INBOX", "INBOX.Junk", "INBOX.Chess.Done"]
    assert len(server.folders["INBOX.Chess.Done"].letters) == 1 and len(club.played()) == 1


def test_a_further_folder_that_breaks_the_line_keeps_no_letter_waiting(tmp_path, server):
    server.folders.update({"Junk": Folder(8), "Spam": Folder(9)})
    club = ImapClub(tmp_path, server, mailbox={"also": "Junk, Spam"})
    club.move()
    club.ask("games", folder="Spam")

    def examine(session, words):
        if "Junk" in words:
            raise Closed
        session.usual()
    server.on["EXAMINE"] = examine
    assert "Junk" in club.suffer()
    assert len(club.played()) == 1 and len(club.json("letters")) == 2
    club.heal()


def test_a_further_folder_that_is_missing_keeps_no_letter_waiting(tmp_path, server):
    server.folders["Junk"] = Folder(8)
    club = ImapClub(tmp_path, server, mailbox={"also": "Junk"})
    club.move()
    del server.folders["Junk"]
    words = club.suffer(MEND)
    assert "Junk" in words and "--init" in words
    assert len(club.played()) == 1 and "\\Seen" in server.inbox.letters[1].flags
    assert "Junk" in club.run_failing("check")
    club.run("check", "--init")
    club.heal()


@pytest.mark.parametrize("command", ["LIST", *([] if "EPISTLE_ASAN" in os.environ else ["NAMESPACE"])])  # libetpan leaks 94 bytes where that is refused
def test_a_server_that_tells_of_no_folders(tmp_path, server, command):
    """They are found by opening them."""
    server.folders["Junk"] = Folder(8)
    server.on[command] = lambda session, _: session.no("not for you")
    club = ImapClub(tmp_path, server, mailbox={"also": "Junk"})
    club.move(folder="Junk")
    club.run("once")
    assert len(club.played()) == 1


@pytest.mark.parametrize("after, command", [("move:Done", "UID MOVE"), ("seen", "UID STORE")])
def test_a_server_that_files_nothing_keeps_no_letter_from_being_read(tmp_path, server, after, command):
    """The account is over its quota, say. The first letters cannot be filed; those that come later are read and answered all the same."""
    server.folders["Done"] = Folder(7)
    club = ImapClub(tmp_path, server, mailbox={"after": after})
    server.on[command] = lambda session, words: session.no("[OVERQUOTA] no room")
    club.ask("games")
    assert "no room" in club.suffer()
    club.move()
    assert "no room" in club.suffer()
    assert len(club.played()) == 1 and not any(row["filed"] for row in club.json("letters"))
    outages = club.json("status")["outages"]
    assert [outage["subject"] for outage in outages] == ["folder"]
    club.heal()
    assert all(row["filed"] for row in club.json("letters")) and club.json("status")["outages"] == []
