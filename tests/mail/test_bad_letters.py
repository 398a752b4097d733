"""Letters that are broken, hostile, unreadable or no person's: set aside, read rightly, or left alone; the next letter is always handled."""
import datetime
import email.message
import email.policy
import re
import time

import pytest

from club import ADDRESS, MX, stamp
from letters import mail_date

PROMOTE = "7k/P7/8/8/8/8/8/K7 w - - 0 50"


@pytest.fixture
def pair(club):
    return club.player("Ann East"), club.player("Bob West")


def letter_of(player, letter, body, kind="text/plain", encoding=None, extra="", to=None, mime=True):
    """A letter written byte by byte."""
    player.written = getattr(player, "written", 0) + 1
    head = (f"From: {player.name} <{player.address}>\r\nTo: {to or letter.reply_to}\r\nSubject: Re: {letter.subject}\r\n"
            f"Message-ID: <hand.{player.written}@{player.address.split('@')[1]}>\r\nIn-Reply-To: {letter.message_id}\r\n{extra}")
    if mime:
        head += f"MIME-Version: 1.0\r\nContent-Type: {kind}\r\n" + (f"Content-Transfer-Encoding: {encoding}\r\n" if encoding else "")
    return head.encode() + b"\r\n" + (body if isinstance(body, bytes) else body.encode())


# --- letters that crash or stall libetpan (the first list of FACTS.md) ---


def nested_multiparts(levels):
    parts = [f'Content-Type: multipart/mixed; boundary="b{i}"\r\n\r\n--b{i}\r\n' for i in range(1, levels)]
    return "--b0\r\n" + "".join(parts) + "Content-Type: text/plain\r\n\r\na8=Q\r\n"


KILLERS = {
    "a boundary of one quote": lambda p, l: letter_of(p, l, "a8=Q\r\n", 'multipart/mixed; boundary="\\""'),
    "the same in an inner part": lambda p, l: letter_of(
        p, l, '--x\r\nContent-Type: multipart/mixed; boundary="\\""\r\n\r\na8=Q\r\n--x--\r\n', "multipart/mixed; boundary=x"),
    "150,000 brackets in a header": lambda p, l: letter_of(p, l, "a8=Q\r\n", extra="X-Comment: " + "(" * 150_000 + "\r\n"),
    "150,000 brackets in the type": lambda p, l: letter_of(p, l, "a8=Q\r\n", "text/plain " + "(" * 150_000),
    "850 letters in letters": lambda p, l: letter_of(p, l, "Content-Type: message/rfc822\r\n\r\n" * 850 + "a8=Q\r\n", "message/rfc822"),
    "28,000 letters in letters": lambda p, l: letter_of(p, l, "Content-Type: message/rfc822\r\n\r\n" * 28_000 + "a8=Q\r\n", "message/rfc822"),
    "5,000 multiparts in multiparts": lambda p, l: letter_of(p, l, nested_multiparts(5_000), "multipart/mixed; boundary=b0"),
    "20,000 multiparts in multiparts": lambda p, l: letter_of(p, l, nested_multiparts(20_000), "multipart/mixed; boundary=b0"),
}


@pytest.mark.parametrize("name", KILLERS)
def test_a_killer_is_set_aside_and_the_next_letter_is_handled(club, pair, name):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob, "--fen", PROMOTE)
    before = club.records()
    raw = KILLERS[name](ann, letter)
    assert len(raw) < 2_000_000
    club.deliver(raw, sender=ann.address)
    club.deliver(ann.answer(letter, "Kb2", club.advance(minutes=1)), sender=ann.address)
    began = time.monotonic()
    aside, good = club.take()
    assert time.monotonic() - began < 5  # one second and a little, and two other programs' starts
    assert good["outcome"] == "played" and good["filed"]
    assert aside["outcome"] == "set aside" and aside["state"] == "settled" and aside["filed"], aside["outcome"]
    assert [out["kind"] for out in aside["letters_out"]] == ["set-aside"]
    assert [row["id"] for row in club.json("letters", "--failed")] == [aside["id"]]
    troubles = club.json("status")["troubles"]
    assert [(trouble["kind"], trouble["id"]) for trouble in troubles] == [("set aside", aside["id"])]
    told = [one for one in ann.read_new() if "could not read it" in one.flat]
    assert len(told) == 1 and "It is kept" in told[0].flat
    assert len(club.records()[1].splitlines()) == len(before[1].splitlines()) + 2  # the good move and the notice of it
    club.once()
    assert ann.read_new() == []  # told once


