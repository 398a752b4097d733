"""The verb replay: what it says of whole and broken files, and that its memory does not grow with them."""
import json
import os
import pathlib
import re
import subprocess

import pytest

BUILD = os.environ.get("B", "build")
PROGRAM = os.environ.get("EPISTLE", os.path.join(BUILD, "epistle"))
MAKE_GAMES = os.path.join(BUILD, "tests", "make_games")
HEAD = '[Event "A"]\n\n'
NEXT = '\n[Event "B"]\n\n1. d4 d5 1-0\n'


def replay(text, *options):
    given = text if isinstance(text, bytes) else text.encode()
    return subprocess.run([PROGRAM, "replay", "-", *options], input=given, capture_output=True, timeout=120)


def sums(done):
    return tuple(int(number) for number in re.fullmatch(r"games (\d+), moves (\d+), errors (\d+)", done.stdout.decode().splitlines()[-1]).groups())


def test_whole_files(tmp_path):
    done = replay("")
    assert done.returncode == 0 and done.stdout == b"games 0, moves 0, errors 0\n"
    file = tmp_path / "a\tb.pgn"
    file.write_text(HEAD + "1. e4 Ke6 *\n")
    done = subprocess.run([PROGRAM, "replay", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr == ""
    line, last = done.stdout.splitlines()
    assert re.fullmatch(r"\S+/a\?b\.pgn:3: game 1: Move 1 of Black, Ke6, .+\.", line) and last == "games 1, moves 1, errors 1"
    for name in (tmp_path / "none.pgn", tmp_path):
        done = subprocess.run([PROGRAM, "replay", name], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and "cannot be read" in done.stderr


# What is broken, the line it is in, its kind, and a word of what is said; the next game is whole in every case.
BROKEN = [
    (HEAD + "1. e4\ne5 2. Ke3 Nc6 *\n", 4, "move", "Move 2 of White, Ke3"),
    (HEAD + "1. e4 e5\n2. Nf3 Nc6 3. zork *\n", 4, "move", "zork"),
    (HEAD + "1. e4 e5\n2. -- *\n", 4, "move", "--"),
    (HEAD + "1. e4 c5 2. d4 e5 3. c4\nxd4 *\n", 4, "move", "xd4"),
    (HEAD + "1. e4\n{open e5 *\n", 4, "comment", "never closed"),
    (HEAD + "1. e4\n} e5 *\n", 4, "comment", "closes no"),
    (HEAD + "1. e4\n(1. d4 e5 *\n", 4, "variation", "never closed"),
    (HEAD + "1. e4\n) e5 *\n", 4, "variation", "closes no"),
    (HEAD + "1. e4\n" + "(" * 65 + ")" * 65 + " e5 *\n", 4, "variation", "nested"),
    ('[Event "5th "Mikis" Tournament"]\n\n1. e4 *\n', 1, "tag", "Event"),
    ('[Event "A"]\n[Site "open]\n\n1. e4 *\n', 2, "tag", "Site"),
    ('[Event "A"]\n[Site "open"\n\n1. e4 *\n', 2, "tag", "Site"),
    ('[Event "A"]\n[Site open]\n\n1. e4 *\n', 2, "tag", "Site"),
    ('\n\n[Event "A"]\n[FEN "8/8/8/8 w"]\n\n1. e4 *\n', 3, "fen", "FEN"),
    (HEAD + "Nf3 Nf6 Ng1 Ng8\n" * 3001 + "*\n", 3003, "size", "12000"),
    (HEAD.replace("]\n", "]\n" + "".join(f'[T{n} "x"]\n' for n in range(128))) + "1. e4 *\n", 129, "tag", "128"),
]


@pytest.mark.parametrize("text, line, kind, words", BROKEN)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_broken(text, line, kind, words, ends):
    text = (text + NEXT).replace("\n", ends)
    done = replay(text)
    games, _, errors = sums(done)
    assert (done.returncode, games, errors) == (1, 2, 1)
    assert re.match(rf"-:{line}: game 1: .*{re.escape(words)}", done.stdout.decode())
    told = json.loads(replay(text, "--json").stdout)
    assert (told["games"], told["errors"], told["bad_games"]) == (2, 1, 1)
    fault, = told["faults"]
    assert (fault["game"], fault["line"], fault["kind"]) == (1, line, kind)
    assert ("move" in fault) == (kind == "move")


def test_utf16():
    done = replay((HEAD + "1. e4 *\n").encode("utf-16"))
    assert done.returncode == 1 and b"UTF-16" in done.stdout and sums(done) == (1, 0, 1)


def test_many_faults_of_one_game():
    done = replay(HEAD + "1. e4 " + ") " * 100000 + "e5 *\n" + NEXT)
    assert sums(done) == (2, 4, 8) and len(done.stdout.splitlines()) == 9 and b"more faults" in done.stdout


@pytest.mark.parametrize("text, words", [
    ('[Result "0-1"]\n\n1. e4 1-0\n', "Result tag"),
    ("1. f3 e5 2. g4 Qh4# 1-0\n", "0-1"),
    ("1. f3 e5 2. g4 Qh4# *\n", "0-1"),
    ('[FEN "7k/8/5KQ1/8/8/8/8/8 w - - 0 1"]\n\n1. Qf7 1-0\n', "1/2-1/2"),
    ("1. e4 e5\n", "without a result"),
    ('[Variant "Atomic"]\n\n1. Nf3 f6 2. Nd4 Kxd4 1-0\n', "Atomic"),
])
def test_warnings_are_no_errors(text, words):
    done = replay(text)
    assert done.returncode == 0 and sums(done)[2] == 0
    assert len(done.stdout.splitlines()) == 1
    line, = done.stderr.decode().splitlines()
    assert re.match(r"-:\d+: game 1: warning: ", line) and words in line
    told = json.loads(replay(text, "--json").stdout)
    assert told["warnings"] == 1 and told["faults"] == [] and told["not_checked"] == ("Atomic" in text)


def test_no_warning_where_the_result_fits():
    done = replay('[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n[Result "*"]\n\n1. e4 *\n')
    assert done.returncode == 0 and done.stderr == b""


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.pgn"
    parts = [subprocess.run([MAKE_GAMES, *words], capture_output=True, check=True).stdout
             for words in (["3000", "1"], ["500", "2", "chess960"], ["1000", "3", "rich", "bad", "4"])]
    path.write_bytes(b"".join(parts))
    return path


def test_made_games(games):
    done = replay(games.read_bytes())
    told = sums(done)
    assert told[0] == 4500 and told[2] == 250 and told[1] > 300000
    broken = [int(number) for number in re.findall(r"^-:\d+: game (\d+): ", done.stdout.decode(), re.M)]
    assert broken == list(range(3504, 4501, 4))
    lines = games.read_bytes().split(b"\n")
    for line, number in re.findall(r"^-:(\d+): game (\d+): ", done.stdout.decode(), re.M)[:50]:
        tag = max(n for n in range(int(line)) if lines[n].startswith(b"[White "))
        assert lines[tag] == f'[White "Game {int(number) - 3500}"]'.encode()


def peak_memory(path, times):
    """In kB, as the kernel tells it while the program waits for more."""
    with subprocess.Popen([PROGRAM, "replay", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        data = path.read_bytes()
        for _ in range(times):
            child.stdin.write(data)
        child.stdin.flush()
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        child.stdin.close()
        told = child.stdout.read().decode()
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.M).group(1)), int(re.search(r"games (\d+),", told).group(1))


@pytest.mark.skipif("EPISTLE_ASAN" in os.environ, reason="the sanitizers' own memory grows")
def test_memory_is_flat(tmp_path):
    path = tmp_path / "clean.pgn"
    with open(path, "wb") as file:
        subprocess.run([MAKE_GAMES, "4700", "5"], stdout=file, check=True)
    assert 2.9e6 < path.stat().st_size < 3.1e6
    once, games_once = peak_memory(path, 1)
    often, games_often = peak_memory(path, 100)
    assert games_once == 4700 and games_often == 470000
    assert often <= once + 256, (once, often)


@pytest.mark.parametrize("piece", ["(", "{", "[", "7", "\0", ")", '"', "[A \"", "e4", "1. e4 e5 {a} ", "\n[", "\r", "*", "(1. e4 "])
def test_hostile(piece):
    """10 MB of it; that its work is linear is counted in tests/unit/test_core_pgn_pieces.c."""
    done = replay(piece * (10_000_000 // len(piece)))
    assert done.returncode in (0, 1)
    games, moves, errors = sums(done)
    assert (done.returncode == 1) == (errors > 0)
    assert games <= 10_000_000 and errors <= 8 * max(games, 1)


def test_one_line_of_50_megabytes():
    done = replay("1. e4 {" + "x" * 25_000_000 + "} e5 " + "2. Nf3 Nc6 3. Ng1 Nb8 " * 1 + "; " + "y" * 25_000_000 + "\n*" + NEXT)
    assert done.returncode == 0 and sums(done) == (2, 8, 0)
