#!/usr/bin/python3
"""Letters a second and perft, each beside a named peer on the same work in the same run.

    bench.py [LETTERS]        1,000 if not given

One `once` over LETTERS letters: half of them moves in games, half questions. The peers read or write the same letters:
Python's mailbox and email packages parse them, and SQLite (synchronous=FULL, one transaction per 64) stores their bytes. perft is counted beside
Stockfish's. The last lines are the ratios; the absolute figures say something about this machine only.
"""
import email
import email.policy
import mailbox
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", ROOT / "build"))
sys.path.insert(0, str(ROOT / "tests" / "mail"))

from club import Club  # noqa: E402

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
BATCH = 64


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def prepare(folder, count):
    """A club with as many games as it takes, and one letter of every player waiting."""
    club = Club(folder, limits={"player_per_day": 100000})
    pairs = (count + 1) // 2
    for number in range(pairs):
        white = club.player(f"White Player{number}", f"w{number}@white.example")
        black = club.player(f"Black Player{number}", f"b{number}@black.example")
        club.run("game", "new", white.name, black.name)
        club.pairs = getattr(club, "pairs", []) + [(white, black)]
    club.once()
    club.advance(hours=2)
    written = 0
    for white, black in club.pairs:
        for player, text in ((white, "1. e4\n\nGood luck!"), (black, "board")):
            if written < count:
                club.answer(player, player.read_new()[-1], text)
                written += 1
    return club


def read_by_python(path):
    count = 0
    for letter in mailbox.Maildir(path, factory=None, create=False):
        message = email.message_from_bytes(bytes(letter), policy=email.policy.default)
        part = message.get_body(("plain", "html"))
        count += part is not None and len(part.get_content()) > 0
    return count


def stored_by_sqlite(path, letters):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE raw(id INTEGER PRIMARY KEY, name TEXT UNIQUE, bytes BLOB)")
    for first in range(0, len(letters), BATCH):
        database.execute("BEGIN IMMEDIATE")
        for file in letters[first:first + BATCH]:
            database.execute("INSERT INTO raw(name, bytes) VALUES(?, ?)", (file.name, file.read_bytes()))
        database.execute("COMMIT")
    database.close()


def letters_bench(count):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="epistle-bench-"))
    try:
        club = prepare(folder, count)
        copies = folder / "copies"
        shutil.copytree(club.inbox.path, copies)
        files = sorted((copies / "new").iterdir())
        python_seconds, parsed = timed(lambda: read_by_python(copies))
        sqlite_seconds, _ = timed(lambda: stored_by_sqlite(folder / "peer.db", files))
        seconds, _ = timed(lambda: club.run("once", "--now", club.now.strftime("%Y-%m-%dT%H:%M:%SZ"), timeout=3600))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        status = club.run("letters", "--json")
        settled = status.count('"state": "settled"')
        assert parsed == count and settled == min(count, 1000), (parsed, settled)
        print(f"epistle once             {count / seconds:10.0f} letters/s   (settled, answered, every commit synced; {peak // 1024} MB at most)")
        print(f"python mailbox + email   {count / python_seconds:10.0f} letters/s   (parsed only)")
        print(f"sqlite, batches of {BATCH}    {count / sqlite_seconds:10.0f} letters/s   (stored only)")
        return [("once : python parsing", python_seconds / seconds), ("once : sqlite storing", sqlite_seconds / seconds)]
    finally:
        shutil.rmtree(folder)


def perft_bench(depth):
    program = str(BUILD / "epistle")
    seconds, done = timed(lambda: subprocess.run([program, "perft", str(depth), KIWIPETE], capture_output=True, text=True, check=True).stdout)
    nodes = max(int(number) for number in re.findall(r"\d+", done.split("nodes per second")[0].replace(",", "")))
    print(f"epistle perft {depth}          {nodes / seconds / 1e6:10.1f} million nodes/s")
    stockfish = shutil.which("stockfish") or "/usr/games/stockfish"
    if not os.path.exists(stockfish):
        print("stockfish is not installed: no ratio for perft (make test-deps installs it)")
        return []
    words = f"position fen {KIWIPETE}\ngo perft {depth}\nquit\n"
    peer_seconds, told = timed(lambda: subprocess.run([stockfish], input=words, capture_output=True, text=True, check=True).stdout)
    peer_nodes = int(re.search(r"Nodes searched: (\d+)", told).group(1))
    assert peer_nodes == nodes, (peer_nodes, nodes)
    print(f"stockfish perft {depth}        {nodes / peer_seconds / 1e6:10.1f} million nodes/s")
    return [("perft : stockfish", peer_seconds / seconds)]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    ratios = letters_bench(count) + perft_bench(5)
    for name, ratio in ratios:
        print(f"{name:26} {ratio:8.3f}")


if __name__ == "__main__":
    main()
