"""A real full disk: the store on a file system with 300 kB to spare, which fills and is then freed. Needs root, to mount a tmpfs."""
import os
import shutil
import subprocess

import pytest

from club import Club
from scenes import Scene
from sweep import plain

ROUNDS = 40  # letters of each player


class Mount:
    def __init__(self, path):
        self.path = path
        path.mkdir()

    def run(self, *words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
        if done.returncode != 0:
            pytest.fail(f"this test mounts a tmpfs, for which it must run as root with the right to mount (CAP_SYS_ADMIN): {done.stderr.strip()}")

    def mount(self, size):
        self.run("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "epistle-test", self.path)

    def resize(self, size):
        self.run("mount", "-o", f"remount,size={size}", self.path)

    def unmount(self):
        subprocess.run(["umount", str(self.path)], check=False)

    def used(self):
        state = os.statvfs(self.path)
        return (state.f_blocks - state.f_bfree) * state.f_frsize


class SmallDisk(Scene):
    """Two players and many letters; the store lies in a folder of its own."""

    def build(self):
        state = self.work / "state"
        state.mkdir()
        self.club = club = Club(self.work, store=state / "epistle.db", limits={"player_per_day": 1000, "unproven_per_day": 1000, "free_space_mb": 0})
        club.store = state / "epistle.db"
        club.run("check", "--init")
        ann, bob = self.players = [club.player(f"{name} Muster", f"{name.lower()}@{name.lower()}.example") for name in ("Ann", "Bob")]
        club.run("game", "new", ann.name, bob.name)
        club.once()
        first = {player.address: player.read_new()[-1] for player in self.players}
        club.advance(hours=1)
        club.answer(ann, first[ann.address], "e4")
        for number in range(ROUNDS):
            for player in self.players:
                club.advance(minutes=1)
                club.answer(player, first[player.address], f"board\n\n> {number}", program="bare")
        club.advance(hours=1)
        self.program = club.once_command()
        self.letters_before = 2


@pytest.mark.parametrize("spare", [300, 160, 64])
def test_a_disk_that_fills_and_is_freed(tmp_path, spare):
    scene = SmallDisk(tmp_path)
    club, now = scene.club, scene.program[-1]
    club.run("once", "--now", now)
    reference, folders = scene.dump(), scene.folders()

    scene.restore()
    state = scene.work / "state"
    shutil.rmtree(state)
    mount = Mount(state)
    mount.mount("64m")
    try:
        shutil.copytree(scene.base / "state", state, dirs_exist_ok=True)
        mount.resize(mount.used() + spare * 1024)
        for _ in range(4):  # more often than a letter may be in hand at an unclean end
            done = subprocess.run(scene.program, capture_output=True, text=True, timeout=60)
            assert done.returncode == 75 and plain(done.stderr), (done.returncode, done.stderr)
            assert "full" in done.stderr or "space" in done.stderr
        stored = scene.ask("SELECT count(*) FROM letter_in WHERE state = 'stored'")
        settled = scene.ask("SELECT count(*) FROM letter_in WHERE state <> 'stored'")
        print(f"{spare} kB: {stored} letters stored, {settled} settled before the disk was full, {2 * ROUNDS + 1} came: {done.stderr.strip()}")
        assert len(club.inbox.files()) == 2 * ROUNDS + 1
        assert len(club.inbox.waiting()) >= 2 * ROUNDS + 1 - settled  # what is not settled was not filed
        mount.resize("64m")
        club.run("once", "--now", now)
        club.run("verify")
        assert not scene.waiting()
        assert scene.set_aside() == 0
        assert scene.folders() == folders
        dump = scene.dump()
        assert reference.pop("outage") == []
        for row in dump.pop("outage"):  # noted as far as the disk had room for it, and over
            assert "'disk'" in row and "None" not in row
        for table in reference:
            assert dump[table] == reference[table], table
    finally:
        mount.unmount()
