"""Letters handed to a sendmail program: scripts in its place for each end that one may come to, seen as states of the queue; and Postfix's own."""
import pytest

from club import ADDRESS, Club
from served import ServedClub
from servers import wait_for


class Program:
    """A script in sendmail's place. It keeps what it was told and given, one file of each per letter."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder, self.path = folder, folder / "sendmail"
        self.ends_by("exit 0")

    def ends_by(self, body):
        self.path.write_text(f'#!/bin/sh\nn=$(mktemp {self.folder}/call-XXXXXX)\nprintf "%s\\n" "$@" >"$n"\ncat >"$n.letter"\n{body}\n')
        self.path.chmod(0o755)

    def calls(self):
        return [file.read_text().split("\n")[:-1] for file in sorted(self.folder.glob("call-??????"))]


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "program")


@pytest.fixture
def club(tmp_path, program):
    club = Club(tmp_path / "club", outgoing={"url": f"sendmail:{program.path}"})
    ann, bob = club.player("Ann East"), club.player("Bob West")
    club.run("game", "new", ann.name, bob.name)  # two letters
    return club


def states(club):
    return [row["state"] for row in club.json("outbox")]



def test_accepted(club, program):
    club.once()
    assert club.json("outbox") == [] and len(program.calls()) == 2
    for call in program.calls():
        assert call[:2] == ["-i", "-f"] and call[2].startswith("chess+b.") and call[3] == "--" and len(call) == 5
    assert sorted(call[4] for call in program.calls()) == ["ann@east.example", "bob@west.example"]
    for file in program.folder.glob("*.letter"):
        raw = file.read_bytes()
        assert b"\r" not in raw and b"\nSubject: " in b"\n" + raw and raw.endswith(b"\n")
    club.once()
    assert len(program.calls()) == 2  # once each


@pytest.mark.parametrize("status", [65, 67, 68])
def test_refused(club, program, status):
    program.ends_by(f'[ "$5" = ann@east.example ] || exit 0; echo "there is nobody of that name"; exit {status}')
    club.once()
    rows = club.json("outbox")
    assert [(row["address"], row["state"], row["attempts"]) for row in rows] == [("ann@east.example", "refused", 1)]
    assert "nobody of that name" in rows[0]["words"]
    before = len(program.calls())
    club.once()  # not again on the same day
    assert len(program.calls()) == before


@pytest.mark.parametrize("end", ["exit 75", "exit 1"])
def test_later(club, program, end):
    """The letter's own: each is tried, and again after a while."""
    program.ends_by(end)
    club.once()
    assert states(club) == ["queued"] * 2 and len(program.calls()) == 2
    program.ends_by("exit 0")
    club.once()  # at the same moment: not yet
    assert states(club) == ["queued"] * 2
    club.advance(days=1)
    club.once()
    assert club.json("outbox") == [] and len(program.calls()) == 4


@pytest.mark.parametrize("end", ["exit 69", "exit 78", None])
def test_an_outage(club, program, end):
    """The program's fault: one letter is tried, none blamed, and all go once it is over."""
    if end:
        program.ends_by(f"echo 'queue file system is full'; {end}")
    else:
        program.path.rename(program.folder / "away")
    club.once(expect=75)
    assert states(club) == ["queued"] * 2 and len(program.calls()) == (1 if end else 0)
    if end:
        program.ends_by("exit 0")
    else:
        (program.folder / "away").rename(program.path)
    club.advance(days=1)
    club.once()
    assert club.json("outbox") == []
    addressed = [call[4] for call in program.calls()]
    assert {player.address for player in club.players.values()} <= set(addressed)


def test_an_unknown_end_and_the_same_bytes_again(club, program):
    program.ends_by("kill -9 $$")
    club.once()
    assert states(club) == ["trying"] * 2
    program.ends_by("exit 0")
    club.advance(days=1)
    club.once()
    assert club.json("outbox") == []
    letters = [file.read_bytes() for file in program.folder.glob("*.letter")]
    assert len(letters) == 4 and len(set(letters)) == 2


def test_the_null_sender(tmp_path, program):
    """A stranger's `help` is answered from nobody, so that no bounce comes of it."""
    club = Club(tmp_path / "club", outgoing={"url": f"sendmail:{program.path}"})
    guest = club.player("Guest Far", add=False)
    club.send(guest, ADDRESS, "hello", "help")
    club.once()
    assert [call[2:] for call in program.calls()] == [["<>", "--", guest.address]]


def test_check_looks_for_the_program(club, program):
    assert "no errors" in club.run("check")
    assert program.calls() == []
    program.path.unlink()
    assert str(program.path) in club.run_failing("check")


# --- the real one ---


def test_postfix_takes_and_delivers(tmp_path, dovecot, postfix):
    club = ServedClub(tmp_path / "club", dovecot, postfix, relay="sendmail")
    ann, bob = club.player("Ann East"), club.player("Bob West")
    game, letter, _ = club.new_game(ann, bob)
    assert letter.return_path.startswith(f"chess{club.number}+b.")
    club.answer(ann, letter, "e4")
    club.once()
    wait_for(lambda: "1. e4" in bob.newest().text, "the move")
    assert club.json("outbox") == []


def test_postfix_sends_from_nobody(tmp_path, dovecot, postfix):
    club = ServedClub(tmp_path / "club", dovecot, postfix, relay="sendmail")
    guest = club.player("Guest Far", add=False)
    club.send(guest, club.user, "hello", "help")
    club.once()
    answer = guest.newest()
    assert answer.return_path in ("", "<>") and answer.to == guest.address
    assert club.json("outbox") == []
