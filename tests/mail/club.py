"""A club in a temporary folder: configuration, store, Maildirs, and the program under test, told the time."""
import datetime
import functools
import json
import os
import pathlib
import re
import subprocess

from letters import Incoming, Maildir, Player, UTC, with_received, written

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", ROOT / "build"))
PROGRAM = os.environ.get("EPISTLE", str(BUILD / "epistle"))
ADDRESS = "chess@club.example"
MX = "mx.club.example"
START = datetime.datetime(2031, 11, 3, 9, 0, tzinfo=UTC)  # later than the clock by which the other verbs of the program run


def stamp(instant):
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Club:
    """`now` moves only by advance(). Every run of the program is checked for its exit code.

    mailbox, outgoing: keys and values of those sections, over servers that run elsewhere; without them Maildirs below the folder
    (`inbox`, and `out` with one per player). begin: the instant at which the club opens, where servers put their own time on letters."""

    def __init__(self, folder, program=PROGRAM, time="10/50d", registration="open", mailbox=None, outgoing=None, begin=START, **more):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = program
        self.now = begin
        self.players = {}
        self.inbox = Maildir(self.folder / "inbox")
        self.outgoing = self.folder / "out"
        self.outgoing.mkdir()
        self.configuration = self.folder / "epistle.conf"
        self.store = self.folder / "epistle.db"
        self.limits = more.pop("limits", {"player_per_day": 1000, "unproven_per_day": 1000})
        self.settings = more
        self.servers = {"mailbox": mailbox, "outgoing": outgoing}
        self.known_records = None
        self.untaken = False
        self.last_letter = 0  # the newest letter that take() has returned
        self.play_section = {"time": time, "registration": registration}
        self.make_store()

    new_store = {}  # the files of a store with nobody in it, by program: `check --init` is run once, the others are copies

    def make_store(self):
        names = ("epistle.db", "epistle.key")
        made = self.new_store.get(self.program)
        if made is None:
            self.write_configuration({})  # with Maildirs: whether the servers answer is not asked here
            self.run("check", "--init")
            made = {name: (self.folder / name).read_bytes() for name in names if (self.folder / name).exists()}
            self.new_store[self.program] = made if len(made) == len(names) else None
        else:
            for name, content in made.items():
                (self.folder / name).touch(0o600)
                (self.folder / name).write_bytes(content)
        self.write_configuration()

    def write_configuration(self, servers=None):
        """Anew after a change of settings, limits, play_section or servers."""
        servers = self.servers if servers is None else servers
        service = {"name": "Anytown Chess", "address": ADDRESS, "store": self.store, "language": "en", "timezone": "UTC",
                   "arbiter": "td@club.example", "trusted_authserv": MX, "templates": ROOT / "templates", **self.settings}
        sections = {"service": service, "mailbox": servers.get("mailbox") or {"url": f"maildir://{self.inbox.path}"},
                    "outgoing": servers.get("outgoing") or {"url": f"maildir://{self.outgoing}/%25s"}, "play": self.play_section,
                    "limits": self.limits}
        lines = []
        for section, values in sections.items():
            lines += [f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]
        self.configuration.write_text("\n".join(lines) + "\n")

    # --- the program ---

    def run(self, *arguments, expect=0, stdin=None, timeout=60):
        if arguments[0] in ("once", "restore") or arguments[:2] in (("game", "new"), ("game", "move")):
            self.known_records = None
        done = subprocess.run([self.program, "-c", str(self.configuration), *map(str, arguments)], input=stdin,
                              capture_output=True, text=True, timeout=timeout)
        assert done.returncode == expect, f"epistle {' '.join(map(str, arguments))}: exit {done.returncode}, not {expect}\n{done.stdout}{done.stderr}"
        return done.stdout

    def run_failing(self, *arguments, status=1, timeout=90):
        """What the program says on standard error, where it must fail; status None: in any way."""
        done = subprocess.run([self.program, "-c", str(self.configuration), *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout)
        good = done.returncode == status if status is not None else done.returncode in (1, 75)
        assert good, f"epistle {' '.join(map(str, arguments))}: exit {done.returncode}, not {status}\n{done.stdout}{done.stderr}"
        return done.stderr

    def once(self, expect=0, **more):
        self.untaken = True
        return self.run("once", "--now", stamp(self.now), expect=expect, **more)

    def once_command(self):
        """For faultrun: the same run as a list of words."""
        return [self.program, "-c", str(self.configuration), "once", "--now", stamp(self.now)]

    def advance(self, **delta):
        self.now += datetime.timedelta(**delta)
        return self.now

    # --- people ---

    def player(self, name, address=None, program="thunderbird", add=True, options=()):
        """A player with a folder of his own; add: entered by the operator (with options of `player add`), else he must register himself."""
        address = address or f"{name.split()[0].lower()}@{name.split()[-1].lower()}.example"
        player = Player(name, address, self.outgoing / address, program)
        self.players[name] = player
        if add:
            self.run("player", "add", name, address, *options)
        return player

    def deliver(self, raw, received=True, sender="", **more):
        """Into the service's mailbox at the present time, through the club's own mail server or (received=False) without its trace."""
        if received:
            raw = with_received(raw, MX, self.now, sender)
        return self.inbox.deliver(raw, self.now, **more)

    def send(self, player, to, subject, text, **more):
        return self.deliver(player.write(to, subject, text, self.now, **more), sender=player.address)

    def answer(self, player, letter, text, **more):
        return self.deliver(player.answer(letter, text, self.now, **more), sender=player.address)

    # --- what became of it: the operator's view, and the folders of all players ---

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))

    def take(self):
        """One cycle. The letters settled in it that were not known before, in the order of arrival, each as `letter ID --json` has it."""
        if self.untaken:  # cycles that nobody took the letters of
            self.last_letter = max((row["id"] for row in self.json("letters")), default=0)
        self.once()
        self.untaken = False
        fresh = sorted(row["id"] for row in self.json("letters") if row["id"] > self.last_letter)
        self.last_letter = max([self.last_letter, *fresh])
        return [self.json("letter", id) for id in fresh]

    def settle(self, player, letter, text, minutes=1, **more):
        """The player answers a letter; one cycle. Returns what became of it as Settled."""
        return self.settle_raw(player, player.answer(letter, text, self.advance(minutes=minutes), **more))

    def settle_raw(self, player, raw, sender=None, **more):
        """A letter of any shape, given as bytes. `player`: whose folder counts as the sender's; None for a stranger without one."""
        for other in self.players.values():
            other.read_new()
        before = self.records()
        self.deliver(raw, sender=sender if sender is not None else player.address if player else "", **more)
        settled = self.take()
        assert len(settled) == 1
        letters = {other.name: other.read_new() for other in self.players.values()}
        own = letters.pop(player.name) if player else []
        return Settled(settled[0], own, [letter for others in letters.values() for letter in others], self.records() != before)

    def settle_all(self, letters):
        """Many letters, (player, raw bytes) each, in one cycle. `changed` of each tells whether any of them changed a record."""
        for player in self.players.values():
            player.read_new()
        before = self.records()
        for player, raw in letters:
            self.advance(minutes=1)
            self.deliver(raw, sender=player.address)
        settled = self.take()
        assert len(settled) == len(letters)
        changed = self.records() != before
        came = {player.name: player.read_new() for player in self.players.values()}
        found = []
        for (player, raw), row in zip(letters, settled):
            mark = Incoming(raw).message_id
            own = [letter for letter in came[player.name] if letter.in_reply_to == mark]
            others = [out for out in row["letters_out"] if out["address"] != player.address]
            assert len(own) == len(row["letters_out"]) - len(others)
            found.append(Settled(row, own, others, changed))
        assert sum(map(len, came.values())) == sum(len(row["letters_out"]) for row in settled)
        return found

    def records(self):
        """The whole record of every game: equal before and after means that nothing was done, not even to a clock."""
        if self.known_records is None:
            self.known_records = {game["id"]: self.run("game", "show", game["id"], "--record") for game in self.json("game", "list")}
        return self.known_records

    def new_game(self, white, black, *options):
        """Begins a game and sends its first letters. Returns its number and the letter each player has."""
        number = int(self.run("game", "new", white.name, black.name, *options).split()[1])
        self.once()
        return number, white.newest(), black.newest()

    def fen(self, game):
        return self.run("game", "show", game, "--fen").strip()

    # --- a player's own chess software ---

    @functools.lru_cache(maxsize=None)
    def moves(self, fen):
        """Every legal move as (uci, san, long)."""
        done = subprocess.run([self.program, "moves", fen], capture_output=True, text=True, check=True)
        return [tuple(word.split("=", 2)) if word.count("=") == 2 else _split_promotion(word) for word in done.stdout.split()]

    @functools.lru_cache(maxsize=None)
    def after(self, fen, move):
        """The FEN after a move: the last one that `notate` prints."""
        done = subprocess.run([self.program, "notate", fen, move], capture_output=True, text=True, check=True)
        return re.findall(r"[^\s/]+(?:/[^\s/]+){7} [wb] \S+ \S+ \d+ \d+", done.stdout)[-1]


