"""Every legal move of many positions in three notations, their FENs and flags, as another program has them; and the verb moves."""
import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("B", "build"))
PROGRAM = os.environ.get("EPISTLE", str(BUILD / "epistle"))
SUITE = BUILD / "tests" / "moves_suite"
SHARED = pathlib.Path(os.environ.get("EPISTLE_SHARED", "../shared")) / "chess-data"
OWN = pathlib.Path("tests/data/chess")
FILES = [(OWN / "moves-standard.tsv", []), (OWN / "moves-chess960.tsv", ["--chess960"]),
         (SHARED / "moves-standard.tsv", []), (SHARED / "moves-chess960.tsv", ["--chess960"])]
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def lines(file):
    if not file.exists():
        assert file.parent != OWN
        pytest.skip("the positions beside the project are not here")
    return [line.split("\t") for line in file.read_text().splitlines() if not line.startswith("#")]


def suite(*arguments):
    return subprocess.run([SUITE, *arguments], capture_output=True, text=True, timeout=600)


def moves(*arguments, given=""):
    return subprocess.run([PROGRAM, "moves", *arguments], input=given, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("file, options", FILES, ids=lambda value: "/".join(value.parts[-2:]) if isinstance(value, pathlib.Path) else "")
def test_files(file, options):
    positions = lines(file)
    done = suite(*options, str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    count = sum(len(columns[-1].split()) for columns in positions)
    assert done.stdout == f"positions {len(positions)}, moves {count}, differences 0\n"
    assert len(positions) > 50


@pytest.mark.parametrize("file, options", FILES, ids=lambda value: "/".join(value.parts[-2:]) if isinstance(value, pathlib.Path) else "")
def test_the_verb(file, options):
    positions = lines(file)
    expected = [columns[-1] for columns in positions]
    for column in range(len(positions[0]) - 1):
        if column == 3:  # flags
            continue
        done = moves("-", *options, given="".join(columns[column] + "\n" for columns in positions))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == expected


KINGS = "4k3/8/8/8/8/8/8/K7 w - - 0 1"
KINGS_MOVES = "a1a2=Ka2=Ka1-a2 a1b1=Kb1=Ka1-b1 a1b2=Kb2=Ka1-b2"


@pytest.mark.parametrize("line, status", [
    (f"{KINGS}\t{KINGS_MOVES}", 0),
    (f"{KINGS}\t{KINGS}\t{KINGS}\t--Iwb\t{KINGS_MOVES}", 0),
    (f"{KINGS}\t{KINGS_MOVES[:-2]}b3", 1),
    (f"{KINGS}\t{KINGS_MOVES.rsplit(' ', 1)[0]}", 1),
    (f"{KINGS}\t{KINGS_MOVES} a1c1=Kc1=Ka1-c1", 1),
    (f"{KINGS}\t{KINGS}\t{KINGS}\t---wb\t{KINGS_MOVES}", 1),
    (f"{KINGS}\t{KINGS}\t{KINGS}\tC-Iwb\t{KINGS_MOVES}", 1),
    (f"{KINGS}\t{KINGS.replace(' w ', ' b ')}\t{KINGS}\t--Iwb\t{KINGS_MOVES}", 1),
    (f"{KINGS}\t{KINGS}\t{KINGS.replace(' 0 1', ' 1 1')}\t--Iwb\t{KINGS_MOVES}", 1),
    ("4k3/8/8/8/8/8/8/K7 w - - 0 0\t" + KINGS_MOVES, 1),
    (f"{KINGS}\t{KINGS}\t{KINGS}\t--I\t{KINGS_MOVES}", 2),
    (f"{KINGS}\t{KINGS}\t{KINGS}\t{KINGS_MOVES}", 2),
    (KINGS, 2),
    (f"nonsense\t{KINGS_MOVES}", 2),
    ("# nothing", 2),
])
def test_the_comparing_itself(tmp_path, line, status):
    file = tmp_path / "some.tsv"
    file.write_text("# some\n" + line + "\n")
    assert suite(str(file)).returncode == status


# ---- flags and FENs of our own, where another program's are not at hand ----

@pytest.mark.parametrize("fen, shredder, always, flags", [
    ("4k3/8/8/8/8/8/8/4K1RR w K - 0 1",) + 2 * ("4k3/8/8/8/8/8/8/4K1RR w H - 0 1",) + ("-----",),
    ("4k3/8/8/8/8/8/8/4K1RR w G - 0 1",) + 2 * ("4k3/8/8/8/8/8/8/4K1RR w G - 0 1",) + ("-----",),   # not the outermost rook
    ("rnbqkbnr/pppp1ppp/8/8/4pP2/8/PPPPP1PP/RNBQKBNR b KQkq f3 0 2", "rnbqkbnr/pppp1ppp/8/8/4pP2/8/PPPPP1PP/RNBQKBNR b HAha f3 0 2",
     "rnbqkbnr/pppp1ppp/8/8/4pP2/8/PPPPP1PP/RNBQKBNR b KQkq f3 0 2", "-----"),
    ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b HAha - 0 1",
     "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", "-----"),
    ("8/8/8/8/k2Pp2Q/8/8/3K4 b - - 0 1", "8/8/8/8/k2Pp2Q/8/8/3K4 b - - 0 1", "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", "-----"),
    ("k7/1Q6/1K6/8/8/8/8/8 b - - 9 60",) + 2 * ("k7/1Q6/1K6/8/8/8/8/8 b - - 9 60",) + ("CM--b",),
    ("k7/2Q5/1K6/8/8/8/8/8 b - - 9 60",) + 2 * ("k7/2Q5/1K6/8/8/8/8/8 b - - 9 60",) + ("-S--b",),
    ("8/2kr4/8/K7/8/8/8/8 w - - 0 1",) + 2 * ("8/2kr4/8/K7/8/8/8/8 w - - 0 1",) + ("---w-",),
    ("4k3/8/8/8/8/8/8/2BNK3 w - - 0 1",) + 2 * ("4k3/8/8/8/8/8/8/2BNK3 w - - 0 1",) + ("----b",),
    ("4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1",) + 2 * ("4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1",) + ("--Iwb",),
])
def test_fens_and_flags(tmp_path, fen, shredder, always, flags):
    file = tmp_path / "some.tsv"
    listed = moves(fen)
    file.write_text("\t".join([fen, shredder, always, flags, listed.stdout]))
    done = suite(str(file))
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_position_or_many_and_bad_ones_between():
    assert moves(START).stdout.count("=") == 40
    done = moves("-", given=f"bad\n{START}\n\n{KINGS}\n")
    assert done.returncode == 1
    assert [len(line.split()) for line in done.stdout.splitlines()] == [0, 20, 0, 3]
    assert len(done.stderr.splitlines()) == 1  # an empty line is no bad one
    odd = [KINGS + "\0", KINGS, KINGS + "\0more", KINGS, 5000 * "k", KINGS, 1023 * "k", KINGS, 1024 * "k", KINGS, "\r", KINGS + "\r", "\0", KINGS]
    done = moves("-", given="\n".join(odd))  # each line has its line, whatever is in it
    assert [len(line.split()) for line in done.stdout.splitlines()] == [3 * (i % 2) for i in range(len(odd))]
    done = moves("-", given=START)  # no line end
    assert done.returncode == 0 and done.stdout == moves(START).stdout
    assert moves("-", given="").stdout == ""
    assert moves("k7/2Q5/1K6/8/8/8/8/8 b - - 9 60").stdout == "\n"
    assert moves().returncode == 2 and moves(START, START).returncode == 2
