"""The crash sweep (RULINGS 52): `once` over five letters, disturbed at one system call, run again, compared with the undisturbed run.

The scene is made once and copied for every point, always to the same path. The comparison is of a logical dump of the
store, of what lies in every player's folder, and of what is filed in the mailbox.
"""
import collections
import os
import pathlib
import shutil
import sqlite3

import faults
from club import Club
from letters import Incoming

LETTERS = 5
ALL = bool(os.environ.get("CRASH_ALL"))

# What may differ between a disturbed and an undisturbed run.
LEFT_OUT = {"tries", "attempts", "unknowns", "tried", "bytes", "box", "words", "nonce"}
TABLES_LEFT_OUT = {"service", "sqlite_sequence"}


class Scene:
    """A club with two games and five letters in its mailbox, one of them forged, ready for `once`."""

    def __init__(self, folder):
        self.base = pathlib.Path(folder) / "base"
        self.work = pathlib.Path(folder) / "work"
        self.work.mkdir()
        self.club = club = Club(self.work)
        ann, bob, cid, dee = (club.player(f"{name} Muster", f"{name.lower()}@{name.lower()}.example", program)
                              for name, program in (("Ann", "thunderbird"), ("Bob", "gmail"), ("Cid", "iphone"), ("Dee", "outlook")))
        for white, black in ((ann, bob), (cid, dee)):
            club.run("game", "new", white.name, black.name)
        club.once()
        newest = {player.address: player.read_new()[-1] for player in (ann, bob, cid, dee)}
        club.advance(hours=3)
        # the forged one first: Bob writes in Cid's name, without a token; Cid must confirm it
        club.send(cid, "chess@club.example", "chess", "game 2: 1. Nf3")
        club.advance(minutes=1)
        club.answer(ann, newest[ann.address], "1. e4\n\nGood luck, Bob!")
        club.advance(minutes=1)
        club.answer(bob, newest[bob.address], "e5")
        club.advance(minutes=1)
        club.answer(cid, newest[cid.address], "d4 (=)")
        club.advance(minutes=1)
        club.answer(dee, newest[dee.address], "games")
        club.advance(minutes=10)
        self.program = club.once_command()
        assert len(club.inbox.files()) == LETTERS
        shutil.copytree(self.work, self.base)

    def restore(self):
        shutil.rmtree(self.work)
        shutil.copytree(self.base, self.work)

    # --- looking at it ---

    def database(self):
        """A copy of the store as it lies there, so that looking changes nothing."""
        look = self.work.parent / "look"
        shutil.rmtree(look, ignore_errors=True)
        look.mkdir()
        for end in ("", "-wal", "-journal"):
            file = pathlib.Path(f"{self.club.store}{end}")
            if file.exists():
                shutil.copy2(file, look / f"db{end}")
        return sqlite3.connect(look / "db")

    def dump(self):
        """Every row of every table, without what may differ."""
        database = self.database()
        dump = {}
        tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        for table in tables:
            if table in TABLES_LEFT_OUT:
                continue
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] not in LEFT_OUT]
            dump[table] = sorted(map(repr, database.execute(f"SELECT {', '.join(columns)} FROM {table}")))
        database.close()
        return dump

    def folders(self):
        """Recipient, Message-ID and subject of every letter sent, once each; and what is filed in the mailbox."""
        sent = collections.Counter()
        for folder in self.club.outgoing.iterdir():
            for part in ("new", "cur"):
                for file in (folder / part).iterdir():
                    letter = Incoming(file.read_bytes())
                    sent[(folder.name, letter.message_id, letter.subject)] = 1
        filed = sorted(file.name for file in (self.club.inbox.path / "cur").iterdir())
        return sent, filed

    def states(self):
        """Which of DESIGN's states some letter is in, as the store says."""
        database = self.database()
        found = set()
        rows = database.execute("SELECT state, filed FROM letter_in").fetchall()
        if len(rows) < LETTERS:
            found.add("I0")
        for state, filed in rows:
            found.add({"stored": "I1", "awaiting": "I2c"}.get(state, "I3" if filed else "I2"))
        names = {"queued": "O1", "trying": "O2", "accepted": "O3", "refused": "O4", "given up": "O5", "held": "O6", "overtaken": "O8"}
        before = self.sent_before if hasattr(self, "sent_before") else 0
        for state, in database.execute("SELECT state FROM letter_out WHERE id > ?", (before,)):
            found.add(names.get(state, state))
        database.close()
        return found

    def recover(self):
        """The next starts: `once` until it ends well, three times at most."""
        for attempt in range(3):
            try:
                self.club.run("once", *self.program[self.program.index("--now"):])
                break
            except AssertionError:
                if attempt == 2:
                    raise
        self.club.run("verify")


