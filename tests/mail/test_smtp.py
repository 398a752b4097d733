"""The club's letters out, by a real Postfix: taken, put off, refused, or with an end that nobody knows."""
import datetime
import re
import socket
import subprocess
import threading

import pytest

from club import stamp
from served import ServedClub
from servers import WITHOUT_TLS, crlf, wait_for


@pytest.fixture
def served(tmp_path, dovecot, postfix):
    def make(**more):
        return ServedClub(tmp_path / "club", dovecot, postfix, **{"relay": "smtps", **more})
    yield make
    postfix.refuse(None)


def new_game(club):
    ann, bob = club.player("Ann East"), club.player("Bob West")
    return ann, bob, int(club.run("game", "new", ann.name, bob.name).split()[1])


def later(club, **delta):
    """The next attempt of what was put off, without waiting for it."""
    club.run("once", "--now", stamp(club.now + datetime.timedelta(**delta)))
    club.postfix.drained()


@pytest.mark.parametrize("relay", ["smtps", "smtp", "sendmail"])
def test_letters_are_accepted(served, relay):
    club = served(relay=relay)
    club.run("check")
    ann, bob, game = new_game(club)
    log = len(club.postfix.log)
    club.once()
    assert club.json("outbox") == []
    said = club.postfix.log[log:]
    for player in (ann, bob):
        letter = player.newest(game)
        token = re.fullmatch(r"<(\w{26})@club\.example>", letter.message_id).group(1)
        user = club.user.split("@")[0]
        assert letter.return_path == f"{user}+b.{token}@club.example" and letter.reply_to == f"{user}+{token}@club.example"
        assert f"from=<{letter.return_path}>" in said and f"message-id={letter.message_id}" in said
        received = letter.message.get_all("Received")
        assert ("userid 0" if relay == "sendmail" else "ESMTPSA") in received[1]  # encrypted and logged in
    club.answer(ann, ann.newest(), "e4")
    club.once()
    assert club.json("game", "show", game)["moves"] == ["e4"] and len(bob.read_new()) == 1


@pytest.mark.parametrize("relay", ["smtps", "smtp"])
def test_put_off_by_451_then_accepted(served, relay):
    club = served(relay=relay)
    ann, bob, game = new_game(club)
    club.postfix.refuse(bob.address, "451 4.7.1 greylisted, come again")
    club.once()
    row, = club.json("outbox")
    assert (row["state"], row["address"], row["attempts"]) == ("queued", bob.address, 1)
    assert "451 4.7.1" in row["words"] and "greylisted, come again" in row["words"]
    assert len(ann.read_new()) == 1 and bob.read_new() == []
    assert datetime.datetime.fromisoformat(row["due"].replace("Z", "+00:00")) > club.now
    club.once()  # it is not its time yet
    assert club.json("outbox")[0]["attempts"] == 1
    club.postfix.refuse(None)
    later(club, minutes=2)
    assert club.json("outbox") == [] and len(bob.read_new()) == 1 and ann.read_new() == []
    club.run("verify")


def test_put_off_time_and_again_it_is_tried_less_and_less_often(served):
    club = served()
    ann, bob, game = new_game(club)
    club.postfix.refuse(bob.address, "450 4.2.1 the mailbox is busy")
    begin, waits = club.now, []
    at = begin
    for attempt in range(1, 7):
        club.run("once", "--now", stamp(at))
        row, = [row for row in club.json("outbox") if row["address"] == bob.address]
        assert row["attempts"] == attempt
        due = datetime.datetime.fromisoformat(row["due"].replace("Z", "+00:00"))
        waits.append((due - at).total_seconds())
        at = due
    assert waits == sorted(waits) and waits[0] <= 300 and 3600 < waits[-1] <= 86400, waits
    while row["state"] == "queued" and at < begin + datetime.timedelta(days=20):
        club.run("once", "--now", stamp(at))
        row, = [row for row in club.json("outbox") if row["address"] == bob.address]
        given_up, at = at, datetime.datetime.fromisoformat(row["due"].replace("Z", "+00:00"))
    assert row["state"] == "given up" and "450 4.2.1" in row["words"]
    assert datetime.timedelta(days=5) < given_up - begin < datetime.timedelta(days=8)


def test_refused_by_550_marks_the_address_and_tells_the_opponent(served):
    club = served()
    arbiter = club.player("The Arbiter", f"td{club.number}@club.example", add=False)
    club.settings["arbiter"] = arbiter.address
    club.write_configuration()
    ann, bob, game = new_game(club)
    club.once()
    bob.read_new()
    club.answer(ann, ann.newest(), "e4")
    club.postfix.refuse(bob.address, "550 5.1.1 nobody of that name lives here")
    club.once()
    row, = [row for row in club.json("outbox") if row["address"] == bob.address]
    assert row["state"] == "refused" and "550 5.1.1" in row["words"] and "nobody of that name lives here" in row["words"]
    trouble = {player["name"]: player["trouble"] for player in club.json("player", "list")}
    assert trouble["Bob West"] and trouble["Ann East"] is None
    club.once()
    *_, told = ann.read_new()
    assert "Bob West" in told.flat and bob.address not in told.text and "550" not in told.text
    to_arbiter, = arbiter.read_new()
    assert "nobody of that name lives here" in to_arbiter.flat
    assert bob.read_new() == []
    club.postfix.refuse(None)
    later(club, days=1, minutes=5)  # refused addresses are tried daily
    assert len(bob.read_new()) == 1 and [row for row in club.json("outbox") if row["address"] == bob.address] == []


