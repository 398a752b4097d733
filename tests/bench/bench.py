#!/usr/bin/python3
"""Letters a second and perft, each beside a named peer on the same work in the same run.

    bench.py [LETTERS [LETTERS OVER SERVERS]]        1,000 and 2,000 if not given; 0 leaves that part out

One `once` over LETTERS letters in a Maildir: half of them moves in games, half questions. The peers read or write the same letters:
Python's mailbox and email packages parse them, and SQLite (synchronous=FULL, one transaction per 64) stores their bytes.

Then one `once` over letters in a Dovecot, fetched by IMAP with TLS and marked, whose answers go to Postfix's smtp-sink over two lines. Its
peers move the same letters and do nothing else: isync's mbsync fetches them from another mailbox of the same Dovecot, and Postfix's smtp-source sends as
many letters of the same bytes to the same sink over two lines.

perft is counted beside Stockfish's, and replay beside pgn-extract. The last lines are the ratios; the absolute figures say something about this machine only.
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

from bench_chess import perft_bench  # noqa: E402
from bench_mating import mating_bench  # noqa: E402
from bench_replay import replay_bench  # noqa: E402
from club import Club  # noqa: E402
from servers import PASSWORD, Certificates, Dovecot, answers, free_ports, public_folder, wait_for  # noqa: E402

BATCH = 64
LINES = 2  # of SMTP at once


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def prepare(folder, count, each=1):
    """A club with as many games as it takes, and `each` letters of every player waiting: his move first, where he has one, then questions."""
    club = Club(folder, limits={"player_per_day": 100000})
    pairs = (count + 2 * each - 1) // (2 * each)
    for number in range(pairs):
        white = club.player(f"White Player{number}", f"w{number}@white.example")
        black = club.player(f"Black Player{number}", f"b{number}@black.example")
        club.run("game", "new", white.name, black.name)
        club.pairs = getattr(club, "pairs", []) + [(white, black)]
    club.once()
    club.advance(hours=2)
    written = 0
    for white, black in club.pairs:
        for player, first in ((white, "1. e4\n\nGood luck!"), (black, "board")):
            letter = player.read_new()[-1]
            for number in range(min(each, count - written)):
                club.answer(player, letter, "board" if number else first)
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


class Sink:
    """Takes letters over SMTP and forgets them; `letters` of them, as it counts."""

    def __init__(self, folder):
        self.port, = free_ports(1)
        self.output = folder / "sink"
        user = ["-u", "mail"] if os.geteuid() == 0 else []
        with open(self.output, "wb") as output:
            self.child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "smtp-sink", *user, "-c", f"127.0.0.1:{self.port}", "100"],
                                          stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_for(lambda: answers(self.port), "smtp-sink answers")

    @property
    def letters(self):
        counts = re.findall(rb"mesg=(\d+)", self.output.read_bytes())
        return int(counts[-1]) if counts else 0

    def stop(self):
        self.child.terminate()
        self.child.wait(10)


def fill(dovecot, user, letters):
    """Copies with their times, as a delivery would leave them."""
    maildir = dovecot.maildir(user)
    for file in letters:
        shutil.copy2(file, maildir.path / "new" / file.name)
    dovecot.own(dovecot.mail / user)


def fetch_by_mbsync(folder, dovecot, user):
    (folder / "mbsync" / "copy").mkdir(parents=True)
    (folder / "mbsyncrc").write_text(f"""\
IMAPAccount bench
Host localhost
Port {dovecot.ports["imaps"]}
User {user}
Pass {PASSWORD}
SSLType IMAPS
CertificateFile {dovecot.certificates.ca}

IMAPStore far
Account bench

MaildirStore near
Path {folder}/mbsync/
Inbox {folder}/mbsync/copy