class Settled:
    """What became of one letter."""

    def __init__(self, row, own, others, changed):
        self.row = row
        self.own = own          # letters that the sender got
        self.others = others    # letters that everybody else got
        self.changed = changed  # some game's record

    state = property(lambda self: self.row["state"])
    outcome = property(lambda self: self.row["outcome"])
    why = property(lambda self: self.row["why"])
    codes = property(lambda self: [outcome["detail"]["code"] for outcome in self.row["outcomes"]])
    words = property(lambda self: [outcome["outcome"] for outcome in self.row["outcomes"]])
    text = property(lambda self: self.own[0].text if self.own else "")
    flat = property(lambda self: " ".join(self.text.split()))

    def __repr__(self):
        return f"<{self.outcome} {self.codes} {self.why!r}, {len(self.own)} to the sender, {len(self.others)} to others, changed: {self.changed}>"


def _split_promotion(word):
    """a7a8q=a8=Q+=a7-a8=Q+: the san and the long form hold a `=` of their own."""
    uci, rest = word.split("=", 1)
    middle = rest.index("=", rest.index("=") + 1)
    return uci, rest[:middle], rest[middle + 1:]


def play(club, white, black, score, way=lambda ply: "san", hours=5, remark=None, limit=None):
    """Two players play a known game through their letters until it ends or the score does. Each answers the newest letter in which
    it is his turn, by that letter's own Reply-To. Returns the letters in which the players saw the last ply."""
    score = list(score)
    newest = {}
    for player in (white, black):  # letters that were read before
        views = [(letter, player.view(letter)) for letter in player.letters]
        views = [pair for pair in views if pair[1] is not None]
        newest.update({player.name: views[-1]} if views else {})
    for _ in range(limit or 4 * len(score) + 8):
        club.once()
        moved = False
        for player in (white, black):
            for letter in player.read_new():
                view = player.view(letter)
                if view is not None:
                    assert view.score == score[:len(view.score)], f"{player.name} reads {view.score}"
                    newest[player.name] = (letter, view)
            if player.name not in newest:
                continue
            letter, view = newest[player.name]
            if view.my_turn and len(view.score) < len(score):
                ply = len(view.score)
                club.advance(hours=hours)
                move = score[ply] if way(ply) == "san" else _as_written(club, score, ply, way(ply))
                club.answer(player, letter, move + (f"\n\n{remark(ply)}\n" if remark else "\n"))
                newest.pop(player.name)
                moved = True
                break
        if not moved:
            break
    return newest


def _as_written(club, score, ply, how):
    if how not in ("uci", "long"):  # no position is needed
        return written((None, score[ply], None), ply, how)
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    for san in score[:ply]:
        fen = club.after(fen, san)
    row = next(row for row in club.moves(fen) if row[1] == score[ply])
    return written(row, ply, how)
