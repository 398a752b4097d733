"""A thousand letters in one cycle: outcomes, commits, memory (RULINGS 42; issue 2)."""
import re
import subprocess
import time

from club import Club

BATCH = 64


def fill(club, letters, players=20):
    """A club with many games, and one letter waiting for each: moves for the most part, refusals, questions, strangers' among them."""
    people = [club.player(f"Player No{i}", f"p{i}@far.example", program="bare" if i % 2 else "gmail") for i in range(players)]
    pairs = [(people[i % players], people[(i + 1 + i // players) % players]) for i in range(letters * 15 // 100)]
    pairs = [(white, black) for white, black in pairs if white is not black]
    for white, black in pairs:
        club.run("game", "new", white.name, black.name)
    club.once(timeout=120)
    waiting = [(player, letter) for player in people for letter in player.read_new() if "It is your move." in letter.flat]
    expected = {"played": 0, "refused": 0, "ignored": 0, "asked": 0, "done": 0}
    texts = (("e4\n\nHello", "played"), ("1. d4", "played"), ("Nf3 (=)", "played"))
    count = 0
    for i, (player, letter) in enumerate(waiting):
        text, outcome = texts[i % 3]
        club.deliver(player.answer(letter, text, club.now), sender=player.address)
        expected[outcome] += 1
        count += 1
    extra = (("Ke3", "refused"), ("board", "done"), ("How are you?", "asked"))
    while count < letters:
        player, letter = waiting[count % len(waiting)]
        if count % 7 == 0:
            club.deliver(b"From: eve@far.example\r\nTo: chess@club.example\r\nSubject: x\r\n\r\n1. e4\r\n")
            expected["ignored"] += 1
        else:
            text, outcome = extra[count % 3]
            club.deliver(player.answer(letter, text, club.now), sender=player.address)
            expected[outcome] += 1
        count += 1
    club.advance(minutes=5)
    return {word: number for word, number in expected.items() if number}


def peak(club):
    """Runs one cycle under getrusage's eyes: (seconds, kB of the largest process)."""
    program = ("import resource, subprocess, sys\n"
               "code = subprocess.run(sys.argv[1:]).returncode\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
               "sys.exit(code)\n")
    began = time.monotonic()
    done = subprocess.run(["/usr/bin/python3", "-c", program, *club.once_command()], capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr
    return time.monotonic() - began, int(done.stdout.split()[-1])


def outcomes(club):
    counts = {}
    for row in club.json("letters"):
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + 1
    return counts


def test_a_thousand_letters(tmp_path):
    limits = {"player_per_day": 100000}
    small, large = (Club(tmp_path / name, limits=limits) for name in ("small", "large") if not (tmp_path / name).mkdir())
    expected = fill(small, 100)
    _, little = peak(small)
    assert outcomes(small) == expected
    expected = fill(large, 1000)
    seconds, much = peak(large)
    assert outcomes(large) == expected
    assert large.inbox.waiting() == [] and large.json("outbox") == []
    assert much <= 1.5 * little, (little, much)
    assert seconds < 60, seconds
    large.run("verify", timeout=120)
    print(f"1,000 letters in {seconds:.1f} s, {much} kB; 100 letters: {little} kB")


def test_two_commits_for_a_batch_in_and_two_for_a_batch_out(tmp_path):
    """Commits are counted where they cannot hide: as syncs of the write-ahead log, one for each under synchronous=FULL, and two
    more for each time the log is copied into the database (before it, and for the head of the new log)."""
    club = Club(tmp_path, limits={"player_per_day": 100000})
    fill(club, 3 * BATCH, players=6)
    trace = tmp_path / "trace"
    sent_before = sum(len(list((folder / "new").iterdir())) for folder in club.outgoing.iterdir())
    done = subprocess.run(["strace", "-f", "-y", "-o", str(trace), "-e", "trace=fdatasync,fsync", *club.once_command()], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    syncs = [re.search(r"epistle\.db(-wal)?>\) ", line) for line in trace.read_text().splitlines()]
    logs, copies = (sum(1 for found in syncs if found and bool(found.group(1)) == log) for log in (True, False))
    sent = sum(len(list((folder / "new").iterdir())) for folder in club.outgoing.iterdir()) - sent_before
    batches_in, batches_out = 3, -(-sent // BATCH)
    # The last filing is noted by the first commit of the queue, or by one of its own.
    assert batches_in + batches_out <= logs <= 2 * batches_in + 2 * batches_out + 1 + 2 * copies, (logs, copies, batches_in, batches_out)
