"""The club behind a relay that fails: what `once` does with its letters, over SMTP. Single faults of the sender are in tests/unit/test_outbox_smtp.c."""
import re
import subprocess

import pytest

from club import ADDRESS, Club, play
from fake_smtp import FakeSmtp
from letters import Incoming, Maildir


class SmtpClub(Club):
    """What the relay has accepted lies in the players' folders after each cycle."""

    def __init__(self, folder, relay, **outgoing):
        self.relay, self.handed_out, self.lost = relay, 0, {}
        super().__init__(folder, outgoing={"url": relay.url, "tls": "none", "timeout": 5, **outgoing})

    def once(self, expect=0, **more):
        try:
            return super().once(expect, **more)
        finally:
            for sender, recipient, raw in self.relay.accepted[self.handed_out:]:
                known = [player for player in self.players.values() if player.address == recipient]
                folder = known[0].maildir if known else self.lost.setdefault(recipient, Maildir(self.folder / f"other-{recipient}"))
                folder.deliver(raw)
            self.handed_out = len(self.relay.accepted)

    def waiting(self):
        return self.json("outbox")

    def to_players(self):
        """Without what the operator is told of the outage."""
        return [letter for letter in self.relay.accepted if letter[1] != "td@club.example"]

    def letters_to(self, address):
        return [Incoming(raw) for _, recipient, raw in self.relay.accepted if recipient == address]


@pytest.fixture
def relay():
    with FakeSmtp() as server:
        yield server


@pytest.fixture
def club(tmp_path, relay):
    return SmtpClub(tmp_path, relay)


@pytest.fixture
def started(club):
    """A game in which White has made his first move, and no letter about it has gone yet."""
    ann, bob = club.player("Ann East"), club.player("Bob West")
    club.new_game(ann, bob)
    club.relay.letters.clear()
    club.relay.accepted.clear()
    club.relay.commands.clear()
    club.handed_out = 0
    club.advance(hours=1)
    club.answer(ann, ann.newest(), "e4\n\nGrüße\n.\n.. and so on\n")
    return ann, bob


def identities(letters):
    return sorted(Incoming(raw).message_id for _, _, raw in letters)


def test_game(club):
    ann, bob = club.player("Ann East"), club.player("Bob West")
    club.new_game(ann, bob)
    score = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"]
    newest = play(club, ann, bob, score, remark=lambda ply: f".\n.hidden {ply}" if ply % 2 else None)
    assert {tuple(view.score) for _, view in newest.values()} == {tuple(score)}
    assert club.waiting() == [] and sorted(club.relay.letters) == sorted(club.relay.accepted)
    assert len(set(identities(club.relay.letters))) == len(club.relay.letters) == 2 + 2 * len(score)
    for sender, recipient, raw in club.relay.letters:
        assert recipient in (ann.address, bob.address)
        token = re.fullmatch(r"<([a-z2-7]{26})@club\.example>", Incoming(raw).message_id).group(1)
        assert sender == f"chess+b.{token}@club.example"
        assert max(raw) < 128 and b"\r\n\r\n" in raw and not re.search(rb"(?<!\r)\n|\r(?!\n)", raw)
    assert {line for _, line in club.relay.commands if line.startswith("EHLO")} == {"EHLO club.example"}
    assert club.relay.count("QUIT") == club.relay.connections


def test_words_of_acceptance(club, started):
    club.once()
    letters = club.json("letter", 1)["letters_out"]
    assert {letter["state"] for letter in letters} == {"accepted"}


@pytest.mark.parametrize("rule, status, tried", [
    ("connect=421 4.3.2 busy;drop", 75, 0),
    ("connect=554 5.7.1 not you", 75, 0),
    ("connect=drop", 75, 0),
    ("ehlo=drop", 75, 0),
    ("mail=451 4.3.0 later", 0, 1),
    ("mail=421 4.7.0 later;drop", 75, 0),
    ("mail=550 5.7.1 not you", 75, 0),
    ("rcpt=450 4.2.1 greylisted", 0, 1),
    ("rcpt#1=drop", 0, 1),
    ("data=451 4.3.0 later", 0, 1),
    ("dot=451 4.3.0 later", 0, 1),
    ("dot#1=421 4.3.2 going;drop", 0, 1),
    ("dot=421 4.3.2 going;drop", 75, 1),  # the second in a row is the relay's
    ("rcpt=drop", 75, 1),
])
def test_later(club, started, rule, status, tried):
    """Surely not delivered: it goes later, once, rendered anew."""
    club.relay.follow(rule)
    if status == 0:
        club.once()
    else:
        words = club.run_failing("once", "--now", club.now.strftime("%Y-%m-%dT%H:%M:%SZ"), status=status)
        assert words.startswith("epistle: letters cannot be sent now: ") and words.count("\n") == 1
    rows = club.waiting()
    assert rows and {row["state"] for row in rows} == {"queued"} and max(row["attempts"] for row in rows) == tried
    assert len(club.relay.accepted) + len(rows) == 2
    club.relay.follow()
    club.advance(hours=2)
    club.once()
    assert club.waiting() == []
    assert len(club.to_players()) == 2 and len(set(identities(club.to_players()))) == 2
    club.advance(days=2)
    club.once()
    assert len(club.to_players()) == 2