class Cut:
    """A wire to the relay that breaks once its `breaks` words come back from there, or takes `slow` seconds for each answer."""

    def __init__(self, port, breaks=None, times=1, slow=0):
        self.port, self.breaks, self.times, self.slow = port, breaks, times, slow
        self.broken = 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(120)
        self.own_port = self.server.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()

    def listen(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            relay = socket.create_connection((WITHOUT_TLS, self.port), timeout=60)
            client.settimeout(60)
            for here, there, back in ((client, relay, False), (relay, client, True)):
                threading.Thread(target=self.carry, args=(here, there, back), daemon=True).start()

    def carry(self, here, there, back):
        try:
            while data := here.recv(65536):
                if back and self.slow:
                    threading.Event().wait(self.slow)
                if back and self.breaks and self.breaks in data and self.broken < self.times:
                    self.broken += 1
                    break
                there.sendall(data)
        except OSError:
            pass
        for end in (here, there):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def through(club, cut, **more):
    club.servers["outgoing"] = {"url": f"smtp://127.0.0.1:{cut.own_port}", "user": club.user, "password_file": club.dovecot.password_file, "tls": "none",
                                **more}
    club.write_configuration()


def straight(club):
    club.servers["outgoing"] = club.postfix.outgoing(user=club.user)
    club.write_configuration()


def test_a_line_lost_after_the_dot_sends_the_same_letter_again(served):
    """Postfix had taken it: the player sees the letter twice, as one, and his answer counts once."""
    club = served()
    ann, bob, game = new_game(club)
    with Cut(club.postfix.ports["submission"], b"Ok: queued as") as cut:
        through(club, cut, lines=1)
        club.once()
        assert cut.broken == 1
        row, = club.json("outbox")
        assert row["state"] == "trying" and "closed the connection" in row["words"]
        later(club, minutes=15)
    assert club.json("outbox") == []
    wait_for(lambda: len(ann.maildir.files()) + len(bob.maildir.files()) == 3, "three copies of two letters")
    letters = ann.read_new() + bob.read_new()
    twice = max((ann, bob), key=lambda player: len(player.letters))
    one, two = twice.letters
    assert len({letter.message_id for letter in letters}) == 2 and one.message_id == two.message_id
    body = [letter.raw[letter.raw.index(b"\nDate: "):] for letter in (one, two)]
    assert body[0] == body[1]  # byte for byte; what stands above is the servers'
    straight(club)
    for copy in (one, two):
        twice_says = "e4" if twice is ann else "games"
        club.answer(twice, copy, twice_says)
    club.once()
    assert club.json("game", "show", game)["moves"] == (["e4"] if twice is ann else [])
    club.run("verify")


@pytest.mark.parametrize("words", [b"354 ", b"250 2.1.5", b"235 "])
def test_a_line_lost_before_the_dot_is_no_delivery(served, words):
    club = served()
    ann, bob, game = new_game(club)
    with Cut(club.postfix.ports["submission"], words) as cut:
        through(club, cut, lines=1)
        assert subprocess.run(club.once_command(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode in (0, 75)
        club.postfix.drained()
        assert cut.broken == 1 and len(ann.maildir.files()) + len(bob.maildir.files()) <= 2
        later(club, minutes=2)
    assert cut.broken == 1 and club.json("outbox") == []
    assert len(ann.read_new()) == 1 and len(bob.read_new()) == 1


def test_a_slow_server_is_waited_for(served):
    club = served()
    ann, bob, game = new_game(club)
    with Cut(club.postfix.ports["submission"], slow=0.3) as cut:
        through(club, cut)
        club.once(timeout=120)
    assert club.json("outbox") == [] and len(ann.read_new()) == 1 and len(bob.read_new()) == 1


def test_a_server_that_never_answers_is_given_up_and_tried_again(served):
    club = served()
    ann, bob, game = new_game(club)
    with Cut(club.postfix.ports["submission"], slow=45) as cut:
        through(club, cut, timeout=2)
        assert "letters cannot be sent now" in club.run_failing("once", status=75, timeout=40)
    assert {row["state"] for row in club.json("outbox")} == {"queued"}
    straight(club)
    club.once()
    assert club.json("outbox") == [] and len(ann.read_new()) == 1 and len(bob.read_new()) == 1


def test_a_long_queue_goes_over_few_lines(served):
    club = served()
    ann, bob = club.player("Ann East"), club.player("Bob West")
    for _ in range(30):
        club.run("game", "new", ann.name, bob.name)
    log = len(club.postfix.log)
    club.once()
    assert club.json("outbox") == [] and len(ann.read_new()) == 30 and len(bob.read_new()) == 30
    said = club.postfix.log[log:]
    assert 1 <= len(re.findall(r"smtpd\[\d+\]: \w+: client=.*sasl_method=", said)) and len(re.findall(r"disconnect from .* auth=", said)) <= 4


def test_nothing_but_lines_that_end_in_crlf_reach_the_wire(served):
    """A remark full of bare carriage returns and dots, there and back."""
    club = served()
    ann, bob, game = new_game(club)
    club.once()
    remark = "e4\n\n.\n..\nQUIT\n.\r\rdots, and a lone CR"
    club.deliver(crlf(ann.answer(ann.newest(), remark, club.now, program="bare")), sender=ann.address)
    log = len(club.postfix.log)
    club.once()
    assert club.json("outbox") == [] and club.json("game", "show", game)["moves"] == ["e4"]
    seen = bob.newest()
    assert "| QUIT" in seen.text and "dots, and a lone CR" in seen.text
    assert "improper command pipelining" not in club.postfix.log[log:] and "bare" not in club.postfix.log[log:]
