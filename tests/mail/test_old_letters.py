"""Answers to old letters (RULINGS 13), the same letter again, the same move again (RULINGS 8)."""
import re

import pytest

from club import ADDRESS


@pytest.fixture
def later(club):
    """A game in which 1. e4 e5 2. Nf3 Nc6 was played; Ann has her first letters still."""
    club.ann, club.bob = club.player("Ann East"), club.player("Bob West")
    club.number, *_ = club.new_game(club.ann, club.bob)
    club.receipts = []
    for player, move in zip((club.ann, club.bob) * 2, "e4 e5 Nf3 Nc6".split()):
        settled = club.settle(player, player.newest(), move)
        assert settled.outcome == "played"
        club.receipts.append(settled.own[0])
    return club


def moves(club):
    return club.json("game", "show", club.number)["moves"]


def arrival_of_last_move(club):
    lines = [line for line in club.run("game", "show", club.number, "--record").splitlines() if line.split()[1] == "move"]
    return dict(field.split("=", 1) for field in lines[-1].split()[2:])["at"]


def test_an_old_letter_with_the_current_number_counts(later):
    settled = later.settle(later.ann, later.ann.letters[0], "3. Bb5")
    assert settled.outcome == "played" and moves(later)[-1] == "Bb5"


def test_an_old_letter_without_number_is_asked_and_yes_counts_from_the_first_arrival(later):
    asked = later.settle(later.ann, later.ann.letters[0], "Bb5\n\nHow are you?")
    assert asked.codes == ["old-letter"] and asked.outcome == "asked" and not asked.changed and not asked.others
    assert "3. Bb5" in asked.flat and '"yes"' in asked.flat
    later.advance(hours=30)
    yes = later.settle(later.ann, asked.own[0], "Yes")
    assert yes.codes == ["played"] and len(yes.own) == 1 and len(yes.others) == 1
    assert moves(later)[-1] == "Bb5" and arrival_of_last_move(later) == asked.row["arrival"]
    assert "| How are you?" in later.bob.newest().text
    again = later.settle(later.ann, asked.own[0], "yes!")
    assert not again.changed and not again.others


def test_the_question_is_overtaken_by_another_move(later):
    asked = later.settle(later.ann, later.ann.letters[0], "Bb5")
    current = [letter for letter in later.ann.letters if "Nc6" in letter.text][0]
    assert later.settle(later.ann, current, "Bc4").outcome == "played"
    late = later.settle(later.ann, asked.own[0], "yes")
    assert late.codes == ["conflict"] and not late.changed and not late.others and moves(later)[-1] == "Bc4"


def test_the_answer_to_the_question_may_be_another_move(later):
    asked = later.settle(later.ann, later.ann.letters[0], "Bb5")
    assert later.settle(later.ann, asked.own[0], "Bc4").outcome == "played"
    assert moves(later)[-1] == "Bc4"


@pytest.mark.parametrize("text, outcome", [("Bb5", "asked"), ("3. Bb5", "played"), ("3.Bb5 !?", "played")])
def test_an_answer_to_a_receipt(later, text, outcome):
    settled = later.settle(later.ann, later.receipts[2], text)
    assert settled.outcome == outcome and settled.changed == (outcome == "played")


@pytest.mark.parametrize("text, outcome", [("Bb5", "asked"), ("3. Bb5", "played")])
def test_a_remembered_address(later, text, outcome):
    """The address of a letter of weeks ago, from the address book; nothing quoted, no thread."""
    old = later.ann.letters[0].reply_to
    settled = later.settle_raw(later.ann, later.ann.write(old, "my move", text, later.now))
    assert settled.outcome == outcome and settled.changed == (outcome == "played")


def test_an_old_letter_with_a_wrong_number(later):
    settled = later.settle(later.ann, later.ann.letters[0], "4. Bb5")
    assert settled.codes == ["wrong-number"] and not settled.changed


# --- the same again ---