@pytest.mark.parametrize("rule", ["dot=drop", "dot=reset", "dot=nonsense", "dot=354 more;drop"])
def test_unknown(club, started, rule):
    """Perhaps delivered: the very same bytes again, so that two copies are one letter."""
    club.relay.follow(rule)
    club.once()
    assert {row["state"] for row in club.waiting()} == {"trying"}
    first = sorted(club.relay.letters)
    assert len(first) == 2 and club.relay.accepted == []
    club.relay.follow()
    club.advance(minutes=1)
    club.once()
    assert club.relay.accepted == []  # not at once
    club.advance(hours=2)
    club.once()
    assert club.waiting() == [] and sorted(club.relay.accepted) == first


def test_reused_lines_that_end(club, started):
    """A relay that takes one letter per connection and then says 421: nobody waits."""
    ann, bob = started
    club.relay.follow("mail+2=421 4.4.2 one only;drop")
    club.once()
    assert club.waiting() == [] and len(club.relay.accepted) == 2
    for text in ("board", "games", "ping"):
        club.answer(ann, ann.newest(), text + "\n")
    before = club.relay.connections
    club.once()
    assert club.waiting() == [] and len(club.relay.accepted) == 5
    assert club.relay.connections - before >= 3


def test_refused(club, started):
    ann, bob = started
    club.relay.follow(f"rcpt~{bob.address}=550-5.1.1 no such|550 5.1.1 user")
    club.once()
    rows = [row for row in club.waiting() if row["address"] == bob.address]
    assert [(row["state"], row["words"]) for row in rows] == [("refused", "550 5.1.1 no such user")]
    assert any("550 5.1.1 no such user" in " ".join(letter.text.split()) for letter in club.letters_to("td@club.example"))
    assert any("e4" in letter.text for letter in club.letters_to(ann.address))
    club.relay.follow()
    club.advance(days=1, minutes=1)
    club.once()
    assert any("e4" in letter.text for letter in club.letters_to(bob.address))


def test_null_sender(club, relay):
    """RULINGS 37: a relay that takes no null sender gets the service's address instead; to the stranger it is the same letter."""
    strangers = [club.player(f"Eve{n} Far{n}", add=False) for n in range(3)]
    relay.follow("mail~FROM:<>=550 5.7.1 no null sender")
    for stranger in strangers:
        club.send(stranger, ADDRESS, "hello", "help\n")
    club.once()
    assert [sender for sender, _, _ in relay.accepted] == [ADDRESS] * 3 and club.waiting() == []
    relay.follow()
    other = club.player("Mallory Near", add=False)
    club.send(other, ADDRESS, "hello", "help\n")
    club.once()
    assert relay.accepted[-1][0] == ""  # another run does not know of it


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    files = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=relay.example",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-out", files[0], "-keyout", files[1]], check=True, capture_output=True, timeout=60)
    return tuple(map(str, files))


def secured(tmp_path, relay, certificate, password):
    secret = tmp_path / "password"
    secret.touch(0o600)
    secret.write_text(password + "\n")
    return SmtpClub(tmp_path / "club", relay, tls="required", ca_file=certificate[0], user="club", password_file=secret)


def test_login_behind_starttls(tmp_path, certificate):
    with FakeSmtp(tls=certificate, auth="club:sesame") as relay:
        club = secured(tmp_path, relay, certificate, "sesame")
        club.new_game(club.player("Ann East"), club.player("Bob West"))
        assert len(relay.accepted) == 2
        for number in range(1, relay.connections + 1):
            assert relay.verbs(number)[:4] == ["EHLO", "STARTTLS", "EHLO", "AUTH"]


def test_wrong_password(tmp_path, certificate):
    with FakeSmtp(tls=certificate, auth="club:other") as relay:
        club = secured(tmp_path, relay, certificate, "sesame")
        club.player("Ann East"), club.player("Bob West")
        club.run("game", "new", "Ann East", "Bob West")
        words = club.run_failing("once", status=75)
        assert "535 5.7.8 wrong user or password" in words and "sesame" not in words
        assert "MAIL" not in relay.verbs() and {row["state"] for row in club.waiting()} == {"queued"}


@pytest.mark.parametrize("rule", ["", "starttls=454 4.7.0 not now", "starttls=drop"])
def test_no_tls_no_word(tmp_path, certificate, rule):
    """Where the line cannot be secured, neither password nor letter goes over it."""
    with FakeSmtp(*([rule] if rule else []), tls=certificate if rule else None, auth="club:sesame") as relay:
        club = secured(tmp_path, relay, certificate, "sesame")
        club.player("Ann East"), club.player("Bob West")
        club.run("game", "new", "Ann East", "Bob West")
        club.run_failing("once", status=75)
        assert not {"AUTH", "MAIL"} & set(relay.verbs()) and {row["state"] for row in club.waiting()} == {"queued"}