def test_a_killer_from_a_stranger_gets_no_answer(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    eve = club.player("Eve Far", add=False)
    settled = club.settle_raw(eve, KILLERS["a boundary of one quote"](eve, letter))
    assert settled.outcome == "set aside" and not settled.own and not settled.others


# --- letters that libetpan reads wrongly (the second list) ---

MOVE = "a8=Q+"
MISREAD = {
    "= that is no escape": lambda p, l: letter_of(p, l, "a8=Q+\r\n", "text/plain; charset=utf-8", "quoted-printable"),
    "= escaped rightly": lambda p, l: letter_of(p, l, "a8=3DQ+\r\n", "text/plain; charset=utf-8", "quoted-printable"),
    "a soft line end": lambda p, l: letter_of(p, l, "a8=\r\n=3DQ+\r\n", "text/plain; charset=utf-8", "quoted-printable"),
    "an mbox line": lambda p, l: b"From ann@east.example Mon Nov  3 09:00:00 2031\r\n" + letter_of(p, l, MOVE),
    "a BOM before the header": lambda p, l: b"\xef\xbb\xbf" + letter_of(p, l, MOVE),
    "a BOM before the text": lambda p, l: letter_of(p, l, b"\xef\xbb\xbfa8=Q+\r\n", "text/plain; charset=utf-8", "8bit"),
    "a line that is no header": lambda p, l: letter_of(p, l, MOVE, extra="this is no header line\r\n"),
    "a comment in the address": lambda p, l: letter_of(p, l, MOVE).replace(b"Ann East <ann@east.example>", b"Ann (the (best) one) <ann(x)@east.example>"),
    "a bare address with a comment": lambda p, l: letter_of(p, l, MOVE).replace(b"Ann East <ann@east.example>", b"ann@east.example (Ann East)"),
    "no type": lambda p, l: letter_of(p, l, MOVE, mime=False),
    "the type text": lambda p, l: letter_of(p, l, MOVE, "text"),
    "multipart without boundary": lambda p, l: letter_of(p, l, MOVE, "multipart/mixed"),
    "charset x-unknown": lambda p, l: letter_of(p, l, MOVE, "text/plain; charset=x-unknown"),
    "charset unknown-8bit": lambda p, l: letter_of(p, l, MOVE.encode() + b"\r\n\r\nGr\xfc\xdfe", "text/plain; charset=unknown-8bit", "8bit"),
    "charset win-1251": lambda p, l: letter_of(p, l, MOVE.encode() + b"\r\n\r\n\xcf\xf0\xe8\xe2\xe5\xf2", "text/plain; charset=win-1251", "8bit"),
    "charset gb2312 that is gbk": lambda p, l: letter_of(p, l, MOVE.encode() + b"\r\n\r\n\x96\xc4", "text/plain; charset=gb2312", "8bit"),
    "utf-16 in base64": lambda p, l: letter_of(p, l, "//5hADgAPQBRACsADQAKAA==\r\n", "text/plain; charset=utf-16", "base64"),
    "bare LF": lambda p, l: letter_of(p, l, MOVE).replace(b"\r\n", b"\n"),
    "full-width letters": lambda p, l: letter_of(p, l, "ａ８＝Ｑ", "text/plain; charset=utf-8", "8bit"),
    "no-break blanks": lambda p, l: letter_of(p, l, "\u00a050.\u00a0a8=Q+\u200b\u00a0", "text/plain; charset=utf-8", "8bit"),
    "a malformed Return-Path": lambda p, l: b"Return-Path: <<ann@@east.example\r\n" + letter_of(p, l, MOVE),
    "900 header lines": lambda p, l: letter_of(p, l, MOVE, extra="X-A: b\r\n" * 900),
    "an empty part first": lambda p, l: letter_of(p, l, "--x\r\n\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\na8=Q+\r\n--x--\r\n", "multipart/mixed; boundary=x"),
    "an unfinished multipart": lambda p, l: letter_of(p, l, "--x\r\nContent-Type: text/plain\r\n\r\na8=Q+\r\n", "multipart/mixed; boundary=x"),
}


@pytest.mark.parametrize("part", range(2))
def test_what_libetpan_misreads_is_read_rightly(club, pair, part):
    """Each letter is of its own game: one club, many games, one cycle."""
    ann, bob = pair
    names = list(MISREAD)[part::2]
    letters = []
    for _ in names:
        club.run("game", "new", ann.name, bob.name, "--fen", PROMOTE)
    club.once()
    by_game = {letter.game: letter for letter in ann.read_new()}
    for game, name in enumerate(names, 1):
        letters.append((ann, MISREAD[name](ann, by_game[game])))
    for player, raw in letters:
        as_it_is = raw.startswith((b"Return-Path", b"From ", b"\xef"))  # these stand first in the file, or are nothing special
        club.deliver(raw, received=not as_it_is, sender=player.address)
        club.advance(minutes=1)
    rows = club.take()
    assert len(rows) == len(names)
    wrong = [(name, row["outcome"], row["why"]) for name, row in zip(names, rows) if row["outcome"] != "played"]
    assert wrong == []
    for game in range(1, len(names) + 1):
        assert club.json("game", "show", game)["moves"] == ["a8=Q+"]


# --- letters that hold no words ---


@pytest.mark.parametrize("kind, body, code", [
    ("text/plain", "\r\n\r\n", "empty"),
    ("text/plain", "> a8=Q\r\n> and so on\r\n", "empty"),
    ('multipart/encrypted; boundary=x; protocol="application/pgp-encrypted"',
     "--x\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--x\r\nContent-Type: application/octet-stream\r\n\r\nhQEMA\r\n--x--\r\n", "encrypted"),
    ("text/html; charset=utf-8", "<html><body><p>Kb2</p></body></html>\r\n", "html-only"),
    ("image/png", "iVBORw0KGgo=\r\n", None),
])
def test_letters_without_text(club, pair, kind, body, code):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob, "--fen", PROMOTE)
    settled = club.settle_raw(ann, letter_of(ann, letter, body, kind))
    if code == "html-only" and settled.outcome == "played":
        return  # the reading issue has come: HTML is read
    assert not settled.changed and not settled.others and len(settled.own) == 1, settled
    assert code is None or settled.codes == [code]


