"""RULINGS 10: no line of any letter of ours, sent back unquoted with its own valid token, reads as a command or a move.

One club goes through every kind of letter and as many outcomes as letters can provoke. Then every letter that was sent comes back
from its receiver: its whole text as new text, each paragraph of it, and each line. Nothing is done, nothing passed on, nothing sent
but one answer.
"""
import re

from club import ADDRESS, Club
from letters import Incoming

KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 20"
PROMOTE = "7k/P7/8/8/8/8/8/K7 w - - 0 50"
EVERYTHING = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PINNED = "4k3/8/8/8/1b6/8/3N4/R3K2R w KQ - 0 30"
CHECK = "4k3/8/8/8/8/8/4r3/R3K2R w KQ - 0 30"
ATTACKED = "3rk3/8/8/8/8/8/8/R3K2R w KQ - 0 12"
EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 9"


class Scenes:
    """The scenario: what was sent in it lies in the players' folders."""

    def __init__(self, folder):
        self.club = Club(folder, operator="ann@east.example", limits={"player_per_day": 100000, "strangers_per_day": 1000, "strangers_per_hour": 100000, "strangers_per_domain": 100000})
        self.ann, self.bob, self.carl = (self.club.player(name, options=("--timezone", zone)) for name, zone in
                                         (("Ann East", "UTC"), ("Bob West", "America/St_Johns"), ("Carl von Nord", "Europe/Vienna")))
        self.codes, self.kinds = set(), set()
        self.play()

    def note(self, row):
        self.codes |= {outcome["detail"]["code"] for outcome in row["outcomes"]}
        self.codes |= {"fault " + outcome["detail"]["fault"]["code"] for outcome in row["outcomes"] if "fault" in outcome["detail"]}
        self.kinds |= {out["kind"] for out in row["letters_out"]}

    def say(self, player, letter, *texts):
        """Answers to one letter, one cycle."""
        for text in texts:
            self.club.deliver(player.answer(letter, text, self.club.advance(minutes=1)), sender=player.address)
        return self.cycle(player)

    def write(self, player, *texts):
        for text in texts:
            self.club.deliver(player.write(ADDRESS, "chess", text, self.club.advance(minutes=1)), sender=player.address)
        return self.cycle(player)

    def cycle(self, player):
        for row in self.club.take():
            self.note(row)
        return player.newest()

    def new_game(self, white, black, *options):
        self.kinds.add("start")
        return self.club.new_game(white, black, *options)

    def play(self):
        club, ann, bob, carl = self.club, self.ann, self.bob, self.carl
        number, letter, bobs = self.new_game(ann, bob)
        # refusals of every kind
        self.say(ann, letter, "Ke3", "e2e5", "Bc4", "O-O", "exd3", "e4e5", "h7h6", "e5", "Ra3", "Bb1", "d2d1=Q", "e3=Q", "P-K4", "Nf9", "N", "Nf", "Jf3",
                 "Nf9\nKe2", "e4\nd4", "resing", "e4\nresign", "accept", "decline", "I had a hard week, and I should not\nresign.\nSee you", "2. e4",
                 "game 77: e4", "game 77", "game 2: e4", "1. e4 e5 2. Nf3", "1. d4 e5", "claim repetition", "if e5 then Nf3", "leave 1.1. to 2.1.",
                 "What do you think?", "Just words.", "", "confirm", "yes", "register Ann East", "challenge Nobody", "challenge Ann East", "challenge",
                 "challenge Bob West at noon", "withdraw", "arbiter: help me", "set letters es", "note x", "seal e4", "\n".join(["board"] * 40))
        self.say(ann, letter, "board", "pgn", "games", f"game {number}", "help", "help moves", "ping", "board\npgn\nping")
        for kind, body in (("text/html", "<p>e4</p>"), ("multipart/encrypted; boundary=x", "--x\r\n\r\nx\r\n--x--\r\n"), ('multipart/mixed; boundary="\\""', "e4"),
                           ("image/png", "x")):
            raw = ann.answer(letter, "e4", club.advance(minutes=1), program="bare")
            club.deliver(re.sub(rb"\r\n\r\n.*", b"\r\n\r\n" + body.encode(), re.sub(rb"Content-Type: [^\r]*", b"Content-Type: " + kind.encode(), raw), flags=re.S))
        self.cycle(ann)
        # a game with remarks, an offer, a repetition, a conflict, an old letter
        self.say(bob, bobs, "e5", "offer draw", "offer draw")
        self.say(ann, ann.newest(), "decline\n\nresign is not what I do.\ne4 will come.")
        self.say(ann, letter, "e4 (=)\n\nHow are you?\n1. d4\nis better, you say\nresign?\nYours, Ann")
        self.say(ann, letter, "e4 (=)\n\nHow are you? After\n1. d4 d5 you would have to resign, accept and so on.\nYours, Ann")
        self.say(ann, letter, "e4", "1. e4", "d4", "1. d4")
        self.say(ann, letter, "2. d4")
        self.say(bob, bob.newest(), "e5\n\nThe move\nNf3\nwould please me.", "1... e5")
        self.say(ann, ann.newest(), "1. e4 c5 2. Nf3", "1. e4 e5", "1...e5 2. Ke3", "e5")
        asked = self.say(ann, letter, "Nf3")
        self.say(ann, letter, "resign", "3. Nf3")
        self.say(ann, asked, "yes", "yes")
        self.say(bob, bob.newest(), "Nc6")
        # unproven letters
        self.write(ann, "Bb5", "resign", "challenge Bob West")
        asked = self.write(ann, "3. Bb5\n\nHello Bob")
        self.write(ann, "3. Bc4")
        self.say(ann, asked, "confirm", "confirm")
        self.say(ann, ann.newest(), "Ba4")
        club.advance(days=80)
        self.say(bob, bob.newest(), "a6")                                     # after its deadline
        self.say(ann, ann.newest(), "offer draw")
        self.say(bob, bob.newest(), "accept\n\nThank you!")
        self.say(bob, bob.newest(), "e4", "resign", "accept")
        # other ends, other positions
        positions = []
        for fen, texts in ((KNIGHTS, ("Nd2", "Ke3")), (PROMOTE, ("a8", "a8=K", "Ka2=Q", "a8=Q+")), (EVERYTHING, ("Kd2", "Nd3f2", "Bb5", "dxe7", "O-O-O-O")),
                           (PINNED, ("Nf3", "Ra8")), (CHECK, ("Ra2", "O-O", "Kf2", "Kd1")), (ATTACKED, ("O-O-O", "Kd1", "O-O")), (EN_PASSANT, ("exd6", "dxe4")),
                           ("6k1/8/8/8/8/8/8/R3K2R b KQ - 0 12", ()), ("4k2r/8/8/8/8/8/6r1/4K2R w K - 0 3", ("O-O", "Bf1")),
                           ("4k3/8/8/8/8/2p5/1P6/4BK2 w - - 0 40", ("Bxc3",)), ("4k3/8/8/8/8/4p3/4P3/4K3 w - - 0 40", ("e4", "exe3", "e3"))):
            positions.append((int(club.run("game", "new", ann.name, carl.name, "--fen", fen).split()[1]), texts))
        club.once()
        for number, texts in positions:
            letter = ann.newest(number)
            for text in texts:
                club.deliver(ann.answer(letter, text, club.advance(minutes=1)), sender=ann.address)
        self.cycle(ann)
        for white, black, fen, text in ((ann, bob, "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7"), (carl, bob, "8/8/8/8/8/3k4/1p6/K7 w - - 0 1", "Kxb2"),
                                        (bob, carl, "7k/8/6K1/8/8/8/8/R7 w - - 0 1", "Ra8")):
            _, letter, _ = self.new_game(white, black, "--fen", fen)
            self.say(white, letter, text)
        _, letter, _ = self.new_game(carl, bob, "--time", "3d/move")
        self.say(carl, letter, "resign\n\nYou won fairly; after Nf3 I must resign. And e4 was no good.")
        self.new_game(bob, carl, "--time", "none")
        number, *_ = self.new_game(carl, bob)
        club.run("game", "move", number, "e4")
        club.run("game", "move", number, "e5")
        club.once()
        self.kinds.add("entered")
        self.write(carl, "1. d4", f"game 1: 1. d4", "1. d4 d5")
        # registration and challenges
        dora, emil = (club.player(name, add=False) for name in ("Dora 1. e4", "Emil Accept"))
        for player in (dora, emil):
            letter = self.write(player, "help", f"register {player.name}", "register Ann East")
            register = [one for one in player.letters if '"confirm"' in one.text and player.name in one.text][0]
            self.say(player, register, "confirm", "confirm")
        letter = self.say(emil, emil.newest(), "games", "challenge Dora 1. e4 white 3d/move\n\nLet us play.\naccept\nplease", "challenge Dora 1. e4")
        self.say(dora, [one for one in dora.read_new() + dora.letters if "invites you" in one.flat][-1], "decline\n\nNot now.")
        self.say(emil, emil.newest(), "challenge bob@west.example")
        self.say(bob, bob.newest(), "accept\n\nGladly.", "accept", "decline")
        self.say(emil, emil.newest(), "challenge Carl von Nord black 10/50d", "challenge Carl von Nord")
        club.advance(days=40)
        club.once()
        self.outages()

    def outages(self):
        """The operator is a player here, so that what he is told comes back too; a mailbox that went and was told of while it was away, one that
        was told of later, a relay that was away."""
        club, inbox = self.club, self.club.inbox.path
        for folder, words in ((inbox, "The mailbox cannot be read"), (inbox, "The mailbox could not be read"), (club.outgoing, "Letters could not be sent")):
            away = folder.with_name("away")
            folder.rename(away)
            if folder != inbox:
                club.run("game", "new", self.carl.name, self.bob.name)
            club.once(expect=75)
            club.advance(hours=1)
            if words.endswith("cannot be read"):
                club.once(expect=75)
            away.rename(folder)
            club.advance(minutes=1)
            club.once()
            assert words in [letter.subject.split("] ")[-1] for letter in self.ann.read_new()]
            self.kinds.add("outage")

    def letters(self):
        for player in self.club.players.values():
            player.read_new()
            for letter in player.letters:
                yield player, letter


