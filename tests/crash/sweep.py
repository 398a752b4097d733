"""The crash sweep (RULINGS 52): a program disturbed at one of its system calls, run again, compared with the undisturbed run.

Points are spread over processes, each with a scene of its own. The comparison is of a logical dump of the store, of what lies in
every player's folder, and of what is filed in the mailbox.
"""
import collections
import concurrent.futures
import multiprocessing
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
from dataclasses import dataclass, field

import faults
from scenes import FoundingScene, Scene, Trouble
from served_scene import ServedScene

SCENES = {"letters": Scene, "founding": FoundingScene, "served": ServedScene}
ALL = bool(os.environ.get("CRASH_ALL"))
WORKERS = int(os.environ.get("JOBS", "2"))
WRITING = {"write", "pwrite64", "fsync", "fdatasync", "ftruncate", "openat", "rename", "renameat2", "unlink", "link", "mkdir"}


@dataclass
class Result:
    what: str
    states: set = field(default_factory=set)
    failures: list = field(default_factory=list)
    end: str = ""


class Bench:
    """One scene in one process, with what its undisturbed run does and comes to."""

    def __init__(self, kind, folder):
        self.scene = scene = SCENES[kind](folder)
        scene.restore()
        run, self.calls, self.processes = faults.calls(scene.program)
        assert run.status == 0, run.err
        scene.recover()
        self.reference = {later: scene.dump(later) for later in (False, True)}
        self.folders = scene.folders()

    def compare(self, result, later):
        dump, (sent, filed) = self.scene.dump(later), self.scene.folders()
        reference, (sent_there, filed_there) = self.reference[later], self.folders
        for table in sorted(set(dump) | set(reference)):
            here, there = collections.Counter(dump.get(table, [])), collections.Counter(reference.get(table, []))
            if here != there:
                result.failures.append(f"{table}: {difference(sorted((here - there).elements()), sorted((there - here).elements()))}")
        if set(sent) < set(sent_there) or (not later and set(sent) != set(sent_there)):
            result.failures.append(f"letters out: {set(sent) - set(sent_there)} more, {set(sent_there) - set(sent)} fewer")
        if filed != filed_there:
            result.failures.append(f"filed is {filed}")

    def disturb(self, what, run, strict=True):
        """One point: run() disturbs a fresh copy of the scene and returns the run; then the next start must mend it."""
        result = Result(what)
        scene = self.scene
        scene.restore()
        shutil.rmtree(scene.look, ignore_errors=True)
        looked, done = run()
        result.end = {faults.KILLED: "killed", faults.NEVER: "never", faults.OTHER: "other", faults.ORPHAN: "orphan"}.get(done.status, str(done.status))
        if done.status == faults.ORPHAN:
            result.failures.append("a process was left behind")
        if done.status not in (0, faults.KILLED, faults.NEVER, faults.OTHER, 75, 1):
            result.failures.append(f"ended with status {done.status}: {done.err[-300:]}")
        if done.status in (1, 75) and not plain(done.err):
            result.failures.append(f"ended with status {done.status} and no plain sentence but {done.err[-300:]!r}")
        try:
            if not looked or scene.look.exists():
                result.states = scene.states(fresh=not looked)
        except sqlite3.Error:
            result.states = {"no store"}
        try:
            later = scene.recover()
            if later and strict:
                result.failures.append("a letter had to wait for a later instant")
            self.compare(result, later or not strict)
            if "letter_in" in self.reference[True] and scene.set_aside():
                result.failures.append("a good letter was set aside")
        except (AssertionError, Trouble, sqlite3.Error, subprocess.TimeoutExpired) as trouble:
            result.failures.append(f"{trouble}")
        return result

    def points(self, process, only=None):
        """The own calls of a process, by number, or those of them named in `only`. They differ a little from scene to scene."""
        own = self.processes[process].own
        return [call.at for call in self.calls if call.process == process and call.at >= own and (only is None or call.name in only)]

    def point(self, process, share, only=None):
        points = self.points(process, only)
        return points[min(int(share * len(points)), len(points) - 1)]

    def kill(self, process, share):
        at = self.point(process, share)
        looked = process > 1  # the daemon goes on: the state must be seen at the child's death
        look = self.scene.look_command() if looked else None
        return self.disturb(f"process {process} killed at call {at}", lambda: (looked, faults.kill(self.scene.program, process, at, look=look)))

    def kill_twice(self, first, second):
        first, second = self.point(0, first), self.point(0, second)
        def run():
            faults.kill(self.scene.program, 0, first)
            return False, faults.kill(self.scene.program, 0, second)
        return self.disturb(f"killed at call {first}, and the next one at call {second}", run)

    def fail(self, process, share, error, lasting):
        kind = "lasting " * lasting
        only = WRITING - {"write"} if lasting else WRITING  # the last words go out by write
        at = self.point(process, share, only)

        def run():
            for later in range(12):  # waiting takes now more, now fewer calls: the next call that can fail will do
                done = faults.fail(self.scene.program, process, at + later, error, only=",".join(sorted(only)), lasting=lasting)
                if done.status != faults.OTHER:
                    break
                self.scene.restore()
            return False, done
        return self.disturb(f"{kind}{error} in process {process} at call {at}", run, strict=False)