class Sweep:
    def __init__(self, folder):
        self.scene = scene = Scene(folder)
        database = scene.database()
        scene.sent_before = database.execute("SELECT coalesce(max(id), 0) FROM letter_out").fetchone()[0]
        database.close()
        scene.restore()
        self.run, self.calls, self.processes = faults.calls(scene.program)
        assert self.run.status == 0, self.run.err
        scene.recover()
        self.reference, self.reference_folders = scene.dump(), scene.folders()
        self.histogram = collections.Counter()
        self.failures = []

    def points(self, process, only=None):
        """The own calls of a process, by number, or those of them named in `only`."""
        own = self.processes[process].own
        return [call.at for call in self.calls if call.process == process and call.at >= own and (only is None or call.name in only)]

    def children(self):
        """The numbers of the MIME children: all but the daemon and its zygote."""
        return [process.number for process in self.processes if process.number >= 2]

    def compare(self, what):
        dump, folders = self.scene.dump(), self.scene.folders()
        for table in sorted(set(dump) | set(self.reference)):
            here, there = set(dump.get(table, [])), set(self.reference.get(table, []))
            if here != there:
                self.failures.append(f"{what}: {table}: only here {sorted(here - there)[:3]}, only undisturbed {sorted(there - here)[:3]}")
        if folders != self.reference_folders:
            self.failures.append(f"{what}: the folders differ: {folders[0] - self.reference_folders[0]} more, {self.reference_folders[0] - folders[0]} fewer; filed {folders[1]}")

    def disturb(self, what, run):
        """One point: run() disturbs a fresh copy of the scene; then the next start must mend it."""
        self.scene.restore()
        done = run()
        if done.status == faults.ORPHAN:
            self.failures.append(f"{what}: a process was left behind")
        try:
            self.histogram.update(self.scene.states())
            self.scene.recover()
            self.compare(what)
        except (AssertionError, sqlite3.Error) as trouble:
            self.failures.append(f"{what}: {trouble}")
        return done

    def kill(self, process, most=None):
        points = self.points(process)
        for at in points if ALL or most is None else faults.sample(points, most):
            self.disturb(f"killed process {process} at call {at}", lambda: faults.kill(self.scene.program, process, at))

    def fail(self, process, error, most=None, lasting=False):
        only = {"write", "pwrite64", "fsync", "fdatasync", "ftruncate", "openat", "rename", "renameat2", "unlink", "link", "mkdir"}
        points = self.points(process, only)
        for at in points if ALL or most is None else faults.sample(points, most):
            self.disturb(f"{error} in process {process} at call {at}", lambda: faults.fail(self.scene.program, process, at, error, lasting=lasting))

    def report(self, expected):
        print("states at the end of the disturbed run:", dict(sorted(self.histogram.items())))
        for failure in self.failures[:20]:
            print(" ", failure)
        missing = set(expected) - set(self.histogram)
        assert not missing, f"no run ended with a letter in {sorted(missing)}"
        assert not self.failures, f"{len(self.failures)} points failed"
