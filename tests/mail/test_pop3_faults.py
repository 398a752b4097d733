"""POP3 servers that break, stall or lie, by our own fake_pop3: the program ends in time, says what was wrong, deletes nothing that was not settled, loses no
letter, plays none twice, and does the rest once the server is in order again."""
import os
import resource

import pytest

import fake_pop3
from club import ADDRESS, Club
from fake_pop3 import FakePop3, bytes_of, deletes_then, drips, floods, hangs_up, of_letter, once, says, waits

TIMEOUT = 2      # seconds of one operation, as configured
PATIENCE = 25    # within which a run with one such operation in it ends, on a busy machine
LATER, MEND = 75, 1
ROOM = 200_000   # kB that the program may use, whatever a server sends


class PopClub(Club):
    def __init__(self, folder, server, mailbox=None, **more):
        self.server = server
        password = folder / "password"
        password.touch(0o600)
        password.write_text("secret\n")
        keys = {"url": f"pop3://127.0.0.1:{server.port}", "tls": "none", "user": "chess", "password_file": password, "timeout": TIMEOUT, "after": "delete",
                **(mailbox or {})}
        super().__init__(folder / "club", mailbox=keys, **more)
        self.ann, self.bob, self.cid = self.player("Ann East"), self.player("Bob West"), self.player("Cid South")
        self.game, self.letter, _ = self.new_game(self.ann, self.bob)
        server.said.clear()

    def deliver(self, raw, received=True, sender="", uidl=None, **more):
        self.server.add(raw, uidl)

    def move(self, text="e4", **more):
        self.deliver(self.ann.answer(self.letter, text, self.advance(minutes=5)), **more)

    def ask(self, text="help", **more):
        """A further letter, which plays nothing."""
        self.deliver(self.cid.write(ADDRESS, "a question", text + "\n", self.advance(minutes=1)), **more)

    def suffer(self, status=LATER):
        """A run that must fail, and soon. Its words."""
        words = self.run_failing("once", status=status, timeout=PATIENCE)
        assert "127.0.0.1:" in words and "secret" not in words
        return words

    def played(self):
        return self.json("game", "show", self.game)["moves"]

    def heal(self):
        """The server is in order again: the move is played, once, every letter deleted, and the opponent told once."""
        self.server.faults.clear()
        self.run("once", timeout=PATIENCE)
        self.run("once", timeout=PATIENCE)
        assert self.played() == ["e4"]
        assert self.server.uidls() == []
        told = [letter for letter in self.bob.read_new() if (view := self.bob.view(letter)) and view.score == ["e4"]]
        assert len(told) == 1


@pytest.fixture
def server():
    with FakePop3() as fake:
        yield fake


@pytest.fixture
def club(tmp_path, server):
    return PopClub(tmp_path, server)


@pytest.fixture(autouse=True)
def within_its_room():
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # of whatever ran before in this process
    yield
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert after < ROOM or after == before or "EPISTLE_ASAN" in os.environ


def test_without_faults(club, server):
    club.move()
    club.ask()
    club.heal()
    assert {name.split()[0] for _, name in server.said} <= {"CAPA", "USER", "PASS", "UIDL", "LIST", "RETR", "DELE", "QUIT"}
    assert sum(name.startswith("RETR") for _, name in server.said) == 2  # each letter once
    assert sorted(server.deleted) == ["letter-1", "letter-2"]


