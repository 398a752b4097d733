"""Node counts of stockfish: fills those that are missing in tests/data/chess/perft-own.epd.

usage: python3 tests/chess/perft_own.py FILE   (rewrites it; a new line needs the FEN alone, a comment above says what it is for)
The counts there are another program's for good; test_oracle.py asks it again for the small ones."""
import re
import shutil
import subprocess
import sys

NODES_MAX = 1_500_000  # of one position, all depths together: the whole file must be counted in a few seconds
DEPTH_MAX = 8
ENGINE = "stockfish"


class Engine:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        # Standard positions have the same counts so; others cannot be read otherwise.
        self.process.stdin.write("setoption name UCI_Chess960 value true\n")

    def perft(self, fen, depth):
        self.process.stdin.write(f"position fen {fen}\ngo perft {depth}\n")
        for line in self.process.stdout:
            if line.startswith("Nodes searched: "):
                return int(line.split()[-1])
        raise EOFError("the engine has ended")

    def close(self):
        self.process.communicate("quit\n")


def positions(text):
    """(FEN, {depth: count}) of each line that has a position."""
    for line in text.splitlines():
        if line and not line.startswith("#"):
            fen, *counts = line.split(";")
            yield fen.strip(), {int(depth): int(count) for depth, count in (re.fullmatch(r"D(\d+) (\d+) *", c).groups() for c in counts)}


def filled(engine, fen):
    counts, left = [], NODES_MAX
    for depth in range(1, DEPTH_MAX + 1):
        # Not begun where it would be too much: a ply more is seldom a hundred times more.
        if counts and counts[-1] * 4 > left:
            break
        count = engine.perft(fen, depth)
        if count > left and counts:
            break
        counts.append(count)
        left -= count
    return fen + "".join(f" ;D{depth} {count}" for depth, count in enumerate(counts, 1))


def main(name):
    engine = Engine(shutil.which(ENGINE) or "/usr/games/stockfish")
    with open(name) as file:
        lines = file.read().splitlines()
    lines = [filled(engine, line.strip()) if line and line[0] != "#" and ";" not in line else line for line in lines]
    engine.close()
    with open(name, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