def test_a_letter_of_more_than_two_megabytes(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob, "--fen", PROMOTE)
    body = ("--x\r\nContent-Type: text/plain\r\n\r\nKb2\r\n--x\r\nContent-Type: image/jpeg\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
            ("/9j/4AAQSkZJRgABAQAAAQABAAD" + "A" * 45 + "\r\n") * 45_000 + "--x--\r\n")
    assert len(body) > 3_000_000
    settled = club.settle_raw(ann, letter_of(ann, letter, body, "multipart/mixed; boundary=x"))
    assert settled.outcome == "played", settled


def test_an_empty_file_stays_waiting_and_stops_nobody(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob, "--fen", PROMOTE)
    club.inbox.deliver(b"", club.now)
    assert club.settle(ann, letter, "Kb2").outcome == "played"
    assert len(club.inbox.waiting()) == 1


def test_a_letter_that_a_person_has_read_already_is_handled(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob, "--fen", PROMOTE)
    name = club.deliver(ann.answer(letter, "Kb2", club.now), seen=True)
    row, = club.take()
    assert row["outcome"] == "played" and row["name"] == name
    assert list(club.inbox.files()) == [name]
    assert club.take() == []


def test_what_a_person_moves_to_new_again_is_known_by_its_name(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob, "--fen", PROMOTE)
    name = club.deliver(ann.answer(letter, "Kb2", club.now))
    club.take()
    (club.inbox.path / "cur" / (name + ":2,S")).rename(club.inbox.path / "new" / name)
    assert club.take() == []


