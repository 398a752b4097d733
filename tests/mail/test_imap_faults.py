"""IMAP servers that break, stall or lie, by our own fake_imap: the program ends in time, says what was wrong, loses no letter, plays none twice,
and does the rest once the server is in order again."""
import os
import resource

import pytest

from club import ADDRESS, Club
from fake_imap import CAPABILITIES, FakeImap, Folder

TIMEOUT = 2     # seconds of one operation, as configured
PATIENCE = 25   # within which a run with one such operation in it ends, on a busy machine
LATER, MEND = 75, 1  # how the program ends: to be tried later; the operator must do something first
ROOM = 200_000  # kB that the program may use, whatever a server announces


class ImapClub(Club):
    """A club whose mailbox is a FakeImap; letters are put into it as the player writes them."""

    def __init__(self, folder, server, mailbox=None, **more):
        self.server = server
        password = folder / "password"
        password.touch(0o600)
        password.write_text("secret\n")
        keys = {"url": f"imap://127.0.0.1:{server.port}", "tls": "none", "user": "chess", "password_file": password, "timeout": TIMEOUT, **(mailbox or {})}
        super().__init__(folder / "club", mailbox=keys, **more)
        self.ann, self.bob, self.cid = self.player("Ann East"), self.player("Bob West"), self.player("Cid South")
        self.game, self.letter, _ = self.new_game(self.ann, self.bob)
        server.said.clear()

    def deliver(self, raw, received=True, sender="", folder="INBOX", **more):
        raw = raw if isinstance(raw, bytes) else raw.encode()
        return self.server.folders[folder].add(raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), **more)

    def move(self, text="e4", **more):
        return self.deliver(self.ann.answer(self.letter, text, self.advance(minutes=5)), **more)

    def ask(self, text="help", **more):
        """A further letter, which plays nothing."""
        return self.deliver(self.cid.write(ADDRESS, "a question", text + "\n", self.advance(minutes=1)), **more)

    def suffer(self, status=LATER):
        """A run that must fail, and soon. Its words."""
        words = self.run_failing("once", status=status, timeout=PATIENCE)
        assert "127.0.0.1:" in words and "secret" not in words
        return words

    def once_with_words(self):
        """A run that goes well and tells of single letters."""
        return self.run_failing("once", "--verbose", status=0, timeout=PATIENCE)

    def played(self):
        return self.json("game", "show", self.game)["moves"]

    def heal(self):
        """The server is in order again: the move is played, once, its letter filed, and its sender told once."""
        self.server.on.clear()
        self.run("once")
        self.run("once")
        assert len(self.played()) == 1
        rows = [row for row in self.json("letters") if row["outcome"] == "played"]
        assert [(row["state"], row["filed"]) for row in rows] == [("settled", True)]
        told = [letter for letter in self.bob.read_new() if (view := self.bob.view(letter)) and view.score == ["e4"]]
        assert len(told) == 1


@pytest.fixture
def server():
    with FakeImap() as fake:
        yield fake


@pytest.fixture
def club(tmp_path, server):
    return ImapClub(tmp_path, server)


@pytest.fixture(autouse=True)
def nothing_reckless(server):
    """Whatever happens: no plain EXPUNGE, no CLOSE, which expunges too, and nothing fetched that sets \\Seen."""
    yield
    assert not server.commands("EXPUNGE") and not server.commands("CLOSE")
    assert all("BODY.PEEK" in said or said.endswith("1:* UID") for said in server.commands("UID FETCH"))


# --- faults that end the line ---


def hang_up(session, _):
    session.close()


def bye(session, _):
    session.send("* BYE the cellar is flooded\r\n")
    session.close()


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
    silence(session, _)


def giant_literal(session, words):
    session.send("* 1 FETCH (UID 1 BODY[] {4294967290}\r\nabc")
    silence(session, words)


def giant_literal_sent(session, _):
    session.send("* 1 FETCH (UID 1 BODY[] {300000000}\r\n")
    for _ in range(3000):
        session.send(b"x" * 100_000)


