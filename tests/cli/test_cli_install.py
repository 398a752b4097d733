"""What `make install` puts where, and the unit: its sandbox is tight, and the program can work in it."""
import configparser
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from club import BUILD, Club, PROGRAM, ROOT
from servers import wait_for

UNIT = ROOT / "config" / "epistle.service"
SCORE_MAX = 1.5


def make(*words):
    # the program under test is what is installed, however it was built
    done = subprocess.run(["make", "-s", "-o", "all", f"B={BUILD}", *words], cwd=ROOT, capture_output=True, text=True, timeout=300,
                          env={key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))})
    assert done.returncode == 0, done.stdout + done.stderr


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def settings(path):
    """Each directive of [Service] with all its values, in order."""
    found = {}
    for line in path.read_text().splitlines():
        if re.match(r"[A-Za-z]+=", line):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


# --- make install ---

@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    make("install", f"DESTDIR={folder}", "prefix=/usr")
    return folder


def test_everything_is_where_it_is_looked_for(installed):
    share = "usr/share/"
    manuals = [f"{share}man/man{page.suffix[1:]}/{page.name}" for page in ROOT.glob("docs/*.[1578]")]
    templates = [f"{share}epistle/{path.relative_to(ROOT)}" for path in ROOT.glob("templates/**/*") if path.is_file()]
    assert len(manuals) == 5 and len(templates) > 10
    assert files(installed) == sorted(["usr/bin/epistle", "usr/lib/systemd/system/epistle.service", "usr/lib/sysusers.d/epistle.conf",
                                       "usr/lib/tmpfiles.d/epistle.conf", f"{share}doc/epistle/epistle.conf.example", f"{share}doc/epistle/own-account.md",
                                       *manuals, *templates])
    assert os.access(installed / "usr/bin/epistle", os.X_OK)
    for path in installed.rglob("*"):
        assert path.stat().st_mode & 0o022 == 0, path
        assert path.stat().st_mode & 0o444 == 0o444, path