# --- letters that no person wrote ---

AUTOMATIC = {
    "out of office": "Auto-Submitted: auto-replied\r\n",
    "generated": "Auto-Submitted: auto-generated; type=x\r\n",
    "Precedence bulk": "Precedence: bulk\r\n",
    "Precedence junk": "Precedence: junk\r\n",
    "Precedence auto_reply": "Precedence: auto_reply\r\n",
    "Precedence list": "Precedence: list\r\n",
    "a list": "List-Id: <chess.far.example>\r\n",
    "a list by post": "List-Post: <mailto:chess@far.example>\r\n",
    "X-Autoreply": "X-Autoreply: yes\r\n",
    "X-Autorespond": "X-Autorespond: x\r\n",
    "our loop header": f"X-Epistle-Loop: {ADDRESS}\r\n",
}


def test_automatic_mail_is_never_answered_and_never_read(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    before = club.records()
    raws = [letter_of(ann, letter, "e4\r\n", extra=extra) for extra in AUTOMATIC.values()]
    raws += [letter_of(ann, letter, "e4\r\n").replace(b"From: Ann East <ann@east.example>", author) for author in
             (b"From: Mail Delivery System <MAILER-DAEMON@east.example>", b"From: postmaster@east.example")]
    raws.append(letter_of(ann, letter, "--x\r\n\r\ne4\r\n--x\r\nContent-Type: message/disposition-notification\r\n\r\nDisposition: manual-action; displayed\r\n--x--\r\n",
                          "multipart/report; report-type=disposition-notification; boundary=x"))
    raws.append(letter_of(ann, letter, "--x\r\n\r\ne4\r\n--x\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n--x--\r\n",
                          "multipart/report; report-type=delivery-status; boundary=x"))
    for raw in raws:
        club.deliver(raw)
        club.advance(minutes=1)
    club.deliver(letter_of(ann, letter, "e4\r\n"), sender=">")  # Return-Path: <>>
    club.inbox.deliver(b"Return-Path: <>\r\n" + letter_of(ann, letter, "e4\r\n"), club.now)
    club.inbox.deliver(letter.raw, club.now)                    # our own letter comes back
    rows = club.take()
    assert len(rows) == len(raws) + 3
    odd = [(at, row["outcome"], row["kind"]) for at, row in enumerate(rows) if row["outcome"] != "ignored" or row["letters_out"]]
    assert [one for one in odd if one[0] != len(raws)] == []
    kinds = {row["kind"] for row in rows}
    assert {"automatic", "bounce", "receipt", "list", "own"} <= kinds, kinds
    if not odd:
        assert club.records() == before
    assert club.json("letters", "--failed") == []


def test_vacation_with_a_subject_only(club, pair):
    """The subject alone, in answer to our letter: at worst it is asked, never played."""
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    raw = letter_of(ann, letter, "I am away until Monday.\r\n").replace(b"Subject: Re: ", b"Subject: Automatic reply: ")
    settled = club.settle_raw(ann, raw)
    assert not settled.changed and not settled.others and settled.outcome in ("ignored", "asked")


def test_a_bounce_marks_letter_and_address(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    assert letter.return_path.startswith("chess+b.") and letter.return_path.endswith("@club.example")
    report = (f"From: MAILER-DAEMON@far.example\r\nTo: {letter.return_path}\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n"
              "Auto-Submitted: auto-replied\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=x\r\n\r\n"
              "--x\r\n\r\nSorry. 1. e4\r\n--x\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; far.example\r\n\r\n"
              "Final-Recipient: rfc822; ann@east.example\r\nAction: failed\r\nStatus: 5.1.1\r\n--x--\r\n")
    settled = club.settle_raw(None, report.encode(), sender="")
    assert settled.row["kind"] == "bounce" and settled.outcome == "ignored" and not settled.own and not settled.changed
    told, = settled.others  # it was a notice: the opponent waits for its answer
    assert told.to == bob.address and "could not be delivered" in told.flat
    assert club.json("player", "show", "Ann East")["trouble"]
    assert "address" in {trouble["kind"] for trouble in club.json("status")["troubles"]}
    assert [out["state"] for out in club.json("outbox")] == ["bounced"]
    assert club.settle(ann, letter, "e4").outcome == "played"  # somebody reads it all the same


def test_without_tags_a_bounce_is_matched_by_the_returned_message_id(club_with):
    club = club_with(reply_tag="none")
    ann, bob = club.player("Ann East"), club.player("Bob West")
    _, letter, _ = club.new_game(ann, bob)
    report = (f"From: MAILER-DAEMON@far.example\r\nTo: {ADDRESS}\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n"
              "Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n\r\n--x\r\n\r\nSorry.\r\n"
              "--x\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; far.example\r\n\r\nFinal-Recipient: rfc822; ann@east.example\r\n"
              f"Action: failed\r\nStatus: 5.1.1\r\n--x\r\nContent-Type: text/rfc822-headers\r\n\r\nFrom: {ADDRESS}\r\nTo: ann@east.example\r\n"
              f"Message-ID: {letter.message_id}\r\nSubject: x\r\n\r\n--x--\r\n")
    settled = club.settle_raw(None, report.encode(), sender="")
    assert settled.row["kind"] == "bounce" and settled.outcome == "ignored" and not settled.own and not settled.changed
    told, = settled.others  # it was a notice: the opponent waits for its answer
    assert told.to == bob.address and "could not be delivered" in told.flat
    assert [out["state"] for out in club.json("outbox")] == ["bounced"]
    assert club.json("player", "show", "Ann East")["trouble"]
    made_up = report.replace(letter.message_id, "<" + "a" * 26 + "@club.example>")
    assert club.settle_raw(None, made_up.encode(), sender="").outcome == "ignored" and len(club.json("outbox")) == 1


# --- when it came (RULINGS 29) ---


def test_arrival(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    club.advance(days=3)

    def arrival(raw):
        name = club.inbox.deliver(raw, club.now)
        club.advance(minutes=1)
        row, = club.take()
        assert row["name"] == name
        return row["arrival"]

    def received(host, **before):
        return f"Received: from x by {host} with ESMTP id 1;\r\n\t{mail_date(club.now - datetime.timedelta(**before))}\r\n".encode()

    words = lambda: ann.answer(letter, "Ke7", club.now - datetime.timedelta(days=2))  # its Date field lies
    now = lambda: stamp(club.now + datetime.timedelta(minutes=1))
    back = lambda **delta: stamp(club.now - datetime.timedelta(**delta))
    expect = back(hours=2)
    assert arrival(received(MX, hours=2) + words()) == expect
    expect = back(hours=5)
    assert arrival(received(MX, hours=2) + received(MX, hours=5) + words()) == expect      # the unbroken run of our own hosts
    expect = back(hours=2)
    assert arrival(received(MX, hours=2) + received("mx.far.example", hours=3) + received(MX, hours=30) + words()) == expect
    expect = now()
    assert arrival(received("mx.far.example", hours=3) + words()) == expect                # nothing of ours: TIME under --now
    expect = now()
    assert arrival(words()) == expect
    expect = now()
    assert arrival(received(MX, hours=-4) + words()) == expect                             # never later than now


def test_letters_are_settled_by_arrival_whatever_their_names(club, pair):
    ann, bob = pair
    _, letter, _ = club.new_game(ann, bob)
    first, second = ann.answer(letter, "e4", club.now), ann.answer(letter, "d4", club.now)
    begun = club.now
    club.advance(hours=1)
    club.deliver(second, name="1000000000.a.mx")
    now, club.now = club.now, begun
    club.deliver(first, name="1999999999.z.mx")
    club.now = now
    rows = club.take()
    assert [row["outcome"] for row in rows] == ["played", "refused"]
    assert club.json("game", "show", 1)["moves"] == ["e4"]
