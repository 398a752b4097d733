"""The README's five minutes, literally, and that no macro of a manual swallows text."""
import re
import subprocess

import pytest

from club import PROGRAM, ROOT


def test_the_five_minutes(tmp_path):
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.S | re.M)
    (first,) = [i for i, block in enumerate(blocks) if "mkdir club" in block]
    script = "".join(blocks[first:]).replace("make deps && make\n", "")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "epistle").symlink_to(PROGRAM)
    done = subprocess.run(["sh", "-e"], input=script, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.count("\nReply-To: ") == 4 and "Anna Berg has played 1. e4" in done.stdout and "Good luck, Boris!" in done.stdout
    assert "=\n" not in done.stdout and "letters out: 2 sent" in done.stdout and "move 1, black to move" in done.stdout


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.[1578]")))
def test_quotation_marks_of_manuals_are_closed(page):
    text = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=100", str(ROOT / "docs" / page)], capture_output=True, text=True, check=True).stdout
    text = re.sub(r"‐\n *|.\x08", "", text)
    for quoted in re.findall(r"‘[^’]*(?:‘|$)", text.replace("‘\\'’", "")):
        raise AssertionError(quoted)
    assert not re.search(r"^ {35,}\S", text.split("\n", 1)[1].rsplit("\n", 2)[0].replace("BSD", ""), re.M)