def cut_literal(session, _):
    session.send("* 1 FETCH (UID 1 BODY[] {5000}\r\nFrom: some")
    session.close()


def wrong_tag(session, _):
    session.send("* OK so\r\nelsewhere OK done\r\n")
    silence(session, _)


EVERYWHERE = [hang_up, bye, silence, drip, endless_line, endless_answers, not_imap, wrong_tag]


def breaking(**commands):
    return pytest.mark.parametrize("command, fault", [(name.replace("_", " "), fault) for name, faults in commands.items() for fault in faults],
                                   ids=lambda value: value if isinstance(value, str) else value.__name__)


@breaking(UID_FETCH=[*EVERYWHERE, giant_literal, giant_literal_sent, cut_literal], UID_SEARCH=[hang_up, drip, endless_answers],
          EXAMINE=[bye, silence, endless_line], NOOP=[hang_up, bye, not_imap], GREETING=[hang_up, bye], CAPABILITY=[bye], AUTHENTICATE=[hang_up])
def test_a_broken_line_loses_nothing(club, server, command, fault):
    uid = club.move()
    server.on[command] = fault
    words = club.suffer()
    if fault is bye and command not in ("CAPABILITY", "GREETING"):
        assert "the cellar is flooded" in words
    assert not server.inbox.letters[uid].flags and not club.played()
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < ROOM or "EPISTLE_ASAN" in os.environ
    club.heal()


@breaking(UID_STORE=EVERYWHERE, SELECT=[hang_up, bye, silence])
def test_a_line_that_breaks_while_filing_plays_nothing_twice(club, server, command, fault):
    club.move()
    server.on[command] = fault
    club.suffer()
    assert len(club.played()) == 1
    club.heal()


@pytest.mark.parametrize("command", ["EXAMINE", "UID FETCH", "SELECT", "UID STORE", "NOOP", "CAPABILITY"])
@pytest.mark.parametrize("word", ["NO", "BAD"])
def test_a_refusal_is_told_in_the_servers_words(club, server, command, word):
    club.move()
    server.on[command] = lambda session, _: session.send(f"{session.tag} {word} the moon is full\r\n")
    if command == "UID FETCH" and word == "NO":  # that is the letter's own trouble
        assert "the moon is full" in club.once_with_words()
    else:
        assert "the moon is full" in club.suffer(MEND if command == "CAPABILITY" else LATER)  # curl asks for that before the log-in
    club.heal()


# --- answers that are odd ---


def test_nobody_logs_in_with_a_wrong_password(club, server, tmp_path):
    club.move()
    (tmp_path / "password").write_text("Secret\n")
    assert "refused the log-in" in club.suffer(MEND)
    (tmp_path / "password").write_text("secret\n")
    club.heal()


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
    server.on["UID SEARCH"] = lambda session, _: (session.send(f"* SEARCH 77 {uid} 4294967295 0 {uid}\r\n* SEARCH {uid} 78\r\n"), session.ok())
    club.run("once")
    assert [row["filed"] for row in club.json("letters")] == [True]
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


def test_a_size_that_lies(club, server):
    """Announced as small, and much larger: no more than the announced and some room is taken."""
    club.move()
    large = club.ask("games\n" + "x" * 70 + "\n" * 30_000)

    def fetch(session, words):
        numbers, _, items = words.partition(" ")
        for uid in session.uids(numbers):
            session.answer_fetch(uid, items.replace("RFC822.SIZE", "X"))
            if "RFC822.SIZE" in items:
                session.send(f"* {uid} FETCH (UID {uid} RFC822.SIZE 700)\r\n")
        session.ok()
    server.on["UID FETCH"] = fetch
    club.run("once")
    assert len(club.json("letters")) == 2 and "\\Seen" in server.inbox.letters[large].flags
    club.heal()


def test_a_large_letter_is_fetched_in_part(club, server):
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
