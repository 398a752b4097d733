"""What the service's letters look like on the wire, and how many it writes (RULINGS 36-41)."""
import re

import pytest

from club import ADDRESS, stamp
from letters import Incoming


@pytest.fixture
def pair(club):
    return club.player("Ann Äst", "ann@east.example"), club.player("Bob West", "bob@west.example")


def raw_lines(letter):
    return letter.raw.split(b"\n")


def check_wire(letter):
    """Pure 7 bits, no long line, no blank at a line's end, every field that a letter of ours must have."""
    raw = letter.raw
    assert b"\0" not in raw and max(raw) < 128
    head, body = re.split(rb"\r?\n\r?\n", raw, maxsplit=1)
    ends = {b"\r\n" if line.endswith(b"\r") else b"\n" for line in raw.split(b"\n")[:-1]}
    assert len(ends) == 1  # one kind of line end (in a Maildir the local one)
    for line in raw.split(b"\n"):
        assert len(line.rstrip(b"\r")) <= 998
        assert not re.search(rb"[ \t]\r?$", line), line
    for line in head.split(b"\n"):
        assert len(line) <= 400
    for line in letter.text.split("\n"):
        assert line == line.rstrip() and len(line) <= 78, line
    assert letter.message.get_content_type() in ("multipart/alternative", "multipart/mixed")
    assert letter.part("text/plain") is not None and letter.part("text/html") is not None
    for name in ("Date", "From", "To", "Subject", "Message-ID", "Auto-Submitted", "MIME-Version"):
        assert len(letter.message.get_all(name)) == 1, name
    assert letter.header("Auto-Submitted") in ("auto-generated", "auto-replied")
    assert letter.header("X-Auto-Response-Suppress") == "DR, RN, NRN, OOF, AutoReply"
    assert letter.header("X-Epistle-Loop") == ADDRESS
    assert letter.sender == ADDRESS
    token = re.fullmatch(r"<([a-z2-7]{26})@club\.example>", letter.message_id).group(1)
    assert letter.reply_to == f"chess+{token}@club.example"
    return token


def test_header_fields_and_bytes(club, pair):
    ann, bob = pair
    number, letter, bobs = club.new_game(ann, bob)
    for player, move in zip((ann, bob) * 2, ("e4 (=)\n\nGrüße aus Wien  \n", "e5", "Ke3", "Nc6")):
        club.settle(player, player.newest(), move)
    club.settle(ann, ann.newest(), "pgn")
    club.settle(bob, bob.newest(), "resign")
    tokens = set()
    for player in pair:
        for letter in player.letters:
            token = check_wire(letter)
            assert token not in tokens
            tokens.add(token)
            assert letter.return_path == f"chess+b.{token}@club.example"
            assert letter.header("Delivered-To") == player.address and letter.to == player.address
            assert letter.subject == "[Anytown Chess #1] Ann Äst - Bob West"
    assert "=?utf-8?" in ann.newest().raw.decode("ascii").lower()
    assert any(letter.pgn for letter in ann.letters)


def test_one_thread_for_each_player_and_game(club, pair):
    ann, bob = pair
    one, letter_1, _ = club.new_game(ann, bob)
    two, letter_2, _ = club.new_game(ann, bob)
    for move, reply in (("e4", "e5"), ("Nf3", "Nc6")):
        club.settle(ann, ann.newest(one), move)
        club.settle(bob, bob.newest(one), reply)
    club.settle(ann, ann.newest(two), "d4")
    roots = {one: letter_1.message_id, two: letter_2.message_id}
    for number, root in roots.items():
        seen = []
        for letter in ann.letters:
            if letter.game != number:
                continue
            if seen:
                assert letter.references[0] == root and letter.in_reply_to in letter.references, letter
                assert set(letter.references) & set(seen)
            seen.append(letter.message_id)
        assert len(seen) >= 2
    assert not set(letter.message_id for letter in ann.letters) & set(letter.message_id for letter in bob.letters)
    receipt = next(letter for letter in ann.letters if "has been made" in letter.flat)
    assert receipt.in_reply_to == Incoming(ann.sent[0][1]).message_id  # the receipt answers the player's own letter


