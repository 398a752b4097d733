"""Who wrote it: tokens, the From beside them, the confirm letter (RULINGS 1-6)."""
import re

import pytest

from club import ADDRESS, MX
from letters import Incoming


@pytest.fixture
def pair(club):
    return club.player("Ann East"), club.player("Bob West")


def unproven(player, now, text, to=ADDRESS, **more):
    """A letter that answers none: no token anywhere."""
    return player.write(to, "chess", text, now, **more)


def entries(club, number, kind):
    """The record's entries of a kind, as dictionaries."""
    return [dict(field.split("=", 1) for field in line.split()[2:]) for line in club.run("game", "show", number, "--record").splitlines()
            if line.split()[1] == kind]


def rewrite(raw, *changes):
    """Plain changes in a letter's bytes; each must find its place."""
    for old, new in changes:
        assert old.encode() in raw, old
        raw = raw.replace(old.encode(), new.encode())
    return raw


def token_of(letter):
    return re.search(r"\+([a-z2-7]{26})@", letter.reply_to).group(1)


# --- the confirm rung ---


def test_a_forged_from_changes_nothing_and_the_registered_address_is_asked(club, pair):
    ann, bob = pair
    number, *_ = club.new_game(ann, bob)
    forged = club.settle_raw(ann, unproven(ann, club.now, "1. e4"), sender="mallory@far.example")
    assert forged.codes == ["awaiting-confirm"] and forged.state == "awaiting" and not forged.changed and not forged.others
    assert len(forged.own) == 1 and forged.own[0].to == "ann@east.example" and 'It says "1. e4"' in forged.flat
    arrival = forged.row["arrival"]
    club.advance(hours=20)
    confirmed = club.settle(ann, forged.own[0], "confirm")
    assert confirmed.codes == ["played"] and len(confirmed.others) == 1 and len(confirmed.own) == 1
    assert [entry["at"] for entry in entries(club, number, "move")] == [arrival]
    first = club.json("letter", forged.row["id"])
    assert (first["state"], first["outcome"]) == ("settled", "played")
    again = club.settle(ann, forged.own[0], "Confirm\n")
    assert not again.changed and again.outcome in ("ignored", "refused") and not again.others


def test_a_second_unproven_move_for_the_same_ply_is_not_kept(club, pair):
    ann, bob = pair
    number, *_ = club.new_game(ann, bob)
    first = club.settle_raw(ann, unproven(ann, club.now, "1. e4"))
    second = club.settle_raw(ann, unproven(ann, club.now, "1. d4"))
    assert second.codes == ["awaiting-other"] and not second.changed and len(second.own) <= 1
    assert club.settle(ann, second.own[0], "confirm").codes == ["confirm-nothing"]
    assert club.settle(ann, first.own[0], "confirm").codes == ["played"]
    assert club.json("game", "show", number)["moves"] == ["e4"]


def test_a_confirmation_after_48_hours_counts_from_its_own_arrival(club, pair):
    ann, bob = pair
    number, *_ = club.new_game(ann, bob)
    asked = club.settle_raw(ann, unproven(ann, club.now, "1. e4"))
    club.advance(hours=47)
    club.once()
    assert club.json("letter", asked.row["id"])["state"] == "awaiting"
    club.advance(hours=2)
    club.once()
    expired = club.json("letter", asked.row["id"])
    assert (expired["state"], expired["outcome"]) == ("settled", "refused")
    assert club.records() and not entries(club, number, "move")
    late = club.settle(ann, asked.own[0], "confirm")
    assert late.codes == ["played"]
    assert [entry["at"] for entry in entries(club, number, "move")] == [late.row["arrival"]]


def test_after_the_expiry_another_unproven_move_may_wait(club, pair):
    ann, bob = pair
    club.new_game(ann, bob)
    club.settle_raw(ann, unproven(ann, club.now, "1. e4"))
    club.advance(hours=49)
    club.once()
    assert club.settle_raw(ann, unproven(ann, club.now, "1. d4")).codes == ["awaiting-confirm"]


