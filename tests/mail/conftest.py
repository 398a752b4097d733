"""Fixtures of the end-to-end tests."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from club import Club  # noqa: E402
from servers import certificates, dovecot, mailbox_user, postfix, server_folder  # noqa: E402, F401


@pytest.fixture
def club(tmp_path):
    """A fresh club; `club_with` where its configuration matters."""
    return Club(tmp_path)


@pytest.fixture
def club_with(tmp_path):
    def make(**settings):
        return Club(tmp_path, **settings)
    return make