Channel bench
Far :far:
Near :near:
Sync Pull New
SyncState *
""")
    subprocess.run(["mbsync", "-c", str(folder / "mbsyncrc"), "bench"], check=True, capture_output=True, text=True, timeout=600)
    return sum(1 for part in ("new", "cur") for _ in (folder / "mbsync" / "copy" / part).iterdir())


def send_by_smtp_source(port, count, letter):
    subprocess.run(["smtp-source", "-s", str(LINES), "-m", str(count), "-F", str(letter), "-f", "chess@club.example", "-t", "anna@white.example",
                    f"127.0.0.1:{port}"], check=True, capture_output=True, timeout=600)


def once(club):
    club.run("once", "--now", club.now.strftime("%Y-%m-%dT%H:%M:%SZ"), timeout=3600)


def letters_out(club):
    """What the club will send, as files: a run that is undone. smtp-source sends one letter many times, so: the one of middling size."""
    kept = {path: path.read_bytes() for path in club.store.parent.glob("epistle.db*")}
    before = set(club.outgoing.glob("*/new/*"))
    once(club)
    for path in club.store.parent.glob("epistle.db*"):
        path.unlink()
    for path, content in kept.items():
        path.touch(0o600)
        path.write_bytes(content)
    files = set(club.outgoing.glob("*/new/*")) - before
    mean = sum(file.stat().st_size for file in files) / len(files)
    return len(files), min(files, key=lambda file: abs(file.stat().st_size - mean))


def servers_bench(count):
    for program in ("dovecot", "mbsync", "smtp-sink", "smtp-source"):
        if not shutil.which(program):
            print(f"{program} is not installed: no ratio for letters over servers (make test-deps installs it)")
            return []
    with public_folder() as folder:
        club = prepare(folder / "club", count, each=8)
        files = sorted((club.inbox.path / "new").iterdir())
        assert len(files) == count, len(files)
        copies = folder / "copies"
        shutil.copytree(club.inbox.path / "new", copies)
        files = sorted(copies.iterdir())
        expected, typical = letters_out(club)
        with Dovecot(folder / "dovecot", Certificates(folder / "certificates")) as dovecot:
            fill(dovecot, "chess@club.example", files)
            fill(dovecot, "peer@club.example", files)
            for user in ("chess@club.example", "peer@club.example"):  # each letter has its UID before anybody is timed
                assert len(dovecot.letters(user=user)) == count
            sink = Sink(folder)
            try:
                club.servers = {"mailbox": dovecot.mailbox("imaps"), "outgoing": {"url": f"smtp://127.0.0.1:{sink.port}", "tls": "none", "lines": LINES}}
                club.write_configuration()
                seconds, _ = timed(lambda: once(club))
                wait_for(lambda: sink.letters >= expected, "smtp-sink counts")
                out = sink.letters
                marked = sum("\\Seen" in flags for flags, _ in dovecot.letters().values())
                assert marked == count and out == expected, (marked, out, expected)
                fetch_seconds, fetched = timed(lambda: fetch_by_mbsync(folder, dovecot, "peer@club.example"))
                assert fetched == count, fetched
                send_seconds, _ = timed(lambda: send_by_smtp_source(sink.port, out, typical))
                wait_for(lambda: sink.letters == 2 * out, "smtp-sink counts")
            finally:
                sink.stop()
        print(f"epistle once, servers    {count / seconds:10.0f} letters/s   ({count} by IMAP, settled, {out} answered by SMTP, every commit synced)")
        print(f"mbsync                   {count / fetch_seconds:10.0f} letters/s   (fetched only)")
        print(f"smtp-source              {out / send_seconds:10.0f} letters/s   (sent only, {typical.stat().st_size} bytes each)")
        return [("once : mbsync + smtp-source", (fetch_seconds + send_seconds) / seconds)]


def main():
    counts = [int(word) for word in sys.argv[1:]] + [1000, 2000][len(sys.argv) - 1:]
    mating_bench()
    ratios = (letters_bench(counts[0]) if counts[0] else []) + (servers_bench(counts[1]) if counts[1] else []) + perft_bench() + replay_bench()
    for name, ratio in ratios:
        print(f"{name:26} {ratio:8.3f}")


if __name__ == "__main__":
    main()
