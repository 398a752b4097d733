"""What is disturbed: a club in a folder, a program that does its next step, and what must have come of it in the end.

A scene is made once and copied back for every point, always to the same path. Looking at it changes nothing.
"""
import collections
import datetime
import pathlib
import re
import shutil
import sqlite3

from club import Club, stamp
from letters import Incoming

LETTERS = 5

# What may differ between a disturbed and an undisturbed run (RULINGS 52).
LEFT_OUT = {"tries", "attempts", "unknowns", "tried", "bytes", "box", "words", "nonce"}
# What may differ too when a letter could only be settled or sent later than in the undisturbed run.
TIMES = {"stored", "queued", "due", "accepted", "head"}
TABLES_LEFT_OUT = {"service", "sqlite_sequence"}
TABLES_OF_TROUBLE = {"outage"}  # a disk that was full, a line that failed: noted rightly where there was one


class Trouble(Exception):
    pass


def columns_of(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


class Scene:
    """A club with two games and five letters in its mailbox, one of them forged, ready for `once`."""

    def __init__(self, folder):
        self.base = pathlib.Path(folder) / "base"
        self.work = pathlib.Path(folder) / "work"
        self.work.mkdir(parents=True)
        self.build()
        shutil.copytree(self.work, self.base)

    def make_club(self):
        return Club(self.work)

    def build(self):
        self.club = club = self.make_club()
        self.players = ann, bob, cid, dee = [
            club.player(f"{name} Muster", f"{name.lower()}@{name.lower()}.example", program)
            for name, program in (("Ann", "thunderbird"), ("Bob", "gmail"), ("Cid", "iphone"), ("Dee", "outlook"))]
        for white, black in ((ann, bob), (cid, dee)):
            club.run("game", "new", white.name, black.name)
        club.once()
        self.letters_before = self.ask("SELECT coalesce(max(id), 0) FROM letter_out")
        self.newest = {player.address: player.read_new()[-1] for player in self.players}
        club.advance(hours=3)
        self.write()
        club.advance(minutes=10)
        self.program = club.once_command()

    def write(self):
        club, (ann, bob, cid, dee) = self.club, self.players
        # the forged one first: Bob writes in Cid's name, without a token; Cid must confirm it
        club.send(cid, "chess@club.example", "chess", "game 2: 1. Nf3")
        for player, text in ((ann, "1. e4\n\nGood luck, Bob!"), (bob, "e5"), (cid, "d4 (=)"), (dee, "games")):
            club.advance(minutes=1)
            club.answer(player, self.newest[player.address], text)
        assert len(club.inbox.files()) == LETTERS

    def letters_there(self):
        return len(self.club.inbox.files())

    def restore(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.base, self.work)

    # --- looking at it ---

    look = property(lambda self: self.work.parent / "look")

    def look_command(self):
        """For faultrun --look: the store as it is now, put aside."""
        return f"rm -rf '{self.look}' && mkdir '{self.look}' && cp '{self.club.store}'* '{self.look}'"

    def database(self, fresh=True):
        """A copy of the store as it lies there, or the one that look_command() made."""
        if fresh:
            shutil.rmtree(self.look, ignore_errors=True)
            self.look.mkdir()
            for end in ("", "-wal", "-journal"):
                file = pathlib.Path(f"{self.club.store}{end}")
                if file.exists():
                    shutil.copy2(file, self.look / (file.name))
        return sqlite3.connect(self.look / self.club.store.name)

    def ask(self, sql, *values):
        database = self.database()
        try:
            return database.execute(sql, values).fetchone()[0]
        finally:
            database.close()

    def dump(self, later=False):
        """Every row of every table without what may differ; later: without what a later instant changes."""
        database = self.database()
        dump = {}
        for table, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
            if table in TABLES_LEFT_OUT or (later and table in TABLES_OF_TROUBLE):
                continue
            columns = [name for name in columns_of(database, table) if name not in LEFT_OUT and not (later and name in TIMES)]
            rows = [dict(zip(columns, row)) for row in database.execute(f"SELECT {', '.join(columns)} FROM {table}")]
            if later:
                rows = [self.timeless(table, row) for row in rows]
            dump[table] = sorted(repr(list(row.values())) for row in rows if row)
        database.close()
        return dump

    @staticmethod
    def timeless(table, row):
        """A notice may stand at another place of the record, or not at all when its letter was overtaken; the rest must be the same."""
        if table == "entry":
            if row["kind"] == "notice":
                return None
            row["line"] = re.sub(r"^\d+ | prev=\w+", "", row["line"])
            del row["number"]
        if table == "letter_out":
            row["state"] = row["state"].replace("overtaken", "accepted")
            row["view"] = re.sub(r'"(deadline|due)":("[^"]*"|\{[^}]*\})', "", row["view"])
        return row

    def folders(self):
        """Recipient, Message-ID and subject of every letter sent, with how often it lies there; and what is filed in the mailbox."""
        sent = collections.Counter()
        for folder in self.club.outgoing.iterdir():
            for part in ("new", "cur"):
                for file in (folder / part).iterdir():
                    letter = Incoming(file.read_bytes())
                    sent[(folder.name, letter.message_id, letter.subject)] += 1
        return sent, self.filed()

    def filed(self):
        return sorted(file.name for file in (self.club.inbox.path / "cur").iterdir())

    def states(self, fresh=True):
        """Which of DESIGN's states some letter is in, as the store says."""
        database = self.database(fresh)
        try:
            rows = database.execute("SELECT state, filed FROM letter_in").fetchall()
            found = {"I0"} if len(rows) < self.letters_there() else set()
            for state, filed in rows:
                found.add({"stored": "I1", "awaiting": "I2c"}.get(state, "I3" if filed else "I2"))
            names = {"queued": "O1", "trying": "O2", "accepted": "O3", "refused": "O4", "given up": "O5", "held": "O6", "overtaken": "O8"}
            for state, in database.execute("SELECT state FROM letter_out WHERE id > ?", (self.letters_before,)):
                found.add(names.get(state, state))
        finally:
            database.close()
        return found

    def set_aside(self):
        return self.ask("SELECT count(*) FROM letter_in WHERE outcome = 'set aside'")

    def recover(self):
        """The next starts. True if letters had to wait for a later instant."""
        club = self.club
        club.run("once", *self.program[self.program.index("--now"):])
        later = self.waiting()
        if later:  # a letter waits for its next attempt
            club.run("once", "--now", stamp(club.now + datetime.timedelta(days=1)))
        if self.waiting():
            raise Trouble("a letter still waits a day later")
        club.run("verify")
        return later

    def waiting(self):
        return self.ask("SELECT (SELECT count(*) FROM letter_in WHERE state = 'stored') + (SELECT count(*) FROM letter_out WHERE state IN"
                        " ('queued', 'trying', 'refused'))") > 0



class FoundingScene(Scene):
    """Nothing is there yet but a configuration: `check --init` makes store, key and mailbox."""

    def build(self):
        self.club = club = Club(self.work)
        for file in self.work.glob("epistle.db*"):
            file.unlink()
        (self.work / "epistle.key").unlink()
        shutil.rmtree(club.inbox.path)
        self.letters_before = 0
        self.program = [club.program, "-c", str(club.configuration), "check", "--init"]
        self.key = self.work / "epistle.key"

    def dump(self, later=False):
        dump = super().dump(later=True)
        for row in dump["letter_out"], dump["game"], dump["player"], dump["entry"]:
            row[:] = [re.sub(r"\b[a-z2-7]{26}\b|at=\S+|\b\d{10}\b|\b20\d\d-\d\d-\d\d[T ]?[\d:]*Z?", "", line) for line in row]  # tokens: the key is another one; times: the verbs' clock is the real one
        return dump

    def folders(self):
        return collections.Counter(), sorted(path.name for path in self.work.iterdir() if not path.name.endswith(("-wal", "-shm")))

    def states(self, fresh=True):
        there = "store" if self.club.store.exists() and self.club.store.stat().st_size else ""
        return {" and ".join(filter(None, [there, *(f"key{end}" for end in ("", ".new") if pathlib.Path(f"{self.key}{end}").exists())])) or "nothing"}

    def recover(self):
        """`check --init` once more; then the club must be able to work."""
        club = self.club
        club.run("check", "--init")
        if pathlib.Path(f"{self.key}.new").exists():
            raise Trouble("the new key's file is left behind")
        club.run("player", "add", "Ann Muster", "ann@ann.example")
        club.run("player", "add", "Bob Muster", "bob@bob.example")
        club.run("game", "new", "Ann Muster", "Bob Muster")
        club.run("once", "--now", stamp(club.now))
        club.run("verify")
        return False
