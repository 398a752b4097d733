"""Driving faultrun from Python: counting, listing, killing and failing a program's system calls."""
import os
import pathlib
import re
import subprocess
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", ROOT / "build"))
FAULTRUN = BUILD / "tests" / "faultrun"

KILLED, NEVER, OTHER, ORPHAN, TROUBLE = 200, 201, 202, 203, 204


@dataclass
class Process:
    number: int
    count: int
    own: int  # number of the first own call, 0 if there was none
    name: str


@dataclass
class Call:
    process: int
    at: int
    name: str
    path: str


@dataclass
class Run:
    status: int
    out: str
    err: str
    report: str

    @property
    def program(self):
        """The program's own exit status, whatever faultrun made of it."""
        return int(re.search(r"^end: .*program=(\d+)", self.report, re.M).group(1))


def faultrun(options, program, **more):
    with tempfile.NamedTemporaryFile("r", prefix="faultrun.") as report:
        done = subprocess.run([FAULTRUN, "--output", report.name, *map(str, options), "--", *map(str, program)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **more)
        run = Run(done.returncode, done.stdout, done.stderr, report.read())
    if run.status == TROUBLE:
        raise RuntimeError(run.err.strip())
    return run


def count(program, own_from=None, **more):
    """The processes of an undisturbed run, by number."""
    own = ["--own-from", own_from] if own_from else []
    run = faultrun(["--count", *own], program, **more)
    pattern = r"^process=(\d+) count=(\d+) own=(\d+) name=(.*)$"
    found = [Process(int(k), int(n), int(m), name) for k, n, m, name in re.findall(pattern, run.report, re.M)]
    return run, sorted(found, key=lambda process: process.number)


def calls(program, own_from=None, **more):
    """Every call of an undisturbed run, and its processes."""
    own = ["--own-from", own_from] if own_from else []
    run = faultrun(["--list", *own], program, **more)
    found = [Call(int(k), int(n), name, path) for k, n, name, path in re.findall(r"^(\d+) (\d+) (\S+) (.*)$", run.report, re.M)]
    pattern = r"^process=(\d+) count=(\d+) own=(\d+) name=(.*)$"
    processes = [Process(int(k), int(n), int(m), name) for k, n, m, name in re.findall(pattern, run.report, re.M)]
    return run, found, sorted(processes, key=lambda process: process.number)


def counting(call, path):
    return [*(["--call", call] if call else []), *(["--path", path] if path else [])]


def kill(program, process, at, look=None, call=None, path=None, **more):
    """look: a shell command, run while the process stands before its last call. call, path: only such calls are counted for `at`, so that
    it names the same one however often the program waits before it."""
    return faultrun(["--process", process, "--at", at, "--kill", *counting(call, path), *(["--look", look] if look else [])], program, **more)


def fail(program, process, at, error, only=None, lasting=False, call=None, path=None, **more):
    options = ["--process", process, "--at", at, "--error", error, *counting(call, path)]
    if only:
        options += ["--only", only]
    if lasting:
        options += ["--lasting"]
    return faultrun(options, program, **more)


def sample(points, most):
    """At most `most` of the points, spread evenly, the first and the last among them."""
    points = list(points)
    if len(points) <= most:
        return points
    return [points[i * (len(points) - 1) // (most - 1)] for i in range(most)]