def test_the_installed_program_finds_its_templates(installed, tmp_path):
    configuration = tmp_path / "epistle.conf"
    configuration.write_text("[service]\nname = A\naddress = chess@club.example\nstore = s/e.db\n[mailbox]\nurl = maildir:in\n[outgoing]\nurl = maildir:out\n")
    done = subprocess.run([installed / "usr/bin/epistle", "-c", configuration, "check", "--init"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_unit_starts_the_program_that_was_installed(installed, tmp_path):
    started = settings(installed / "usr/lib/systemd/system/epistle.service")["ExecStart"]
    assert started == ["/usr/bin/epistle serve"]
    make("install", f"DESTDIR={tmp_path}", "prefix=/opt/chess")
    assert settings(tmp_path / "opt/chess/lib/systemd/system/epistle.service")["ExecStart"] == ["/opt/chess/bin/epistle serve"]
    assert (tmp_path / "opt/chess/bin/epistle").exists()


def test_uninstall_takes_out_exactly_what_install_put_in(tmp_path):
    foreign = ["usr/bin/other", "usr/share/doc/epistle/notes", "usr/share/epistle/templates/xx/help.md", "usr/share/man/man1/other.1",
               "usr/lib/systemd/system/other.service", "etc/epistle/epistle.conf", "var/lib/epistle/epistle.db"]
    for name in foreign:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("not ours\n")
    make("install", f"DESTDIR={tmp_path}", "prefix=/usr")
    assert len(files(tmp_path)) > len(foreign) + 20
    make("uninstall", f"DESTDIR={tmp_path}", "prefix=/usr")
    assert files(tmp_path) == sorted(foreign)
    for name in foreign[1:3]:
        (tmp_path / name).unlink()
    make("install", f"DESTDIR={tmp_path}", "prefix=/usr")
    (tmp_path / "usr/share/epistle/templates/xx").rmdir()
    make("uninstall", f"DESTDIR={tmp_path}", "prefix=/usr")
    assert not (tmp_path / "usr/share/epistle").exists() and not (tmp_path / "usr/share/doc/epistle").exists()


# --- the unit ---

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")


@needs_systemd
def test_the_sandbox_is_tight():
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", UNIT], capture_output=True, text=True, timeout=60)
    score = float(re.search(r"exposure level for epistle\.service: ([0-9.]+)", done.stdout)[1])
    assert score <= SCORE_MAX, done.stdout


@needs_systemd
def test_systemd_understands_every_line(installed):
    """Unknown directives and values are warnings there, which nobody reads."""
    root = installed / "usr/lib/systemd/system/epistle.service"
    copy = installed.parent / "epistle.service"
    copy.write_text(root.read_text().replace("/usr/bin/epistle", str(installed / "usr/bin/epistle")))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=60)
    told = [line for line in done.stderr.splitlines() if "epistle.service" in line]
    assert done.returncode == 0 and told == [], done.stderr
    copy.unlink()


@needs_systemd
@pytest.mark.parametrize("kind, program", [("sysusers", "systemd-sysusers"), ("tmpfiles", "systemd-tmpfiles")])
def test_user_and_folders_can_be_made(installed, tmp_path, kind, program):
    if os.geteuid() != 0:
        pytest.skip("only root makes users")
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    for name in ("passwd", "group"):
        (root / "etc" / name).write_text("root:x:0:0::/root:/bin/sh\n" if name == "passwd" else "root:x:0:\n")
    shutil.copytree(installed / "usr/lib", root / "usr/lib")
    for step in ("systemd-sysusers", "systemd-tmpfiles"):
        words = [step, f"--root={root}", *(["--create"] if step == "systemd-tmpfiles" else []), "epistle.conf"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        if step == program:
            break
    user = re.search(r"^epistle:x:(\d+):(\d+):[^:]*:/var/lib/epistle:.*nologin$", (root / "etc/passwd").read_text(), re.M)
    assert user
    if kind == "tmpfiles":
        folder, state = (root / "etc/epistle").stat(), (root / "var/lib/epistle").stat()
        assert (folder.st_mode & 0o7777, folder.st_uid, folder.st_gid) == (0o2750, 0, int(user[2]))
        assert (state.st_mode & 0o7777, state.st_uid, state.st_gid) == (0o700, int(user[1]), int(user[2]))


def test_what_the_unit_promises():
    unit = settings(UNIT)
    assert unit["Type"] == ["notify"] and unit["NotifyAccess"] == ["main"]
    line = (ROOT / "daemon/line/line.h").read_text()
    assert int(unit["WatchdogSec"][0]) >= 3 * int(re.search(r"LINE_SECONDS = (\d+)", line)[1])  # RULINGS 47
    serve = (ROOT / "daemon/serve.h").read_text()
    assert int(unit["TimeoutStopSec"][0]) > int(re.search(r"SERVE_END_SECONDS = (\d+)", serve)[1])
    assert unit["KillMode"] == ["mixed"]  # the reader of letters outlives the letter in hand
    example = configparser.ConfigParser(strict=False, interpolation=None)
    example.read(ROOT / "config/epistle.conf.example")
    store = pathlib.Path(example["service"]["store"])
    assert store.parent == pathlib.Path("/var/lib") / unit["StateDirectory"][0] and unit["StateDirectoryMode"] == ["0700"]
    assert unit["ConfigurationDirectory"] == ["epistle"]
    folders = (ROOT / "config/tmpfiles.d/epistle.conf").read_text()
    assert f"d /etc/epistle {unit['ConfigurationDirectoryMode'][0]} root {unit['Group'][0]} " in folders


def allowed_calls(filters):
    """The names of system calls that the unit's filter lets through, as systemd expands its groups."""
    def expand(name):
        if not name.startswith("@"):
            return {name}
        done = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True, text=True, timeout=60, check=True)
        members = [line.strip() for line in done.stdout.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
        return set().union(*map(expand, members))
    allowed = expand("@default")
    for line in filters:
        names = set().union(*map(expand, line.lstrip("~").split()))
        allowed = allowed - names if line.startswith("~") else allowed | names
    return allowed


ONLY_AS_ROOT = {"fchown"}  # SQLite gives a new file to the owner of the store, which the unit's user is himself


def serve_until_settled(club, trace):
    """The service under strace, until it has answered what lies in the mailbox and was told to end."""
    with subprocess.Popen(["strace", "-f", "-qq", "-o", trace, PROGRAM, "-c", club.configuration, "serve"], stderr=subprocess.DEVNULL) as tracer:
        try:
            wait_for(lambda: tracer.poll() is not None or any(letter["state"] == "settled" for letter in json.loads(club.run("letters", "--json"))),
                     "the letter is settled", seconds=60)
            assert tracer.poll() is None
        finally:
            if tracer.poll() is None:
                os.kill(int(trace.read_text(errors="replace").split(None, 1)[0]), signal.SIGTERM)
        assert tracer.wait(60) == 0


@needs_systemd
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.skipif("EPISTLE_ASAN" in os.environ, reason="the sanitizers call what the program does not")
def test_the_program_keeps_within_the_filter(tmp_path, dovecot, mailbox_user):
    """A letter comes in by IMAP and TLS, is read in a locked child, and is answered: every system call of all processes is one the unit allows."""
    club = Club(tmp_path / "club", mailbox=dovecot.mailbox(user=mailbox_user))
    dovecot.lmtp("ann@muster.example", mailbox_user, b"From: ann@muster.example\nTo: chess@club.example\nSubject: x\nMessage-ID: <1@muster.example>\n\nhelp\n")
    trace = tmp_path / "trace"
    serve_until_settled(club, trace)
    text = trace.read_text(errors="replace")
    called = set(re.findall(r"^\d+ +([a-z_0-9]+)\(", text, re.M))
    assert {"execve", "openat", "connect", "prlimit64", "seccomp"} <= called
    assert called - allowed_calls(settings(UNIT)["SystemCallFilter"]) <= (ONLY_AS_ROOT if os.geteuid() == 0 else set())
    families = set(re.findall(r"^\d+ +socket\((AF_[A-Z0-9]+)", text, re.M))
    assert families <= set(settings(UNIT)["RestrictAddressFamilies"][0].split())
    assert not re.search(r"mprotect\([^)]*PROT_EXEC|mmap\([^)]*PROT_WRITE\|PROT_EXEC", text)  # MemoryDenyWriteExecute=
    assert "CLONE_NEW" not in text  # RestrictNamespaces=
    written = set(re.findall(r'openat\(AT_FDCWD, "(/[^"]+)", O_(?:RDWR|WRONLY)', text)) - {"/dev/null"}
    assert written and all(pathlib.Path(path).is_relative_to(club.folder) for path in written), written  # ProtectSystem=strict