def pieces(text):
    """The whole, each paragraph, each line."""
    found = [text]
    found += re.split(r"\n\s*\n", text)
    found += text.split("\n")
    return [piece.strip("\n") for piece in found if piece.strip()]


def echoes(scenes):
    """(player, letter, text): every letter whole; each different paragraph and line once, with the newest token there is for it, which
    is the one that could do most."""
    known = set()
    for player, letter in reversed(list(scenes.letters())):
        for at, text in enumerate(pieces(letter.text)):
            if at == 0 or text not in known:
                known.add(text)
                yield player, letter, text


EXPECTED = set("""played already-played conflict illegal ambiguous not-a-move not-your-turn game-over wrong-number old-letter number-needed which-game
no-such-game not-your-game several-moves move-beside near-miss below-remark block-differs block-repeats later draw-offered offer-already draw-agreed
draw-declined no-offer resigned needs-current board games pgn help ping nothing empty html-only encrypted registered name-taken already-registered
challenged unknown-player challenge-self challenge-open challenge-accepted challenge-declined challenge-gone awaiting-confirm
needs-proof registration-asked too-many confirm-nothing yes-nothing awaiting-other""".split())
KINDS = set("start move answer confirm register challenge challenge-declined offer declined end entered set-aside outage".split())


NOTHING_READ = ("We found nothing in your letter", "Your letter was empty", "Your letter seems to ask something")


