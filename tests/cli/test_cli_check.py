"""check over real servers, a first configuration, and what is never tried."""
import os
import pwd
import re
import shutil
import socket
import stat
import subprocess

import pytest

from club import Club, PROGRAM, ROOT

EXAMPLE = ROOT / "config" / "epistle.conf.example"


def check(configuration, *words, **more):
    return subprocess.run([PROGRAM, "-c", str(configuration), "check", *words], capture_output=True, text=True, timeout=120, **more)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


class Listener:
    """A port on which nobody ever answers; `called` tells whether somebody knocked."""

    def __enter__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]
        return self

    def __exit__(self, *_):
        self.socket.close()

    @property
    def called(self):
        try:
            self.socket.accept()[0].close()
            return True
        except BlockingIOError:
            return False


# --- servers ---

def test_check_logs_in_on_both_sides_and_leaves_no_trace(tmp_path, dovecot, postfix, mailbox_user):
    dovecot.append(b"From: a@b.example\nSubject: hello\n\nhello\n", user=mailbox_user)
    club = Club(tmp_path, mailbox=dovecot.mailbox(user=mailbox_user), outgoing=postfix.outgoing("smtp", user=mailbox_user))
    before = len(postfix.log)
    assert club.run("check").endswith(": no errors\n")
    (flags, _), = dovecot.letters(user=mailbox_user).values()
    assert "\\Seen" not in flags
    log = postfix.log[before:]
    assert "connect from" in log and "disconnect from" in log
    assert "from=<" not in log and "cleanup" not in log


def test_pop3_is_logged_in_to(tmp_path, dovecot, mailbox_user):
    club = Club(tmp_path, mailbox=dovecot.mailbox("pop3s", user=mailbox_user))
    assert club.run("check").endswith(": no errors\n")


def test_a_wrong_password_is_told_of_each_server_and_shown_of_none(tmp_path, dovecot, postfix, mailbox_user):
    wrong = tmp_path / "wrong"
    wrong.touch(0o600)
    wrong.write_text("battery staple\n")
    club = Club(tmp_path / "club", mailbox=dovecot.mailbox(user=mailbox_user, password_file=wrong),
                outgoing=postfix.outgoing(user=mailbox_user, password_file=wrong), language="xx")
    told = club.run_failing("check").splitlines()
    assert len(told) == 3, told  # the language is not hidden by them
    assert '"xx"' in told[0]
    assert ": mailbox: " in told[1] and f"localhost:{dovecot.ports['imaps']}" in told[1]
    assert ": outgoing: " in told[2] and f"localhost:{postfix.ports['smtps']}" in told[2]
    assert "battery" not in "".join(told)


def test_init_makes_the_folders_of_the_mailbox(tmp_path, dovecot, mailbox_user):
    club = Club(tmp_path, mailbox={**dovecot.mailbox(user=mailbox_user, folder="/Chess"), "also": "Junk", "after": "move:Done"})
    assert club.run_failing("check").count("\n") == 1
    club.run("check", "--init")
    assert club.run("check").endswith(": no errors\n")
    with dovecot.imap(mailbox_user) as line:
        folders = b" ".join(line.list()[1])
    assert b"Chess" in folders and b"Junk" in folders and b"Done" in folders


def test_a_credential_is_read_where_the_service_manager_puts_it(tmp_path, dovecot, mailbox_user):
    credentials = tmp_path / "credentials"
    credentials.mkdir(0o700)
    shutil.copy(dovecot.password_file, credentials / "mail-password")
    settings = dovecot.mailbox(user=mailbox_user, password_file=None, password_credential="mail-password")
    club = Club(tmp_path / "club", mailbox=settings)
    assert check(club.configuration, env={**os.environ, "CREDENTIALS_DIRECTORY": str(credentials)}).returncode == 0
    without = {key: value for key, value in os.environ.items() if key != "CREDENTIALS_DIRECTORY"}
    done = check(club.configuration, env=without)
    assert done.returncode == 1 and "mail-password" in done.stderr and done.stderr.count("\n") == 1


def test_offline_knocks_nowhere_and_looks_at_the_password(tmp_path):
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text("x\n")
    with Listener() as mailbox, Listener() as outgoing:
        keys = {"user": "u", "password_file": password, "tls": "none"}
        club = Club(tmp_path / "club", mailbox={"url": f"imap://127.0.0.1:{mailbox.port}", **keys},
                    outgoing={"url": f"smtp://127.0.0.1:{outgoing.port}", **keys})
        club.run("check", "--offline")
        password.write_text("\n")
        assert club.run_failing("check", "--offline").count("\n") == 2  # one of each side
        assert not mailbox.called and not outgoing.called