def test_odd_message_ids_are_not_echoed(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    for odd in ("<a b@c>", "no brackets", "<x@y>\r\nBcc: eve@far.example", "<" + "x" * 900 + "@y>", "<ü@y>"):
        raw = re.sub(rb"Message-ID: [^\r]*", ("Message-ID: " + odd).encode(), ann.answer(letter, "Ke3", club.now), count=1)
        settled = club.settle_raw(ann, raw)
        assert len(settled.own) == 1
        answer = settled.own[0]
        assert b"eve@" not in answer.raw.split(b"\n\n")[0]
        for identity in [*answer.references, answer.in_reply_to]:
            assert re.fullmatch(r"(<[!-;=?-~]{3,250}>)?", identity), identity
        check_wire(answer)


def test_a_subject_full_of_tricks_is_harmless(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    raw = re.sub(rb"Subject: [^\r]*", b"Subject: =?utf-8?q?x=0D=0ABcc:_eve=40far.example=0D=0A=0D=0Ae4?= {{> help}} *b*", ann.answer(letter, "Ke3", club.now), count=1)
    settled = club.settle_raw(ann, raw)
    assert len(settled.own) == 1 and b"Bcc:" not in settled.own[0].raw.split(b"\n\n")[0]
    assert "In a game:" not in settled.text


def test_a_remark_cannot_become_markup_or_a_command(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    assert club.settle(ann, letter, "e4\n\n<script>alert(1)</script> **bold** [x](http://far.example)\n    {{#game}}{{id}}{{/game}}\n\u202eevil\u202c\n").outcome == "played"
    seen = bob.newest()
    assert "| <script>alert(1)</script> **bold** [x](http://far.example)" in seen.text and "{{#game}}" in seen.text
    assert "<script" not in seen.html and "http://far.example\"" not in seen.html and "<strong>bold" not in seen.html
    for mark in "\u202e\u202c":
        assert mark not in seen.text and mark not in seen.html


def test_names_are_one_harmless_line(club):
    odd = club.player("Pat *x* {{id}} O'Neil & _Sons_ [y](z)", "pat@far.example")
    bob = club.player("Bob West")
    _, letter, bobs = club.new_game(odd, bob)
    check_wire(letter)
    assert letter.text.startswith("Dear Pat *x* {{id}} O'Neil & _Sons_ [y](z),")
    assert "{{id}}" in bobs.text and not re.search("<em>|<a href=.z|& _", bobs.html)
    for name in ("x" * 61, "", "1234", "a@b", "<b>x</b>", '"x'):
        club.run("player", "add", name, "other@far.example", expect=1)


# --- budgets (RULINGS 41) ---


def test_a_players_answers_have_a_brake_and_his_moves_have_none(club_with):
    club = club_with(limits={"player_per_day": 5})
    ann, bob = club.player("Ann East"), club.player("Bob West")
    _, letter, _ = club.new_game(ann, bob)
    found = club.settle_all([(ann, ann.answer(letter, "Ke3", club.now)) for _ in range(8)])
    assert [len(one.own) for one in found] == [1] * 5 + [0] * 3
    assert {one.outcome for one in found} == {"refused"}  # settled all the same
    played = club.settle(ann, letter, "e4")
    assert played.outcome == "played" and len(played.own) == 1 and len(played.others) == 1
    club.advance(hours=25)
    assert len(club.settle(ann, letter, "board").own) == 1


def test_strangers_have_a_budget_by_the_domain_and_by_the_hour(club_with):
    club = club_with(limits={"strangers_per_domain": 3, "strangers_per_hour": 5})
    people = [club.player(f"Guest {i} One", f"guest{i}@far.example", add=False) for i in range(5)]
    people += [club.player(f"Guest {i} Two", f"guest{i}@other.example", add=False) for i in range(5)]
    found = club.settle_all([(guest, guest.write(ADDRESS, "x", "help", club.now)) for guest in people])
    assert [len(one.own) for one in found] == [1, 1, 1, 0, 0, 1, 1, 0, 0, 0]
    for one in found:
        for letter in one.own:
            assert letter.return_path == "" and letter.header("Auto-Submitted") == "auto-replied"


def test_nothing_is_sent_while_the_sender_cannot_write_and_later_it_is(club, pair):
    """The relay (here the folder) refuses for a while: nothing is lost, nobody's clock starts before his notice is there."""
    ann, bob = pair
    number, letter, _ = club.new_game(ann, bob)
    away = club.outgoing.rename(club.folder / "away")
    club.outgoing.write_text("no folder")
    club.deliver(ann.answer(letter, "e4", club.advance(minutes=1)))
    club.once(expect=75)
    assert {row["state"] for row in club.json("outbox")} <= {"queued", "trying"} and len(club.json("outbox")) == 2
    assert club.json("game", "show", number)["running_since"] is None
    club.outgoing.unlink()
    away.rename(club.outgoing)
    club.advance(days=1)
    club.once()
    assert club.json("outbox") == [] and "1. e4" in bob.newest().text
    assert club.json("game", "show", number)["running_since"] == stamp(club.now)
    assert len([one for one in bob.letters if "has played 1. e4" in one.flat]) == 1


def test_the_operator_holds_and_releases_and_drops(club, pair):
    ann, bob = pair
    club.run("game", "new", ann.name, bob.name)
    first, second = (row["id"] for row in club.json("outbox"))
    club.run("outbox", "hold", first)
    club.run("outbox", "drop", second)
    club.once()
    assert ann.read_new() == [] and bob.read_new() == []
    club.run("outbox", "release", first)
    club.once()
    assert len(ann.read_new() + bob.read_new()) == 1
