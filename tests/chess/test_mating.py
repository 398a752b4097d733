"""The verb mating in all its forms, as CONTRACT has it, and what core/chess/mating answers beside oracles."""
import os
import re
import subprocess

import pytest

BUILD = os.environ.get("B", "build")
PROGRAM = os.environ.get("EPISTLE", os.path.join(BUILD, "epistle"))
SHARED = os.path.join(os.environ.get("EPISTLE_SHARED", "../shared"), "chess-data")
OWN = "tests/data/chess/mating-own.txt"
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
WALL = "4k3/8/8/1p1p1p1p/1P1P1P1P/8/8/4K3 w - - 0 1"


def run(*arguments, given="", seconds=300):
    return subprocess.run([PROGRAM, *arguments], input=given, capture_output=True, text=True, timeout=seconds)


def tool(name, *arguments, seconds=900):
    return subprocess.run([os.path.join(BUILD, "tests", name), *arguments], capture_output=True, text=True, timeout=seconds)


def own_positions():
    with open(OWN) as file:
        return [line.rstrip("\n").split(" ", 1) for line in file if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize("fen, answers", [
    (START, "yes yes no"),
    (WALL, "no no yes"),
    ("7k/8/5K2/8/8/8/8/5Q2 b - - 0 1", "yes no no"),
    ("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "yes no no"),  # mate stands on the board
    ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "no no yes"),  # stalemate
])
@pytest.mark.parametrize("mode", [[], ["--quick"]])
def test_one_position(fen, answers, mode):
    done = run("mating", fen, *mode)
    white, black, dead = answers.split()
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines() == [f"White can mate: {white}", f"Black can mate: {black}", f"dead: {dead}"]


def test_many_positions():
    given = "\n".join([START, WALL, "nonsense", "8/8/8/8/8/8/8/8 w - - 0 1", "7k/8/5K2/8/8/8/8/5q2 w - - 0 1"]) + "\n"
    for mode in [[], ["--quick"]]:
        done = run("mating", "-", *mode, given=given)
        assert done.returncode == 1
        assert done.stdout.splitlines() == ["WB " + START, "-- " + WALL, "", "", "-B 7k/8/5K2/8/8/8/8/5q2 w - - 0 1"]
        assert [line.split(": ", 2)[1] for line in done.stderr.splitlines()] == ["-:3", "-:4"]
    done = run("mating", "-", given="")
    assert done.returncode == 0 and done.stdout == ""


def test_bad_fen():
    done = run("mating", "rnbqkbnr/8/8 w - - 0 1")
    assert done.returncode == 1 and done.stdout == "" and len(done.stderr.splitlines()) == 1 and "FEN" in done.stderr


def test_help_and_usage():
    assert "--quick" in run("mating", "--help").stdout
    for arguments in ([], ["--nonsense"], [START, START], [START, "--nodes", "0"], [START, "--nodes", "x"]):
        done = run("mating", *arguments)
        assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) == 1


def test_chess960():
    """A right only Chess960 knows: read with the flag as without."""
    assert run("mating", "1rk4r/8/8/8/8/8/8/1RK4R w BHbh - 0 1", "--chess960").stdout.startswith("White can mate: yes")


def test_line():
    """The line it names is played by another verb's rules, move by move, to the mate."""
    fen = "7k/8/5K2/8/8/8/8/5Q2 b - - 0 1"
    done = run("mating", fen, "--line")
    line = re.fullmatch(r"White, \d+ positions: 1\.\.\. (.*#)", done.stdout.splitlines()[3])
    assert done.returncode == 0 and line
    for san in re.sub(r"\d+\.", "", line.group(1)).split():
        moved = run("notate", fen, san)
        assert moved.stdout.splitlines()[0] == "san: " + san
        fen = moved.stdout.splitlines()[-1].removeprefix("fen: ")
    assert run("moves", fen).stdout == "\n"
    assert re.fullmatch(r"Black, \d+ positions: cannot mate", done.stdout.splitlines()[4])


def test_few_nodes():
    """Unknown counts as "can", and says that nothing was found."""
    done = run("mating", START, "--nodes", "20", "--line")
    assert done.stdout.splitlines()[:3] == ["White can mate: yes", "Black can mate: yes", "dead: no"]
    assert "no mate found, nothing proved against one" in done.stdout.splitlines()[3]


def test_own_positions():
    """Quick never says "cannot" of a side that can, full says exactly what is known."""
    known = own_positions()
    given = "".join(fen + "\n" for _, fen in known)
    quick = [line[:2] for line in run("mating", "-", "--quick", given=given).stdout.splitlines()]
    full = [line[:2] for line in run("mating", "-", given=given).stdout.splitlines()]
    assert len(known) >= 150 and len(quick) == len(full) == len(known)
    assert [(fen, got) for (right, fen), got in zip(known, full) if right != got] == []
    for (right, fen), got in zip(known, quick):
        assert all(r == g or g != "-" for r, g in zip(right, got)), fen


@pytest.mark.parametrize("name, quick_least, unknown_most", [("mating-games.txt", 1.0, 30), ("mating-hard.txt", 0.8, 60)])
def test_known_positions(name, quick_least, unknown_most):
    path = os.path.join(SHARED, name)
    if not os.path.exists(path):
        pytest.skip("the positions are not here")
    figures = {}
    for mode in ("quick", "full"):
        done = tool("mating_speed", mode, path)
        sums = re.search(r"unable (\d+), found (\d+), wrong (\d+), unknown (\d+)", done.stdout)
        assert sums, done.stdout + done.stderr
        figures[mode] = unable, found, wrong, _ = [int(sum) for sum in sums.groups()]
        assert done.returncode == 0 and wrong == 0 and unable > 0
        assert found >= (quick_least * unable if mode == "quick" else unable)
    assert figures["full"][3] <= unknown_most  # sides that can, of which no line was found


def oracle(*arguments, seconds=600):
    done = tool("mating_oracle", *arguments, seconds=seconds)
    assert done.returncode == 0, done.stdout
    sums = re.search(r"positions (\d+), sides (\d+), unable (\d+); quick missed \d+; full asked (\d+), missed 0, .* wrong 0", done.stdout)
    assert sums and int(sums.group(1)) > 0 and int(sums.group(4)) > 0, done.stdout


def test_oracle_of_three_men():
    oracle("tables", "10", "KQk", "KRk", "KBk", "KNk", "KPk")


def test_oracle_of_walls():
    oracle("walls", "1", "60")


MATERIALS = ["KBkn", "KNkn", "KNkr", "KNkq", "KBkb", "KBkr", "KBkq", "KNNk", "KBNk", "KBBk", "KRkr", "KRkq", "KQkq", "KRRk", "KRBk", "KRNk",
             "KQRk", "KQBk", "KQNk", "KQQk", "KBkp", "KNkp", "KPkp", "KPPk", "KRkp", "KQkp"]


@pytest.mark.skipif("MATING_ALL" not in os.environ, reason="hours: MATING_ALL=1")
@pytest.mark.parametrize("men", MATERIALS)
def test_oracle_of_four_men(men):
    oracle("tables", "20", men, seconds=7200)


@pytest.mark.skipif("MATING_ALL" not in os.environ, reason="an hour: MATING_ALL=1")
@pytest.mark.parametrize("seed", range(2, 12))
def test_oracle_of_many_walls(seed):
    oracle("walls", str(seed * 1000), "2000", seconds=7200)