def test_the_proven_move_came_before_the_confirmation(club, pair):
    ann, bob = pair
    number, letter, _ = club.new_game(ann, bob)
    asked = club.settle_raw(ann, unproven(ann, club.now, "1. e4"))
    assert club.settle(ann, letter, "d4").outcome == "played"
    late = club.settle(ann, asked.own[0], "confirm")
    assert late.codes == ["conflict"] and not late.changed
    assert club.json("game", "show", number)["moves"] == ["d4"]


def test_without_token_and_without_number_it_is_asked(club, pair):
    ann, bob = pair
    club.new_game(ann, bob)
    asked = club.settle_raw(ann, unproven(ann, club.now, "e4"))
    assert asked.codes == ["number-needed"] and not asked.changed and not asked.others and len(asked.own) == 1


@pytest.mark.parametrize("text", ["resign", "game 1: resign", "accept", "decline", "challenge Bob West", "offer draw"])
def test_what_needs_full_proof_is_not_done_without(club, pair, text):
    ann, bob = pair
    _, letter, bobs = club.new_game(ann, bob)
    club.settle(bob, bobs, "offer draw")
    settled = club.settle_raw(ann, unproven(ann, club.now, text))
    assert not settled.changed and not settled.others and settled.outcome == "refused", settled
    assert settled.codes in (["needs-proof"], ["offer-already"])


def test_only_the_name_in_from_is_asked_and_only_about_his_own_side(club, pair):
    """Bob has Ann's letter (a copy) and answers it: the confirm letter goes to Bob, about Bob's side, never to Ann."""
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    club.settle(ann, letter, "e4")
    settled = club.settle_raw(bob, bob.answer(ann.newest(), "1... e5", club.now))
    assert settled.codes == ["awaiting-confirm"] and not settled.others and settled.own[0].to == bob.address
    assert "confirm" in settled.text and not settled.changed


# --- tokens in strange hands ---


@pytest.mark.parametrize("text", ["resign", "accept", "decline", "Resign.", "accept\n\nThank you"])
def test_a_copied_opponent_who_answers_all_ends_nothing(club, pair, text):
    """Ann writes to the service with Bob in Cc; Bob presses `reply to all` and writes `resign`, or `accept`."""
    ann, bob = pair
    _, letter, bobs = club.new_game(ann, bob)
    club.settle(ann, letter, "e4 (=)")
    copy = Incoming(ann.answer(ann.newest(), "e4 (=)", club.now, cc=bob.address))
    raw = bob.answer(copy, text, club.now, to=f"{ann.address}, {copy.to}")
    settled = club.settle_raw(bob, raw)
    assert not settled.changed and not settled.others and settled.outcome in ("refused", "asked"), settled
    assert len(settled.own) == 1 and settled.own[0].to == bob.address


@pytest.mark.parametrize("text", ["e4", "1. e4", "resign", "accept", "confirm", "board", "games", "help me", "challenge Bob West"])
def test_a_stolen_token_is_worth_nothing_to_a_stranger(club, pair, text):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    raw = rewrite(ann.answer(letter, text, club.now), ("ann@east.example>", "mallory@far.example>"), ("From: Ann East", "From: Mallory"))
    settled = club.settle_raw(None, raw, sender="mallory@far.example")
    assert not settled.changed and not settled.others and settled.outcome == "ignored", settled
    assert not (club.outgoing / "mallory@far.example").exists()


def test_tokens_of_two_players_prove_nothing(club, pair):
    ann, bob = pair
    _, letter, bobs = club.new_game(ann, bob)
    raw = rewrite(ann.answer(letter, "e4", club.now), (f"To: {letter.reply_to}", f"To: {letter.reply_to}, {bobs.reply_to}"))
    settled = club.settle_raw(ann, raw)
    assert not settled.changed and not settled.others and settled.outcome == "asked", settled
    numbered = club.settle_raw(ann, rewrite(ann.answer(letter, "1. e4", club.now), (f"To: {letter.reply_to}", f"To: {letter.reply_to}, {bobs.reply_to}")))
    assert numbered.codes == ["awaiting-confirm"] and not numbered.changed


