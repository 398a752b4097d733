"""The verbs are tried on a small club; its Maildirs and players are those of tests/mail."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "mail"))

from club import Club  # noqa: E402
from servers import certificates, dovecot, mailbox_user, postfix, server_folder  # noqa: E402, F401


@pytest.fixture
def club(tmp_path):
    return Club(tmp_path)


@pytest.fixture
def running(club):
    """Ann and Bob play game 1; both have their first letter."""
    club.ann = club.player("Ann Muster", "ann@muster.example")
    club.bob = club.player("Bob Klein", "bob@klein.example")
    assert club.run("game", "new", "Ann Muster", "bob@klein.example") == "game 1\n"
    club.once()
    club.letters = {player.name: player.read_new()[-1] for player in (club.ann, club.bob)}
    return club