BROKEN = {
    "a greeting that never comes": ("GREETING", waits()),
    "a greeting that drips": ("GREETING", drips("+OK welcome to a very slow server that goes on and on and never comes to an end, ever, ever, ever")),
    "no greeting but the line's end": ("GREETING", hangs_up()),
    "a list that never comes": ("UIDL", waits()),
    "a list that breaks off": ("UIDL", hangs_up(b"+OK\r\n1 letter-1\r\n")),
    "a list that drips": ("UIDL", drips("+OK\r\n1 letter-1\r\n2 and so on and so on and so on and so on")),
    "a list with letter 0": ("UIDL", says("+OK\r\n0 letter-1\r\n.")),
    "a list with no number": ("UIDL", says("+OK\r\nletter-1\r\n.")),
    "two letters of one number": ("UIDL", says("+OK\r\n1 letter-1\r\n1 letter-2\r\n.")),
    "sizes of letter 0": ("LIST", says("+OK\r\n0 100\r\n.")),
    "sizes that break off": ("LIST", hangs_up(b"+OK\r\n1 10")),
    "an answer that is none": ("UIDL", says("* OK IMAP4rev1 ready")),
    "an endless line": ("UIDL", floods()),
    "an endless list": ("UIDL", floods(b"2147483 x\r\n" * 5000, b"+OK\r\n")),
    "the line's end instead of the letter": ("RETR", hangs_up()),
    "the line's end within the letter": ("RETR", hangs_up(b"+OK\r\nFrom: ann@east.example\r\nSubject: x\r\n\r\n1. d")),
    "a letter without its end": ("RETR", waits(b"+OK\r\nFrom: ann@east.example\r\n\r\nd4\r\n")),
    "a letter that drips": ("RETR", drips("+OK\r\nFrom: ann@east.example\r\n\r\nd4\r\nand so on and so on and so on")),
    "an endless letter": ("RETR", floods(b"line\r\n" * 10000, b"+OK\r\n")),
    "an endless line in a letter": ("RETR", floods(b"z" * 65536, b"+OK\r\n")),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_server_costs_a_cycle_and_nothing_else(club, server, what):
    command, fault = BROKEN[what]
    club.move()
    club.ask()
    server.faults[command] = fault
    club.suffer()
    assert server.deleted == [] and club.played() == []
    club.heal()


def test_a_line_lost_after_a_letter_deletes_nothing_else(club, server):
    """The first letter is fetched, the line breaks at the second; on the next line the numbers are others."""
    club.move()
    club.ask()

    def breaks(fake, connection, argument):
        fake.letters.reverse()
        return hangs_up()(fake, connection, argument)
    server.faults["RETR"] = once(breaks, at=2)
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and server.deleted == ["letter-1"] and server.uidls() == ["letter-2"]
    club.heal()


UNREADABLE = {
    "the line's end": hangs_up(b"+OK\r\nFrom: cid@south.example"),
    "no end": waits(b"+OK\r\nFrom: cid@south.example\r\n\r\nhelp\r\n"),
    "a flood": floods(b"line\r\n" * 10000, b"+OK\r\n"),
    "an end behind a bare line feed": waits(b"+OK\nFrom: cid@south.example\n\nhelp\n.\r\n"),
    "an answer that is none": says("* hello"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_letter_at_which_the_line_breaks_keeps_no_other_waiting(club, server, what):
    club.ask()  # letter-1
    club.move()
    server.faults["RETR"] = of_letter("letter-1", UNREADABLE[what])
    for _ in range(2):  # nothing hangs on what a former run knew
        club.run("once", timeout=PATIENCE)
        assert club.played() == ["e4"] and server.uidls() == ["letter-1"]
        assert club.json("status")["unreadable"] == 1
    club.heal()


def test_several_letters_at_which_the_line_breaks(club, server):
    for _ in range(4):
        club.ask()
    club.move()  # letter-5
    bad = ("letter-1", "letter-3", "letter-4")
    server.faults["RETR"] = lambda fake, connection, argument: hangs_up()(fake, connection, argument) if connection.letters[int(argument) - 1][0] in bad else "go on"
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and tuple(server.uidls()) == bad
    club.suffer()  # no letter is left that shows whose fault it is
    club.ask()
    club.run("once", timeout=PATIENCE)
    assert tuple(server.uidls()) == bad
    club.heal()


def test_the_only_letter_breaks_the_line(club, server):
    club.ask()
    club.run("once")
    club.move()
    server.faults["RETR"] = hangs_up(b"+OK\r\n")
    said = club.run_failing("once", "-v", status=0, timeout=PATIENCE)
    assert "letter-2" in said and club.json("status")["unreadable"] == 1 and club.played() == []
    club.heal()


def test_a_bare_line_feed_before_the_last_dot_is_told(club, server):
    club.ask()
    club.move()
    server.faults["RETR"] = of_letter("letter-1", UNREADABLE["an end behind a bare line feed"])
    assert "line feed" in club.run_failing("once", "-v", status=0, timeout=PATIENCE)
    club.heal()


@pytest.mark.parametrize("sizes", ["1 1", "1 99999999", "1", "7 100"])
def test_sizes_are_hints(club, server, sizes):
    raw = club.ann.answer(club.letter, "e4", club.advance(minutes=5))
    raw = (raw if isinstance(raw, bytes) else raw.encode()).replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n\n-- \n" + b"padding and more padding\n" * 40_000
    club.deliver(raw)
    server.faults["LIST"] = says(f"+OK\r\n{sizes}\r\n.")
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and server.uidls() == []


def test_a_number_beyond_the_count_is_that_letters_fault(club, server):
    club.move()
    server.faults["UIDL"] = once(says("+OK\r\n1 letter-1\r\n9 letter-9\r\n."))
    assert "letter-9" in club.run_failing("once", "-v", status=0, timeout=PATIENCE)
    assert club.played() == ["e4"] and server.deleted == ["letter-1"]
    club.heal()


def test_the_line_is_lost_at_the_first_deletion(club, server):
    club.move()
    club.ask()
    server.faults["DELE"] = hangs_up()
    club.suffer()
    assert server.deleted == [] and club.played() == ["e4"]
    server.letters.insert(0, ["foreign", b"From: x@y.example\r\n\r\nhello\r\n"])  # what comes between takes the first number
    server.faults.clear()
    club.run("once")
    assert server.deleted[:2] and "foreign" not in server.deleted[:2] and club.played() == ["e4"]
    club.heal()


def test_the_line_is_lost_between_deletion_and_quit(club, server):
    """RFC 1939: nothing was deleted then, and it is done again."""
    club.move()
    server.faults["QUIT"] = hangs_up()
    club.suffer()
    assert server.deleted == [] and server.uidls() == ["letter-1"]
    club.heal()


def test_the_answer_to_quit_is_lost(club, server):
    """The letters are gone, and that is found out."""
    club.move()
    server.faults["QUIT"] = once(deletes_then(hangs_up()))
    club.suffer()
    assert server.deleted == ["letter-1"]
    club.heal()
    assert server.deleted == ["letter-1"]


def test_a_deletion_that_is_refused_is_tried_again(club, server):
    club.move()
    server.faults["DELE"] = says("-ERR not now")
    assert "not now" in club.run_failing("once", "-v", status=0)
    assert club.played() == ["e4"] and server.deleted == []
    club.heal()


BREAKING = {"refused": says("-ERR it is nailed down"), "the line's end": hangs_up(), "no answer": waits()}


@pytest.mark.parametrize("what", BREAKING)
def test_a_letter_that_is_never_deleted_keeps_no_other_waiting(club, server, what):
    club.ask()  # letter-1
    club.ask()
    server.faults["DELE"] = of_letter("letter-1", BREAKING[what])
    assert "letter-1" in club.run_failing("once", "-v", status=0, timeout=PATIENCE)
    assert server.deleted == ["letter-2"]
    club.move()
    if what == "refused":
        club.run("once", timeout=PATIENCE)
        assert club.played() == ["e4"] and server.uidls() == ["letter-1"]
    club.heal()


def test_a_quit_that_deletes_not_all_is_told_and_looked_after(club, server):
    club.ask()
    club.move()

    def most(fake, connection, argument):
        connection.deleted.discard(1)
        connection.expunge()
        connection.say("-ERR some deleted messages not removed")
    server.faults["QUIT"] = lambda *call: most(*call) if call[1].deleted else "go on"
    assert "not removed" in club.run_failing("once", "-v", status=0, timeout=PATIENCE)
    assert club.played() == ["e4"] and server.uidls() == ["letter-1"]
    club.heal()


@pytest.mark.parametrize("what", ["closed", "told and closed", "silent"])
def test_a_line_that_died_while_it_was_idle_is_opened_anew(club, server, what):
    """While letters were settled the server lost patience: the same on a new line, where numbers are others."""
    club.move()
    lines = []

    def dies(fake, connection, argument):
        lines.append(connection)
        fake.letters.insert(0, ["foreign", b"From: x@y.example\r\n\r\nhello\r\n"])
        connection.say("+OK")
        connection.say(connection.body(int(argument)))
        if what == "silent":
            return
        connection.say("-ERR idle for too long" if what == "told and closed" else b"")
        raise fake_pop3.Closed
    server.faults["RETR"] = once(dies)
    server.faults["DELE"] = lambda fake, connection, argument: waits()(fake, connection, argument) if what == "silent" and connection in lines else "go on"
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and server.deleted == ["letter-1"] and server.uidls() == ["foreign"]
    club.heal()


def test_an_answer_too_many_is_not_taken_for_the_next_ones(club, server):
    club.ask()
    club.move()
    server.faults["RETR"] = lambda fake, connection, argument: connection.say(b"+OK\r\n" + connection.body(int(argument)) + b"+OK\r\nd4\r\n.\r\n")
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and server.uidls() == []


def test_one_letter_that_is_not_given_does_not_stop_the_others(club, server):
    club.ask()
    club.move()
    server.faults["RETR"] = lambda server, connection, argument: "go on" if argument != "1" else connection.say("-ERR it is damaged")
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and server.uidls() == ["letter-1"]
    assert club.json("status")["unreadable"] == 1
    club.heal()


def test_no_uidl_is_told_as_what_it_is(club, server):
    club.move()
    server.faults["UIDL"] = says("-ERR unknown command")
    assert "UIDL" in club.suffer(status=MEND)
    club.heal()


def test_letters_of_one_name_are_both_read(club, server):
    """Copies may share their UIDL (RFC 1939, 7); a server that gives it to different letters must not make us lose one."""
    club.ask(uidl="same")
    club.move(uidl="same")
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and server.uidls() == []
    assert len(club.json("letters")) == 2


@pytest.mark.parametrize("first", [False, True])
def test_one_of_two_letters_of_one_name_cannot_be_had(club, server, first):
    """Which one is read and deleted never hangs on their order or on the other's being there."""
    club.ask(uidl="same")
    club.move(uidl="same")
    if first:
        server.letters.reverse()
    server.faults["RETR"] = bytes_of(b"e4", says("-ERR not now"))
    assert "UIDL" in club.suffer()
    assert server.deleted == ["same"] and b"e4" in server.letters[0][1]
    club.heal()


def test_copies_of_a_letter_are_one(club, server):
    club.move(uidl="same")
    server.letters += [list(server.letters[0]) for _ in range(2)]
    club.run("once", timeout=PATIENCE)
    assert len(club.json("letters")) == 1
    club.heal()


def test_one_of_two_letters_of_one_name_is_read_again_by_its_own(tmp_path, server):
    club = PopClub(tmp_path, server, mailbox={"after": "seen"})
    club.ask(uidl="same")
    club.move(uidl="same")
    club.run("once", timeout=PATIENCE)
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"] and len(club.json("letters")) == 2
    del server.letters[0]
    records = club.records()
    club.known_records = None
    club.run("once", timeout=PATIENCE)
    assert club.records() == records and [row["outcome"] for row in club.json("letters")].count("played") == 1


def test_a_mailbox_full_of_letters_of_one_name(club, server):
    """So many are not read each time; they are told, and the rest of the mailbox is read."""
    for number in range(70):
        club.ask(text=f"help\n\n{number}", uidl="same")
    club.move()
    assert "UIDL" in club.suffer()
    retrieved = sum(name.startswith("RETR") for _, name in server.said)
    assert club.played() == ["e4"] and retrieved <= 2 * 64 + 2
    for _ in range(2):
        club.run_failing("once", status=None, timeout=PATIENCE) if server.letters and len(server.letters) > 64 else club.run("once", timeout=PATIENCE)
    club.heal()


def test_a_letter_without_a_name_stays_and_is_told(club, server):
    club.move()
    server.faults["UIDL"] = says("+OK\r\n1\r\n2 letter-2\r\n.")
    club.ask()
    assert "UIDL" in club.suffer()
    assert [row["state"] for row in club.json("letters")] == ["settled"] and server.deleted == ["letter-2"]
    club.heal()


def test_dots_at_the_beginning_of_lines(club, server):
    club.move("e4\n\n.\n..two\n.one")
    club.run("once", timeout=PATIENCE)
    text = club.bob.newest().text
    assert "| .\n" in text and "| ..two" in text and "| .one" in text


def test_a_letter_that_was_divided_into_single_bytes(club, server):
    club.move()

    def bytewise(server, connection, argument):
        connection.say("+OK")
        for byte in connection.body(int(argument)):
            connection.say(bytes([byte]))
    server.faults["RETR"] = bytewise
    club.run("once", timeout=PATIENCE)
    assert club.played() == ["e4"]


def test_a_large_letter_is_read_in_part_and_the_rest_is_not_waited_for(club, server):
    raw = club.ann.answer(club.letter, "e4", club.advance(minutes=5))
    raw = (raw if isinstance(raw, bytes) else raw.encode()).replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n\n-- \n" + b"padding and more padding\n" * 400_000
    club.deliver(raw)
    club.ask()
    club.run("once", timeout=60)
    assert club.played() == ["e4"] and server.uidls() == []


def test_seen_leaves_everything_where_it_is(tmp_path, server):
    club = PopClub(tmp_path, server, mailbox={"after": "seen"})
    club.move()
    for _ in range(3):
        club.run("once")
    assert club.played() == ["e4"] and server.uidls() == ["letter-1"] and server.deleted == []
    assert sum(name.startswith("RETR") for _, name in server.said) == 1
    assert not any(name.startswith("DELE") for _, name in server.said)


def test_another_accounts_equal_names_are_not_known(club, server):
    club.ask()
    club.run("once")
    server.letters.clear()
    server.deleted.clear()
    club.move()  # letter-1 again, in the mailbox of another user
    club.servers["mailbox"]["user"] = "other"
    club.write_configuration()
    club.heal()


def test_check_logs_in_and_reads_nothing(club, server):
    club.move()
    assert "no errors" in club.run("check")
    assert not any(name.startswith(("RETR", "DELE")) for _, name in server.said)
    server.faults["PASS"] = says("-ERR wrong")
    assert "chess" in club.run_failing("check", timeout=PATIENCE)
