"""The club's mailbox over POP3, by a real Dovecot."""
import pytest

from served import ServedClub


@pytest.fixture
def served(tmp_path, dovecot):
    def make(**more):
        return ServedClub(tmp_path / "club", dovecot, **{"incoming": "pop3s", **more})
    return make


def begin(club):
    ann, bob = club.player("Ann East"), club.player("Bob West")
    return (ann, bob, *club.new_game(ann, bob))


def moves(club, game):
    return club.json("game", "show", game)["moves"]


@pytest.mark.parametrize("after", ["seen", "delete"])
@pytest.mark.parametrize("scheme", ["pop3s", "pop3"])
def test_letters_are_read_and_left_or_deleted(served, scheme, after):
    club = served(incoming=scheme, mailbox={"after": after})
    club.run("check", "--init")
    assert "no errors" in club.run("check")
    ann, bob, game, letter, _ = begin(club)
    club.answer(ann, letter, "e4\n\nGood luck!")
    assert [row["outcome"] for row in club.take()] == ["played"]
    assert "Good luck!" in bob.newest().text
    assert len(club.letters_there()) == (1 if after == "seen" else 0)
    club.answer(bob, bob.newest(), "e5")
    club.answer(ann, letter, "help")
    assert [row["outcome"] for row in club.take()] == ["played", "done"]
    assert club.take() == [] and moves(club, game) == ["e4", "e5"]
    assert len(club.letters_there()) == (3 if after == "seen" else 0)


def test_looking_changes_nothing(served):
    """`check` logs in; the letters that wait keep waiting, unseen."""
    club = served(mailbox={"after": "delete"})
    ann, bob, game, letter, _ = begin(club)
    club.answer(ann, letter, "e4")
    before = club.letters_there()
    club.run("check")
    assert club.letters_there() == before and club.json("letters") == []


def test_what_cannot_be_done_over_pop3_is_an_error_of_the_configuration(served):
    club = served()
    for key, value in (("after", "move:Processed"), ("also", "Junk")):
        club.servers["mailbox"][key] = value
        club.write_configuration()
        for verb in ("check", "once"):
            told = club.run_failing(verb)
            assert key in told and "POP3" in told and "epistle.conf:" in told, told
        del club.servers["mailbox"][key]
    club.write_configuration()
    club.run("check")


def test_letters_of_a_mailbox_that_was_emptied_and_filled_again_count_once(served):
    """Somebody moves the letters away and back: other numbers, and in Dovecot other UIDLs too."""
    club = served(mailbox={"after": "seen"})
    ann, bob, game, letter, _ = begin(club)
    raw = [ann.answer(letter, "e4", club.now), ann.answer(letter, "games", club.now)]
    for one in raw:
        club.dovecot.append(one, club.now, user=club.user)
    assert len(club.take()) == 2
    with club.dovecot.imap(club.user) as line:
        line.select("INBOX")
        line.store("1:*", "+FLAGS", "\\Deleted")
        line.expunge()
    for one in reversed(raw):
        club.dovecot.append(one, club.now, user=club.user)
    before, letters = club.records(), len(ann.letters)
    club.once()
    ann.read_new()
    assert club.records() == before and len(ann.letters) <= letters + 2 and moves(club, game) == ["e4"]
    club.dovecot.append(bob.answer(bob.newest(), "e5", club.now), club.now, user=club.user)
    club.once()
    assert moves(club, game) == ["e4", "e5"]


def test_only_what_was_settled_is_deleted(served):
    """A letter that comes while the others are settled lies behind them; the numbers of the first session are of no use then."""
    club = served(mailbox={"after": "delete"})
    ann, bob, game, letter, other = begin(club)
    for text in ("games", "e4", "help"):
        club.answer(ann, letter, text)
    with club.dovecot.imap(club.user) as line:  # another program takes the first one away before
        line.select("INBOX")
        line.store("1", "+FLAGS", "\\Deleted")
        line.expunge()
    assert len(club.take()) == 2 and club.letters_there() == {}
    club.answer(bob, other, "board")
    assert len(club.letters_there()) == 1 and len(club.take()) == 1


def test_a_hundred_letters_over_one_log_in(served):
    club = served(mailbox={"after": "delete"})
    ann, bob, game, letter, _ = begin(club)
    for i in range(100):
        club.dovecot.append(ann.answer(letter, "games" if i != 50 else "e4", club.now, program="bare"), club.now, user=club.user)
    log = len(club.dovecot.log)
    club.once()
    assert len(club.json("letters")) == 100 and moves(club, game) == ["e4"] and club.letters_there() == {}
    logins = [line for line in club.dovecot.log[log:].split("\n") if f"pop3-login: Info: Login: user=<{club.user}>" in line]
    assert 1 <= len(logins) <= 6, logins  # DELE counts at QUIT only, so each batch ends its line
    club.run("verify")