def test_a_section_with_an_error_is_not_tried_on_its_server(tmp_path):
    """Half a section is no set-up: it might say the password to whom it should not."""
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text("x\n")
    with Listener() as server:
        club = Club(tmp_path / "club", mailbox={"url": f"imap://127.0.0.1:{server.port}", "user": "u", "password_file": password, "tls": "none",
                                                "colour": "red"})
        told = club.run_failing("check")
        assert told.count("\n") == 1 and "colour" in told
        assert not server.called


# --- a first configuration ---

def test_init_writes_a_first_configuration_and_nothing_else(tmp_path):
    configuration = tmp_path / "etc" / "epistle" / "epistle.conf"
    configuration.parent.parent.mkdir()
    done = check(configuration, "--init")
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert str(configuration) in done.stderr and "club.example" in done.stderr and "password_file" in done.stderr
    assert configuration.read_text() == EXAMPLE.read_text()
    assert mode(configuration) == 0o640
    assert os.listdir(configuration.parent) == ["epistle.conf"]
    assert sorted(os.listdir(tmp_path)) == ["etc"]


def test_a_first_configuration_must_be_filled_in_and_is_never_written_over(tmp_path):
    configuration = tmp_path / "epistle.conf"
    check(configuration, "--init")
    mine = configuration.read_text().replace("/var/lib/epistle/", f"{tmp_path}/state/")
    configuration.write_text(mine)
    again = check(configuration, "--init")
    assert again.returncode == 1 and again.stderr.count("\n") == 2  # the password is not there, of either side
    assert f"{tmp_path}/password" in again.stderr
    assert configuration.read_text() == mine
    assert os.listdir(tmp_path) == ["epistle.conf"]  # nothing was made of it


def test_without_init_a_missing_configuration_is_an_error(tmp_path):
    done = check(tmp_path / "epistle.conf")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


# --- whose store ---

@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what another cannot open")
def test_root_makes_no_store_in_the_folder_of_the_services_user(tmp_path):
    nobody = pwd.getpwnam("nobody")
    state = tmp_path / "state"
    state.mkdir()
    os.chown(state, nobody.pw_uid, nobody.pw_gid)
    configuration = tmp_path / "epistle.conf"
    configuration.write_text(f"[service]\nname = A\naddress = chess@club.example\nstore = state/deep/epistle.db\ntemplates = {ROOT}/templates\n"
                             "[mailbox]\nurl = maildir:in\n[outgoing]\nurl = maildir:out\n")
    done = check(configuration, "--init")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "runuser -u nobody" in done.stderr and str(state) in done.stderr
    assert os.listdir(state) == []
    assert not (tmp_path / "in").exists() and not (tmp_path / "out").exists()


# --- what is printed for people to copy ---

def configurations_of(page):
    """Blocks of a manual in Markdown that hold sections, by the page's own order."""
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / page).read_text(), re.S | re.M)
    return [block for block in blocks if block.startswith("[")]


def test_the_configurations_of_your_own_account_are_good(tmp_path):
    whole, stamps, pop3 = configurations_of("docs/own-account.md")
    (tmp_path / "password").touch(0o640)
    (tmp_path / "password").write_text("x\n")
    configuration = tmp_path / "epistle.conf"
    rest = f"[service]\nstore = epistle.db\ntemplates = {ROOT}/templates\n"
    outgoing = whole[whole.index("[outgoing]"):]
    service = whole[:whole.index("[mailbox]")]
    for text in (whole + stamps + rest, service + pop3 + outgoing + rest):
        configuration.write_text(text)
        done = check(configuration, "--offline")
        assert done.stderr.count("\n") == 1 and "check --init" in done.stderr, done.stderr  # nothing but the store that is not made yet


def test_a_program_that_is_not_there(tmp_path):
    club = Club(tmp_path, outgoing={"url": f"sendmail:{tmp_path}/sendmail"})
    told = club.run_failing("check")
    assert told.count("\n") == 1 and ": outgoing: " in told and f"{tmp_path}/sendmail" in told
    (tmp_path / "sendmail").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "sendmail").chmod(0o755)
    club.run("check")