def difference(here, there):
    """The first rows that differ, from where they begin to."""
    if not here or not there:
        return f"{len(here)} rows only here, {len(there)} only undisturbed: {(here + there)[0][:200]}"
    same = len(os.path.commonprefix([here[0], there[0]]))
    begin = max(0, same - 60)
    return f"{len(here)} rows only here, {len(there)} only undisturbed: {here[0][:24]}…{here[0][begin:same + 60]} / {there[0][begin:same + 60]}"


def plain(text):
    """What the operator reads: lines that say who speaks and what is wrong, nothing of the inside."""
    lines = text.strip().split("\n")
    return lines != [""] and "Success" not in text and all(len(line) < 600 and ":" in line and line.isprintable() for line in lines)


benches = {}


def begin_worker(folder):
    benches["folder"] = pathlib.Path(tempfile.mkdtemp(dir=folder))


def bench_of(kind):
    if kind not in benches:
        benches[kind] = Bench(kind, benches["folder"] / kind)
    return benches[kind]


def at_work(kind, call, *arguments):
    """In a worker: one point of the scene of that kind, which is made at its first use."""
    return getattr(bench_of(kind), call)(*arguments)


def count(kind, process, only):
    return len(bench_of(kind).points(process, only))


class Sweep:
    """Spreads points over the workers. Everything lies in memory where that can be: it is the calls that count, not the disk."""

    def __init__(self):
        memory = pathlib.Path("/dev/shm")
        self.folder = tempfile.mkdtemp(prefix="epistle-crash.", dir=memory if os.access(memory, os.W_OK) else None)
        self.pool = concurrent.futures.ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork"), begin_worker, (self.folder,))

    def close(self):
        self.pool.shutdown(cancel_futures=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def shares(self, kind, process, most, only=None):
        """Points of a process, each as its share of the way; all of them with CRASH_ALL."""
        number = self.pool.submit(count, kind, process, only).result()
        number = number if ALL else min(number, most)
        return [(i + 0.5) / number for i in range(number)]

    def run(self, kind, tasks):
        report = Report(kind)
        for future in [self.pool.submit(at_work, kind, *task) for task in tasks]:
            report.add(future.result())
        return report


class Report:
    def __init__(self, kind):
        self.kind = kind
        self.states = collections.Counter()
        self.ends = collections.Counter()
        self.failures = []
        self.count = 0

    def add(self, result):
        self.count += 1
        self.states.update(result.states)
        self.ends[result.end] += 1
        self.failures += [f"{result.what}: {failure}" for failure in result.failures]

    def demand(self, states=()):
        print(f"{self.kind}: {self.count} points, which ended {dict(sorted(self.ends.items()))}")
        print("  states at the end of the disturbed run:", ", ".join(f"{state} {count}" for state, count in sorted(self.states.items())))
        for failure in self.failures[:20]:
            print("  FAILED", failure[:1500])
        missing = set(states) - set(self.states)
        assert not missing, f"no run ended with a letter in {sorted(missing)}"
        assert not self.failures, f"{len(self.failures)} failures in {self.count} points"
        missed = self.ends["never"] + self.ends["other"]
        assert missed <= self.count // 5 + 1, f"{missed} of {self.count} points were not where they had been"
