"""What an attacker tried once and got: each must stay impossible."""
import os
import sqlite3

import pytest

from club import ADDRESS


@pytest.fixture
def pair(club):
    return club.player("Ann East"), club.player("Bob West")


def test_a_token_of_before_a_restored_copy_fits_no_new_letter(club, pair):
    """A store brought back from its copy gives out letter numbers again; Bob's old token must not prove Ann's resignation."""
    ann, bob = pair
    number, start, _ = club.new_game(ann, bob)
    copy = club.folder / "copy.db"
    with sqlite3.connect(club.store) as store, sqlite3.connect(copy) as target:
        store.backup(target)
    club.settle(ann, start, "e4")
    bobs = bob.newest()
    for leftover in club.folder.glob("epistle.db*"):
        leftover.unlink()
    copy.rename(club.store)
    club.last_letter = 0
    club.known_records = None
    club.deliver(ann.answer(start, "board", club.advance(minutes=1)))
    club.once()
    ids = {row["id"] for row in club.json("letters")}
    club.deliver(ann.write(bobs.reply_to, "chess", "resign", club.advance(minutes=1)))
    club.once()
    [forged] = [club.json("letter", row["id"]) for row in club.json("letters") if row["id"] not in ids]
    assert forged["proof"] == "none" and club.json("game", "show", number)["result"] == "*"


def test_forged_letters_do_not_silence_the_player(club_with):
    club = club_with(limits={})
    ann, bob = club.player("Ann East"), club.player("Bob West")
    number, start, _ = club.new_game(ann, bob)
    for count in range(40):
        club.deliver(ann.write(ADDRESS, "chess", f"board\n\nletter {count}", club.now), sender="mallory@far.example")
    club.once()
    assert len(ann.read_new()) == 10
    assert len(club.settle(ann, start, "Nf6").own) == 1
    confirm = club.settle_raw(ann, ann.write(ADDRESS, "chess", "1. e4", club.advance(minutes=1)))
    assert confirm.codes == ["awaiting-confirm"] and len(confirm.own) == 1
    assert any("no answer" in club.json("letter", row["id"])["why"] for row in club.json("letters"))


def test_the_envelope_senders_address_proves_nothing(club, pair):
    ann, bob = pair
    club.new_game(ann, bob)
    tagged = ann.newest().reply_to.replace("chess+", "chess+b.")
    for text in ("e4", "resign"):
        settled = club.settle_raw(ann, ann.write(tagged, "chess", text, club.advance(minutes=1)))
        assert settled.row["proof"] == "none" and not settled.changed


@pytest.mark.parametrize("address", [ADDRESS, "Chess@CLUB.example", "chess+abc@club.example"])
def test_the_service_does_not_answer_itself(club, pair, address):
    ann, _ = pair
    raw = ann.write(ADDRESS, "chess", "help", club.now).replace(ann.address.encode(), address.encode())
    settled = club.settle_raw(ann, raw)
    assert settled.outcome == "ignored" and not settled.own and not settled.others


def test_a_game_named_above_a_bare_move_is_asked_about(club, pair):
    ann, bob = pair
    first, letter, _ = club.new_game(ann, bob)
    second, *_ = club.new_game(ann, bob)
    asked = club.settle(ann, letter, f"game {second}\ne4")
    assert asked.codes == ["which-game"] and not asked.changed
    assert club.settle(ann, letter, f"game {first}\ne4").changed


def test_a_letter_to_two_games_at_once_is_asked_about(club, pair):
    ann, bob = pair
    _, one, _ = club.new_game(ann, bob)
    _, two, _ = club.new_game(ann, bob)
    both = club.settle_raw(ann, ann.write(f"{one.reply_to}, {two.reply_to}", "chess", "e4", club.advance(minutes=1)))
    assert both.codes == ["which-game"] and not both.changed


@pytest.mark.parametrize("name", ["resign", "Nf3", "game 1", "Anytown Chess"])
def test_names_that_are_commands_are_refused(club, name):
    stranger = club.player("Zoe Far", add=False)
    settled = club.settle_raw(stranger, stranger.write(ADDRESS, "chess", f"register {name}", club.advance(minutes=1)))
    assert "name-bad" in settled.codes or not settled.own


def test_a_file_that_cannot_be_opened_does_not_stop_the_others(club, pair):
    """A dangling link and a folder lie there for everybody; a file of mode 000 stops everybody but root."""
    ann, bob = pair
    number, start, _ = club.new_game(ann, bob)
    new = club.inbox.path / "new"
    os.symlink("/nowhere", new / "0.link")
    (new / "0.folder").mkdir()
    (new / "0.closed").write_text("x")
    (new / "0.closed").chmod(0)
    club.deliver(ann.answer(start, "e4", club.advance(minutes=1)))
    club.once()
    assert "1. e4" in club.run("game", "show", number, "--pgn")


def test_a_mailbox_that_has_gone_is_told_and_not_made(club, pair):
    ann, bob = pair
    away = club.inbox.path.rename(club.folder / "away")
    club.run("game", "new", ann.name, bob.name)
    club.once(expect=75)
    assert not club.inbox.path.exists() and len(ann.read_new()) == 1
    away.rename(club.inbox.path)
    club.once()


def test_what_was_not_done_is_said(club, pair):
    ann, bob = pair
    _, start, _ = club.new_game(ann, bob)
    settled = club.settle(ann, start, "e4\n\nok then\n\nresign")
    assert not settled.changed and 'your move "e4" has not been made' in settled.own[0].flat
    offered = club.settle(ann, start, "e4 (=)")
    assert "offer of a draw has been passed on" in offered.own[0].flat
