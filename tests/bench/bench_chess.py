#!/usr/bin/python3
"""perft beside Stockfish's, both counting at the last ply.

    bench_chess.py [ROUNDS]        7 if not given

Ours and Stockfish's take turns; each is credited with its best round. Both sides by processor time: ours as `epistle perft` tells it,
Stockfish's as the kernel tells it of all its threads between "readyok" and "Nodes searched", so nobody's start-up counts. The nodes must agree.
The last lines are the ratios; the absolute figures say something about this machine only.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("B", ROOT / "build"))

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
WORK = (("start", START, 6), ("Kiwipete", KIWIPETE, 5))
ROUNDS = 7


def ours(fen, depth):
    """Nodes, and nodes a second."""
    told = subprocess.run([BUILD / "epistle", "perft", str(depth), fen], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"^total: (\d+)$", told, re.M).group(1)), float(re.search(r"^nodes per second: (\d+)$", told, re.M).group(1))


class Stockfish:
    def __init__(self, program):
        self.child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.ask("uci\nisready", "readyok")

    def ask(self, words, last):
        self.child.stdin.write(words + "\n")
        self.child.stdin.flush()
        for line in self.child.stdout:
            if line.startswith(last):
                return line
        raise EOFError("stockfish has ended")

    def processor_seconds(self):
        tasks = pathlib.Path(f"/proc/{self.child.pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9

    def perft(self, fen, depth):
        self.ask(f"position fen {fen}\nisready", "readyok")
        begin = self.processor_seconds()
        nodes = int(self.ask(f"go perft {depth}", "Nodes searched").split()[-1])
        return nodes, nodes / (self.processor_seconds() - begin)

    def stop(self):
        self.child.stdin.write("quit\n")
        self.child.stdin.close()
        self.child.wait(10)


def perft_bench(rounds=ROUNDS):
    """Prints a table; returns [(what, ratio)], empty where there is no Stockfish."""
    program = shutil.which("stockfish", path=os.environ.get("PATH", "") + ":/usr/games")
    peer = Stockfish(program) if program else None
    ratios = []
    try:
        for name, fen, depth in WORK:
            best, peer_best = 0.0, 0.0
            for _ in range(rounds):
                nodes, speed = ours(fen, depth)
                best = max(best, speed)
                if peer:
                    peer_nodes, speed = peer.perft(fen, depth)
                    assert peer_nodes == nodes, (peer_nodes, nodes)
                    peer_best = max(peer_best, speed)
            print(f"epistle perft {depth}, {name:9}  {best / 1e6:10.1f} million nodes/s")
            if peer:
                print(f"stockfish perft {depth}, {name:9}{peer_best / 1e6:10.1f} million nodes/s")
                ratios.append((f"perft {name} : stockfish", best / peer_best))
    finally:
        if peer:
            peer.stop()
    if not peer:
        print("stockfish is not installed: no ratio for perft (make test-deps installs it)")
    return ratios


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    for name, ratio in perft_bench(rounds):
        print(f"{name:26} {ratio:8.3f}")


if __name__ == "__main__":
    main()
