"""Lines that must not be trusted: each is refused, said plainly, and nothing is read, sent or lost. Real Dovecot and Postfix."""
import smtplib
import ssl

import pytest

from served import ServedClub
from servers import CERTIFICATES, PASSWORD, WITHOUT_TLS

# What distinguishes the causes, in the words of `check` and `once`.
WORDS = {"expired": "ran out", "elsewhere": "not for this name", "unknown": "nobody but itself", "authority": "does not know", "no TLS": "STARTTLS",
         "log-in": "refused the log-in"}
INCOMING, RELAYS = ["imaps", "imap", "pop3s", "pop3"], ["smtps", "smtp"]
BOTH = INCOMING + RELAYS


class Wires:
    """One club whose mailbox or relay is looked for elsewhere; the other side stays good."""

    def __init__(self, folder, dovecot, postfix):
        self.club = ServedClub(folder, dovecot, postfix, relay="smtps")
        self.dovecot, self.postfix = dovecot, postfix
        self.ann, self.bob = self.club.player("Ann East"), self.club.player("Bob West")
        self.good = dict(self.club.servers)

    def bend(self, scheme, **keys):
        side, server = ("mailbox", self.dovecot.mailbox) if scheme in INCOMING else ("outgoing", self.postfix.outgoing)
        self.club.servers = {**self.good, side: server(scheme, user=keys.pop("user", self.club.user), **keys)}
        self.club.write_configuration()
        return side

    def mend(self):
        self.club.servers = self.good
        self.club.write_configuration()


@pytest.fixture(scope="module")
def one_club(tmp_path_factory, dovecot, postfix):
    return Wires(tmp_path_factory.mktemp("wires"), dovecot, postfix)


@pytest.fixture
def wires(one_club):
    yield one_club
    one_club.mend()
    for player in (one_club.ann, one_club.bob):
        player.read_new()


def refused(wires, scheme, cause, **keys):
    """A letter waits in the mailbox and a game's two notices in the queue; then everything is mended."""
    club = wires.club
    number = int(club.run("game", "new", "Ann East", "Bob West").split()[1])
    club.deliver(wires.ann.write(club.user, "chess", "games", club.now), sender=wires.ann.address)
    letters = len(club.json("letters"))
    side = wires.bend(scheme, **keys)
    host = keys.get("host", "localhost")

    told = club.run_failing("check").strip().split("\n")
    assert len(told) == 1 and f": {side}: {host}:" in told[0], told
    told += club.run_failing("once", status=None).strip().split("\n")
    for line in told:
        for name, word in WORDS.items():
            assert (word in line) == (name == cause), line
        assert PASSWORD not in line
    assert len(told) == 2, told

    wires.postfix.drained()
    here = [letter for player in (wires.ann, wires.bob) for letter in player.read_new()]
    if side == "mailbox":  # letters go out all the same
        assert len(club.json("letters")) == letters and len(here) == 2
        assert "\\Seen" not in club.letters_there()[max(club.letters_there())][0]
    else:  # letters are read all the same
        assert len(club.json("letters")) == letters + 1 and here == []
        assert {row["state"] for row in club.json("outbox")} == {"queued"}
    assert "cannot be read since" in club.run("status") or "fails since" in club.run("status")

    wires.mend()
    club.once()
    assert len(club.json("letters")) == letters + 1 and club.json("outbox") == []
    here += [letter for player in (wires.ann, wires.bob) for letter in player.read_new()]
    assert len(here) == 3 and sorted(letter.to for letter in here) == sorted([wires.ann.address, wires.ann.address, wires.bob.address])
    assert [letter.game for letter in here].count(number) >= 2


@pytest.mark.parametrize("cause", ["expired", "elsewhere", "unknown"])
@pytest.mark.parametrize("scheme", BOTH)
def test_a_certificate_that_does_not_hold(wires, scheme, cause):
    refused(wires, scheme, cause, host=CERTIFICATES[cause])


@pytest.mark.parametrize("scheme", BOTH)
def test_an_authority_that_the_system_does_not_know(wires, scheme):
    refused(wires, scheme, "authority", ca_file=None)


@pytest.mark.parametrize("scheme", ["imap", "pop3", "smtp"])
def test_a_server_without_starttls_gets_no_password(wires, scheme):
    before = len(wires.dovecot.log)
    refused(wires, scheme, "no TLS", host=WITHOUT_TLS)
    assert f"lip={WITHOUT_TLS}" not in "".join(line for line in wires.dovecot.log[before:].split("\n") if "Login: " in line)


@pytest.mark.parametrize("scheme", BOTH)
def test_a_log_in_that_fails(wires, scheme):
    refused(wires, scheme, "log-in", user="nobody@club.example")


@pytest.mark.parametrize("scheme", ["imap", "pop3", "smtp"])
def test_without_tls_on_this_machine_if_one_says_so(wires, scheme):
    wires.bend(scheme, host=WITHOUT_TLS, tls="none", ca_file=None)
    club = wires.club
    club.run("check")
    club.deliver(wires.ann.write(club.user, "chess", "games", club.now), sender=wires.ann.address)
    club.once()  # POP3 knows the letters that IMAP has read by other names: they are the same all the same
    assert len(wires.ann.read_new()) == 1 and club.json("outbox") == []


@pytest.mark.parametrize("url", ["imap://imap.club.example/INBOX", "pop3://pop.club.example", "smtp://relay.club.example", "smtp://192.0.2.1:25"])
def test_an_unencrypted_line_to_elsewhere_is_an_error_of_the_configuration(wires, url):
    side = wires.bend(url.split(":")[0], tls="none")
    wires.club.servers[side] = {**wires.club.servers[side], "url": url}
    wires.club.write_configuration()
    for verb in ("check", "once"):
        told = wires.club.run_failing(verb)
        line = wires.club.configuration.read_text().split("\n").index("tls = none") + 1
        assert f"epistle.conf:{line}: " in told and "tls = none" in told and "on this very machine" in told, told


def test_a_certificate_is_good_for_the_name_in_the_url_alone(wires):
    """The name and the number that stand in it; whatever else leads to the same machine is refused (127.0.0.3 above)."""
    for host in ("localhost", "127.0.0.1"):
        wires.bend("imaps", host=host)
        wires.club.run("check")


@pytest.mark.parametrize("scheme", RELAYS)
def test_the_relay_wants_a_log_in(wires, scheme):
    """What the other tests rest upon: this relay takes nothing from strangers."""
    kind = smtplib.SMTP_SSL if scheme == "smtps" else smtplib.SMTP
    context = ssl.create_default_context(cafile=str(wires.dovecot.certificates.ca))
    more = {"context": context} if scheme == "smtps" else {}
    with kind("localhost", wires.postfix.ports["submission" if scheme == "smtp" else scheme], timeout=30, **more) as line:
        if scheme == "smtp":
            line.starttls(context=context)
        with pytest.raises(smtplib.SMTPException):
            line.sendmail(wires.club.user, [wires.ann.address], b"Subject: x\r\n\r\nx\r\n")
        line.login(wires.club.user, PASSWORD)
        line.sendmail(wires.club.user, [wires.ann.address], b"Subject: x\r\n\r\nx\r\n")
    wires.postfix.drained()
    assert len(wires.ann.read_new()) == 1