@pytest.mark.parametrize("authserv, verdict, proven", [(MX, "fail", False), (MX, "pass", True), ("mx.far.example", "fail", True)])
def test_a_dmarc_failure_counts_from_our_own_host_only(club, pair, authserv, verdict, proven):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    raw = ann.answer(letter, "e4", club.now)
    raw = f"Authentication-Results: {authserv}; spf=none; dmarc={verdict} header.from=east.example\r\n".encode() + raw
    settled = club.settle_raw(ann, raw)
    assert settled.row["proof"] == ("token" if proven else "none"), settled
    assert settled.changed == proven


def test_a_dmarc_failure_told_below_a_strange_received_line_is_not_ours(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    raw = (b"Received: from a by relay.far.example; Mon, 3 Nov 2031 08:00:00 +0000\r\n"
           b"Authentication-Results: mx.club.example; dmarc=fail\r\n") + ann.answer(letter, "e4", club.now)
    assert club.settle_raw(ann, raw).outcome == "played"


@pytest.mark.parametrize("text", ["resign", "accept"])
def test_resign_in_answer_to_an_old_letter_is_asked(club, pair, text):
    ann, bob = pair
    _, letter, bobs = club.new_game(ann, bob)
    club.settle(ann, letter, "e4")
    club.settle(bob, bob.newest(), "e5 (=)")
    settled = club.settle(ann, letter, text)
    assert settled.codes == ["needs-current"] and not settled.changed and not settled.others
    if text == "resign":  # the answer is of the current ply
        assert club.settle(ann, settled.own[0], text).codes == ["resigned"]


# --- where the token may stand ---


@pytest.mark.parametrize("place", ["To", "Cc", "In-Reply-To", "References", "Delivered-To", "X-Original-To", "Envelope-To", "upper case", "Subject"])
def test_the_token_is_found(club, pair, place):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    token = token_of(letter)
    bare = {"In-Reply-To": letter.message_id, "References": f"<x@far.example> {letter.message_id}", "Cc": letter.reply_to, "Delivered-To": letter.reply_to,
            "X-Original-To": letter.reply_to, "Envelope-To": letter.reply_to}
    subject = f"Re: chess [{token}]" if place == "Subject" else "Re: chess"
    to = letter.reply_to if place == "To" else f"CHESS+{token.upper()}@CLUB.EXAMPLE" if place == "upper case" else ADDRESS
    raw = ann.write(to, subject, "e4", club.now, extra={place: bare[place]} if place in bare else {})
    settled = club.settle_raw(ann, raw)
    assert settled.outcome == "played", settled


def test_a_token_with_one_letter_changed_is_none(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    token = token_of(letter)
    for at in (0, 5, 12, 25):
        wrong = token[:at] + ("a" if token[at] != "a" else "b") + token[at + 1:]
        settled = club.settle_raw(ann, ann.write(f"chess+{wrong}@club.example", "x", "e4", club.now))
        assert settled.row["proof"] == "none" and not settled.changed


def test_with_reply_tag_none_the_token_stands_in_the_subject(club_with):
    club = club_with(reply_tag="none")
    ann, bob = club.player("Ann East"), club.player("Bob West")
    _, letter, _ = club.new_game(ann, bob)
    assert letter.reply_to == ADDRESS and letter.return_path == ADDRESS
    token = re.search(r"\[([a-z2-7]{26})\]", letter.subject).group(1)
    raw = ann.write(ADDRESS, f"Re: {letter.subject}", "e4", club.now)
    assert club.settle_raw(ann, raw).outcome == "played"
    assert club.settle(bob, bob.newest(), "e5").outcome == "played"
    assert token not in club.run("letters")


# --- people ---


def test_strangers_are_answered_once_a_day_and_only_register_and_help(club):
    eve = club.player("Eve Far", add=False)
    for text in ("e4", "1. e4", "resign", "Hello, who are you?", "board", "games", "challenge Bob", "confirm", "yes", "", "register", "helpp"):
        settled = club.settle_raw(eve, unproven(eve, club.now, text))
        assert settled.outcome == "ignored" and not settled.own, (text, settled)
    settled = club.settle_raw(eve, unproven(eve, club.now, "help"))
    assert settled.codes == ["help"] and len(settled.own) == 1 and settled.own[0].return_path == ""
    for text in ("help", "register Eve Far", "help"):
        assert not club.settle_raw(eve, unproven(eve, club.now, text)).own
    club.advance(hours=25)
    assert len(club.settle_raw(eve, unproven(eve, club.now, "register Eve Far")).own) == 1
    assert club.json("player", "list") == []


def test_a_registration_is_confirmed_from_its_address_only(club):
    eve, mal = club.player("Eve Far", add=False), club.player("Mal Ory", add=False)
    asked = club.settle_raw(eve, unproven(eve, club.now, "register Eve Far"))
    stolen = club.settle_raw(mal, mal.answer(asked.own[0], "confirm", club.now))
    assert stolen.outcome == "ignored" and club.json("player", "list") == []
    club.advance(days=8)
    club.once()
    late = club.settle(eve, asked.own[0], "confirm")
    assert late.codes == ["registration-gone"] and club.json("player", "list") == []


def test_registration_closed_and_names_taken(club_with):
    club = club_with(registration="closed")
    eve = club.player("Eve Far", add=False)
    assert club.settle_raw(eve, unproven(eve, club.now, "register Eve Far")).codes == ["registration-closed"]
    club.play_section["registration"] = "open"
    club.write_configuration()
    club.run("player", "add", "Eve Far", "other@eve.example")
    club.advance(days=2)
    assert club.settle_raw(eve, unproven(eve, club.now, "register eve far")).codes == ["name-taken"]


def test_a_blocked_player_is_stored_and_nothing_else(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    club.run("player", "block", "Ann East")
    settled = club.settle(ann, letter, "e4")
    assert settled.outcome == "ignored" and not settled.own and not settled.others and not settled.changed and "blocked" in settled.why
    club.run("player", "block", "Ann East", "--off")
    assert club.settle(ann, letter, "e4\n").outcome == "played"


def test_two_players_at_one_address(club):
    """The token says which of the two; without it they are asked. Subject and first line name the addressee."""
    home = "home@east.example"
    ann, carl = club.player("Ann East", home), club.player("Carl East", home)
    bob = club.player("Bob West")
    ann.maildir = carl.maildir
    club.new_game(ann, bob)
    club.new_game(carl, bob)
    letters = {letter.game: letter for letter in ann.letters + carl.letters}
    assert letters[1].text.startswith("Dear Ann East,") and letters[2].text.startswith("Dear Carl East,")
    assert "Ann East" in letters[1].subject and "Carl East" in letters[2].subject
    club.deliver(carl.answer(letters[1], "e4", club.advance(minutes=1)))  # his From, her token
    club.deliver(ann.answer(letters[2], "d4", club.advance(minutes=1)))
    club.deliver(unproven(ann, club.advance(minutes=1), "1. h4"))
    first, second, third = club.take()
    assert [(row["outcome"], row["game"]) for row in (first, second)] == [("played", 1), ("played", 2)]
    assert third["outcomes"][0]["detail"]["code"] == "which-player" and len(third["letters_out"]) == 1
    assert club.json("game", "show", 1)["moves"] == ["e4"] and club.json("game", "show", 2)["moves"] == ["d4"]


@pytest.mark.parametrize("header", ["From: ann@east.example, bob@west.example", "From: ann@east.example\r\nFrom: bob@west.example", "X-From: ann@east.example",
                                    "From: <>", "From: Undisclosed"])
def test_a_letter_with_not_exactly_one_author_does_nothing(club, pair, header):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    raw = re.sub(rb"From: [^\r]*", header.encode(), ann.answer(letter, "e4", club.now), count=1)
    settled = club.settle_raw(ann, raw)
    assert settled.outcome in ("ignored", "set aside") and not settled.changed and not settled.others and not settled.own
