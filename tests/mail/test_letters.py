"""The rig itself: letters as mail programs write them, Maildirs, scripted players against a stand-in for the service."""
import datetime
import email.message
import email.policy
import email.utils

import pytest

import games
from club import ADDRESS, Club, START, play
from letters import PROGRAMS, Incoming, Maildir, Player, mail_date, score_of, with_received


class StandIn(Club):
    """Answers like the service, but believes everything and knows no chess: enough to show that players play from their letters."""

    def __init__(self, folder):
        super().__init__(folder)
        self.seen, self.score, self.sides, self.serial = set(), [], [], 0

    def begin(self, white, black):
        self.sides = [white, black]
        self.notify()

    def run(self, *arguments, expect=0, **more):
        if arguments[0] != "once":
            return ""
        for name, file in self.inbox.files().items():
            if name not in self.seen:
                self.seen.add(name)
                self.settle(Incoming(file.read_bytes()))
        return ""

    def settle(self, letter):
        assert letter.to == f"chess+T{len(self.score)}@club.example", letter.to
        assert letter.in_reply_to == letter.references[-1]
        own = [line.strip() for line in letter.text.split("\n") if line.strip() and not line.startswith(">")]
        move = next(line for line in own if line in games.TOPALOV)
        self.score.append(move)
        self.notify()

    def notify(self):
        text = " ".join((f"{i // 2 + 1}. " if i % 2 == 0 else "") + move for i, move in enumerate(self.score))
        for player, colour in zip(self.sides, ("White", "Black")):
            self.serial += 1
            message = email.message.EmailMessage(policy=email.policy.SMTP)
            message["From"] = f"Anytown Chess <{ADDRESS}>"
            message["To"] = player.address
            message["Reply-To"] = f"chess+T{len(self.score)}@club.example"
            message["Subject"] = f"[Anytown Chess #1] {self.sides[0].name} - {self.sides[1].name}"
            message["Date"] = mail_date(self.now)
            message["Message-ID"] = f"<{self.serial}@club.example>"
            message.set_content(f"Dear {player.name},\n\nIt is your move; you have {colour}.\n\nThe moves so far:\n\n    {text}\n")
            player.maildir.deliver(message.as_bytes(), self.now)


@pytest.fixture
def answered():
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["From"] = f"Anytown Chess <{ADDRESS}>"
    message["To"] = "Ann <ann@east.example>"
    message["Reply-To"] = "chess+abc@club.example"
    message["Subject"] = "[Anytown Chess #42] Ann - Bob"
    message["Date"] = mail_date(START)
    message["Message-ID"] = "<abc@club.example>"
    message["References"] = "<first@club.example>"
    message.set_content("Dear Ann,\n\nBob has played 1... e5.\n")
    message.add_alternative("<p>Dear Ann</p>", subtype="html")
    message.make_mixed()
    message.add_attachment(b'[White "Ann"]\n\n1. e4 e5 *\n', "application", "x-chess-pgn", filename="game-42.pgn")
    return Incoming(message.as_bytes())


def test_a_letter_is_read_as_a_mail_program_shows_it(answered):
    assert answered.game == 42
    assert answered.reply_to == "chess+abc@club.example"
    assert answered.references == ["<first@club.example>"]
    assert "Bob has played 1... e5." in answered.text
    assert answered.html.startswith("<p>Dear")
    assert score_of(answered.pgn) == ["e4", "e5"]
    assert answered.date == START


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("text", ["2. Nf3", "♘f3\n\nViele Grüße, schönes Wetter", "e8=Q+\n\n> not a quote of yours\n"])
def test_every_program_writes_what_its_user_wrote(tmp_path, answered, program, text):
    player = Player("Ann Ärger", "ann@east.example", tmp_path / "ann", program)
    raw = player.answer(answered, text, START + datetime.timedelta(hours=1))
    letter = Incoming(raw)
    assert raw.count(b"\n") == raw.count(b"\r\n")
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert letter.to == "chess+abc@club.example"
    assert letter.sender == "ann@east.example"
    assert letter.in_reply_to == "<abc@club.example>"
    assert letter.references == ["<first@club.example>", "<abc@club.example>"]
    assert letter.subject == "Re: [Anytown Chess #42] Ann - Bob"
    lines = [line.rstrip() for line in letter.text.split("\n")]
    assert text.split("\n")[0] in lines
    quotes = program not in ("bare", "base64")
    assert any(line.endswith("Bob has played 1... e5.") for line in lines) == quotes
    order = lines.index(text.split("\n")[0]) < next((i for i, line in enumerate(lines) if "has played" in line), 999)
    assert order == (program != "thunderbird_bottom")


def test_flowed_text_flows(tmp_path, answered):
    player = Player("Ann", "ann@east.example", tmp_path / "ann", "flowed")
    letter = Incoming(player.answer(answered, "Nf3\n" + "word " * 40 + "\n>odd", START))
    assert letter.message.get_content_type() == "text/plain" and letter.message["Content-Type"].params["format"] == "flowed"
    assert sum(line.endswith(" ") for line in letter.text.split("\n")) >= 2
    assert " >odd" in letter.text


def test_message_ids_differ_and_the_same_letter_twice_is_the_same(tmp_path, answered):
    player = Player("Ann", "ann@east.example", tmp_path / "ann")
    first, second = (player.answer(answered, "Nf3", START) for _ in range(2))
    assert Incoming(first).message_id != Incoming(second).message_id


def test_maildirs(tmp_path):
    box = Maildir(tmp_path / "box")
    first = box.deliver(b"Subject: a\r\n\r\nx\r\n", START)
    second = box.deliver(b"Subject: b\r\n\r\nx\r\n", START + datetime.timedelta(minutes=1), seen=True)
    assert list(box.files()) == [first, second]
    assert box.waiting() == [first]
    assert (box.path / "cur" / (second + ":2,S")).read_bytes() == b"Subject: b\n\nx\n"


def test_received_lines_stand_on_top(tmp_path):
    raw = with_received(b"Subject: a\r\n\r\n", "mx.club.example", START, "ann@east.example")
    letter = Incoming(raw)
    assert letter.return_path == "ann@east.example"
    assert "by mx.club.example" in letter.header("Received")
    assert letter.header("Received").endswith("; " + mail_date(START))


def test_scores_are_found():
    assert score_of("The moves so far:\n\n    1. e4 e5 2. Nf3 Nc6\n    3. Bb5 a6\n\nYour move") == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"]
    assert score_of("The moves so far:\n\n    | 1. e4 e5 2. Nf3\n    | Nc6 3. Bb5\n\n") == ["e4", "e5", "Nf3", "Nc6", "Bb5"]
    assert score_of("1.e4 c5 2.Nf3 (=) d6 3.O-O-O+") == ["e4", "c5", "Nf3", "d6", "O-O-O+"]
    assert score_of('[White "1. x"]\n\n1. e4 {good} e8=Q# 1-0') == ["e4", "e8=Q#"]
    assert score_of("Your game number 1. No moves; example \"1. Nf3\" is one") == ["Nf3"]
    assert score_of("nothing") == []


def test_two_players_play_from_their_letters_alone(tmp_path):
    club = StandIn(tmp_path)
    ann, bob = club.player("Ann", "ann@east.example", "gmail"), club.player("Bob", "bob@west.example", "iphone")
    club.begin(ann, bob)
    play(club, ann, bob, games.TOPALOV, remark=lambda ply: f"remark {ply}")
    assert club.score == games.TOPALOV
    assert len(ann.letters) == len(bob.letters) == len(games.TOPALOV) + 1
    assert len(ann.sent) == 44 and len(bob.sent) == 43