def test_the_same_letter_twice_is_one_outcome(later):
    raw = later.ann.answer(later.ann.newest(), "Bb5", later.advance(minutes=1))
    later.deliver(raw, sender=later.ann.address)
    later.deliver(raw, sender=later.ann.address)
    first, second = later.take()
    assert first["outcome"] == "played" and second["outcome"] == "ignored" and second["same_as"] == first["id"]
    assert len(first["letters_out"]) == 2 and second["letters_out"] == []
    later.advance(minutes=50)
    third = later.settle_raw(later.ann, raw)
    assert third.outcome == "ignored" and not third.own and not third.others and not third.changed
    later.advance(minutes=20)
    fourth = later.settle_raw(later.ann, raw)  # more than an hour later the old answer comes again
    assert fourth.row["same_as"] == first["id"] and len(fourth.own) == 1 and not fourth.others and not fourth.changed
    assert "3. Bb5" in fourth.flat and "has been made" in fourth.flat
    assert moves(later).count("Bb5") == 1
    later.run("verify")


def test_the_same_message_id_with_another_body_is_a_new_letter(later):
    newest = later.ann.newest()
    raw = later.ann.answer(newest, "Ke3", later.advance(minutes=1), program="bare")
    assert later.settle_raw(later.ann, raw).codes == ["illegal"]
    assert later.settle_raw(later.ann, raw.replace(b"\r\nKe3", b"\r\nBb5")).outcome == "played"


def test_a_letter_that_came_unproven_does_not_hide_the_proven_one(later):
    """The same Message-ID and body, first without token (by a list, say), then with it: RULINGS 8 keeps proof classes apart."""
    newest = later.ann.newest()
    raw = later.ann.answer(newest, "3. Bb5", later.advance(minutes=1), program="bare")
    without = re.sub(rb"[a-z2-7]{26}@", b"x@", raw.replace(newest.reply_to.encode(), ADDRESS.encode()))
    assert later.settle_raw(later.ann, without).codes == ["awaiting-confirm"]
    assert later.settle_raw(later.ann, raw).outcome == "played"


def test_the_same_move_again_is_already_played(later):
    newest = later.ann.newest()
    assert later.settle(later.ann, newest, "Bb5").outcome == "played"
    for text in ("Bb5", "3. Bb5", "f1b5"):
        again = later.settle(later.ann, newest, text)
        assert again.codes == ["already-played"] and not again.changed and len(again.own) == 1 and not again.others
        assert "3. Bb5" in again.flat and "already" in again.flat
    assert later.settle(later.bob, later.bob.newest(), "a6").outcome == "played"
    again = later.settle(later.ann, newest, "Bb5")  # two plies later, by the old letter
    assert again.codes == ["already-played"] and not again.changed


def test_another_move_for_a_played_ply_is_a_conflict(later):
    newest = later.ann.newest()
    assert later.settle(later.ann, newest, "Bb5").outcome == "played"
    for text in ("Bc4", "3. Bc4"):
        other = later.settle(later.ann, newest, text)
        assert other.codes == ["conflict"] and not other.changed and len(other.own) == 1 and not other.others
        assert "3. Bb5" in other.flat and 'You wrote "' + text in other.flat


def test_two_different_moves_in_one_mailbox_the_first_to_arrive_counts(later):
    newest = later.ann.newest()
    late = later.ann.answer(newest, "Bc4", later.now)
    early = later.ann.answer(newest, "Bb5", later.now)
    first = later.now
    later.advance(hours=2)
    later.deliver(late, sender=later.ann.address)     # lies in the mailbox first, came last
    now, later.now = later.now, first
    later.deliver(early, sender=later.ann.address)
    later.now = now
    rows = later.take()
    assert [(row["arrival"] < "2031-11-03T10", row["outcome"]) for row in rows] == [(True, "played"), (False, "refused")]
    assert moves(later)[-1] == "Bb5"
