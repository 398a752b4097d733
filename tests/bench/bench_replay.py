#!/usr/bin/python3
"""`epistle replay` beside pgn-extract -s -r: whole PGN files checked, games a second.

    bench_replay.py [GAMES [ROUNDS]]        100,000 and 5 if not given

The games are made by tests/chess/make_games (seeded, legal, 20 to 150 plies), so there is no big file in the repository. First both programs
must name the same games as broken in a file that has some with an illegal move, and none in the clean one. Then they take turns with the clean
file; each is credited with its best round, by processor time, start-up included. Last, the memory of replay on the file once and ten times over.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", ROOT / "build"))
GAMES, ROUNDS, BROKEN_EACH = 100_000, 5, 7


def processor_seconds(command):
    """And its standard output."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = child.stdout.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, output


def peak_memory(command, source, times):
    """In kB, `source` given `times` over to its standard input. rusage would tell of this Python as well, from before the exec."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        for _ in range(times):
            with open(source, "rb") as file:
                shutil.copyfileobj(file, child.stdin, 1 << 20)
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        child.stdin.close()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M).group(1))


def make(folder, name, count, *options):
    path = folder / name
    with open(path, "wb") as file:
        subprocess.run([BUILD / "tests" / "make_games", str(count), "1", *options], stdout=file, check=True)
    return path


def broken_by_us(path):
    told = subprocess.run([BUILD / "epistle", "replay", path], capture_output=True, text=True).stdout
    return {int(number) for number in re.findall(r"^[^\n]*:\d+: game (\d+): ", told, re.M)}


def broken_by_peer(program, path):
    told = subprocess.run([program, "-s", "-r", path], capture_output=True, text=True, errors="replace").stderr
    return {int(number) for number in re.findall(r"^Game (\d+) - ", told.replace("\r", "\n"), re.M)}


def replay_bench(games=GAMES, rounds=ROUNDS):
    """Prints a table; returns [(what, ratio)], empty where there is no pgn-extract."""
    program = shutil.which("pgn-extract", path=os.environ.get("PATH", "") + ":/usr/games")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="epistle-bench-"))
    try:
        clean = make(folder, "clean.pgn", games)
        spoilt = make(folder, "spoilt.pgn", games // 4, "bad", str(BROKEN_EACH))
        expected = set(range(BROKEN_EACH, games // 4 + 1, BROKEN_EACH))
        assert broken_by_us(clean) == set() and broken_by_us(spoilt) == expected
        if program:
            assert broken_by_peer(program, clean) == set() and broken_by_peer(program, spoilt) == expected
        best, peer_best = float("inf"), float("inf")
        for _ in range(rounds):
            seconds, told = processor_seconds([BUILD / "epistle", "replay", clean])
            assert told.startswith(f"games {games}, ") and told.endswith(", errors 0\n"), told
            best = min(best, seconds)
            if program:
                peer_best = min(peer_best, processor_seconds([program, "-s", "-r", clean])[0])
        once, often = (peak_memory([BUILD / "epistle", "replay", "-"], clean, times) for times in (1, 10))
        print(f"epistle replay           {games / best:10.0f} games/s      ({os.path.getsize(clean) / best / 1e6:.0f} MB/s; {told.strip()})")
        print(f"    peak memory          {once / 1024:10.1f} MB, {often / 1024:.1f} MB on ten times as much")
        if not program:
            return []
        print(f"pgn-extract -s -r        {games / peer_best:10.0f} games/s      ({len(expected)} of {games // 4} other games broken, as both say)")
        return [("replay : pgn-extract", peer_best / best)]
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    for what, ratio in replay_bench(*(int(word) for word in sys.argv[1:])):
        print(f"{what:30}{ratio:8.2f}")