def test_no_line_of_ours_is_a_command(tmp_path):
    scenes = Scenes(tmp_path)
    club = scenes.club
    assert KINDS - scenes.kinds - {"challenge-declined"} == set()
    assert EXPECTED - scenes.codes == set()
    sent = list(echoes(scenes))
    before = club.records()
    players = club.run("player", "list", "--json")
    wrong = []
    for start in range(0, len(sent), 900):
        batch = sent[start:start + 900]
        marks = {}
        for player, letter, text in batch:
            raw = player.answer(letter, text, club.now, program="bare")
            marks[Incoming(raw).message_id] = (player, letter, text)
            club.inbox.deliver(raw, club.now)
        club.advance(minutes=10)
        club.once(timeout=120)
        rows = sorted(club.json("letters")[:len(batch)], key=lambda row: row["id"])
        assert len(rows) == len(batch)
        for (player, letter, text), row in zip(batch, rows):
            if row["outcome"] not in ("asked", "refused", "ignored", ""):
                wrong.append((row["outcome"], row["why"], player.name, letter.subject, text))
        answers = {}
        for player in club.players.values():
            for answer in player.read_new():
                assert answer.in_reply_to in marks, (answer.subject, answer.text[:300])
                to, letter, text = marks[answer.in_reply_to]
                answers[answer.in_reply_to] = answers.get(answer.in_reply_to, 0) + 1
                if to is not player or answers[answer.in_reply_to] > 1:
                    wrong.append(("sent", answer.text[:200], player.name, letter.subject, text))
                if not any(words in answer.flat for words in NOTHING_READ):  # refused, but as a command or a move
                    wrong.append(("read", answer.flat[answer.flat.find("You wrote"):][:200], player.name, letter.subject, text))
                if "were passed on" in answer.flat:
                    wrong.append(("passed on", answer.text[:200], player.name, letter.subject, text))
    assert wrong == [], "\n\n".join(map(str, wrong[:20])) + f"\n{len(wrong)} of {len(sent)}"
    changed = {game for game, record in club.records().items() if record != before[game]}
    assert changed == set() and club.run("player", "list", "--json") == players
    club.run("verify")
