"""Mating against somebody who wants it to be wrong: mates taken back, fortresses searched for a mate. A short run; the
program's head says how to make it long."""
import os
import pathlib
import re
import subprocess

SKEPTIC = pathlib.Path(os.environ.get("B", "build")) / "tests" / "mating_skeptic"


def test_no_side_is_wrongly_called_unable():
    done = subprocess.run([SKEPTIC, "4", "300"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    counts = {name: int(count) for name, count in re.findall(r"([a-z][a-z ]*) (\d+)(?:[,;]|\n)", done.stdout)}
    assert counts["mates"] == 300 and counts["wrong"] == 0
    # what was to be tried was really there
    assert counts["taken back"] > 5000 and counts["full asked"] > 500
    assert counts["can"] > 50 and counts["cannot with men"] > 50 and counts["moves by lot"] > 5000 and counts["turned round"] > 500
