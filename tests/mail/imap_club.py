"""A club whose mailbox is a FakeImap, and the ways in which a line breaks; for test_imap_faults.py and test_imap_odd.py."""
import pytest

from club import ADDRESS, Club
from fake_imap import FakeImap

TIMEOUT = 2     # seconds of one operation, where a test waits for that to be over
PATIENCE = 40   # within which a run with a few such operations in it ends, on a busy machine
LATER, MEND = 75, 1  # how the program ends: to be tried later; the operator must do something first


class ImapClub(Club):
    """Letters are put into the server's folder as the player writes them."""

    def __init__(self, folder, server, mailbox=None, **more):
        self.server = server
        password = folder / "password"
        password.touch(0o600)
        password.write_text("secret\n")
        keys = {"url": f"imap://127.0.0.1:{server.port}", "tls": "none", "user": "chess", "password_file": password, **(mailbox or {})}
        super().__init__(folder / "club", mailbox=keys, **more)
        self.ann, self.bob, self.cid = self.player("Ann East"), self.player("Bob West"), self.player("Cid South")
        self.game, self.letter, _ = self.new_game(self.ann, self.bob)
        server.said.clear()

    def with_mailbox(self, **keys):
        """From now on, with these keys; None: without."""
        mailbox = {**self.servers["mailbox"], **keys}
        self.servers["mailbox"] = {key: value for key, value in mailbox.items() if value is not None}
        self.write_configuration()

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

    def settled(self):
        """The UIDs of the letters that were read, in order."""
        return sorted(int(self.json("letter", row["id"])["name"]) for row in self.json("letters"))

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
    nothing_reckless(fake)


@pytest.fixture
def club(tmp_path, server):
    return ImapClub(tmp_path, server)


def nothing_reckless(server):
    """Whatever happens: no plain EXPUNGE, no CLOSE, which expunges too, and nothing fetched that sets \\Seen."""
    assert not server.commands("EXPUNGE") and not server.commands("CLOSE")
    assert all("BODY.PEEK" in said or said.endswith(" UID") for said in server.commands("UID FETCH"))
