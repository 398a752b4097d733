"""serve: the one loop, its signals, its outages, and what it tells the service manager. The clock is the real one."""
import collections
import contextlib
import datetime
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time

import pytest

from club import Club, stamp
from fake_imap import Closed, FakeImap
from fake_smtp import FakeSmtp
from letters import UTC, Incoming, Maildir
from serving import Manager, Serve, until

OPERATOR = "op@club.example"


def present():
    return datetime.datetime.now(UTC).replace(microsecond=0)


class LiveClub(Club):
    """Its clock is the real one; the mailbox is looked at when it tells of letters, and otherwise once an hour."""

    def __init__(self, folder, **more):
        self.poll = more.pop("poll", 3600)
        more.setdefault("operator", OPERATOR)
        super().__init__(folder, begin=present(), **more)

    def write_configuration(self, servers=None):
        super().write_configuration(servers)
        text = self.configuration.read_text()
        self.configuration.write_text(text.replace("[mailbox]\n", f"[mailbox]\npoll = {self.poll}\n"))

    def pair(self):
        return self.player("Ann East"), self.player("Bob West")

    def begin_game(self, white, black):
        return int(self.run("game", "new", white.name, black.name).split()[1])

    def refused(self, *words):
        return subprocess.run([self.program, "-c", str(self.configuration), *words], capture_output=True, text=True, timeout=60)

    def said(self, player, letter, text):
        """The player answers now."""
        self.now = present()
        self.answer(player, letter, text)

    def told(self):
        """Letters to the operator."""
        folder = self.outgoing / OPERATOR / "new"
        return [Incoming(file.read_bytes()) for file in sorted(folder.iterdir())] if folder.exists() else []


@pytest.fixture
def live(tmp_path):
    return LiveClub(tmp_path)


class ImapLive(LiveClub):
    """Its mailbox is a FakeImap."""

    def __init__(self, folder, server, mailbox=None, **more):
        self.server = server
        password = folder / "password"
        password.touch(0o600)
        password.write_text("secret\n")
        keys = {"url": f"imap://127.0.0.1:{server.port}", "tls": "none", "user": "chess", "password_file": password, **(mailbox or {})}
        super().__init__(folder / "club", mailbox=keys, **more)

    def deliver(self, raw, received=True, sender="", **more):
        """As a letter comes: who waits is told of it."""
        raw = raw if isinstance(raw, bytes) else raw.encode()
        inbox = self.server.inbox
        inbox.add(raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), date=present().strftime("%d-%b-%Y %H:%M:%S +0000"))
        for session in self.server.sessions:
            if session.command == "IDLE" and session.folder is inbox:
                with contextlib.suppress(OSError):
                    session.send(f"* {len(inbox.letters)} EXISTS\r\n")


def processor_time(serve):
    fields = open(f"/proc/{serve.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def news(player, game=None):
    """Waits for a letter."""
    def look():
        letters = [letter for letter in player.read_new() if game is None or letter.game == game]
        return letters[-1] if letters else None
    return until(look, f"a letter to {player.name}")


def turn(player, ply):
    """Waits for the letter that asks for this ply, counted from 0."""
    def look():
        views = [(letter, player.view(letter)) for letter in player.read_new()]
        found = [letter for letter, view in views if view is not None and view.my_turn and len(view.score) == ply]
        return found[-1] if found else None
    return until(look, f"the letter to {player.name} that asks for ply {ply}")


def each_once(club):
    """No letter lies anywhere twice, and none that was accepted is missing."""
    ids = collections.Counter(Incoming(file.read_bytes()).message_id.strip("<>") for folder in club.outgoing.iterdir() for file in (folder / "new").iterdir())
    assert [id for id, count in ids.items() if count > 1] == []
    with sqlite3.connect(f"file:{club.store}?mode=ro", uri=True) as store:
        accepted = {row[0] for row in store.execute("SELECT message_id FROM letter_out WHERE state = 'accepted'")}
        waiting = store.execute("SELECT count(*) FROM letter_out WHERE state NOT IN ('accepted', 'overtaken')").fetchone()[0]
    store.close()
    assert set(ids) == accepted and waiting == 0


def test_letters_are_answered_as_they_come_and_sigterm_ends_it(live):
    ann, bob = live.pair()
    with Serve(live) as serve:
        game = live.begin_game(ann, bob)  # another program's doing, while it serves
        for ply, (text, player) in enumerate([("e4", ann), ("e5", bob), ("Nf3", ann)]):
            live.said(player, turn(player, ply), text)
        turn(bob, 3)
        serve.end()
        assert serve.log.strip().endswith("ended as it was asked to")
    assert live.inbox.waiting() == []
    assert "Nf3" in live.run("game", "show", game, "--record")
    each_once(live)
    live.run("verify")


def test_sigint_ends_it_too(live):
    with Serve(live) as serve:
        serve.end(signal.SIGINT)


def test_what_it_does_is_logged_without_secrets(live):
    ann, bob = live.pair()
    with Serve(live) as serve:
        live.begin_game(ann, bob)
        letter = turn(ann, 0)
        live.said(ann, letter, "e4\n\nA word to Bob")
        turn(bob, 1)
        serve.says("letters out: 2 sent", times=2)
    log = serve.log
    assert re.search(r"version \d+\.\d+\.\d+ serves chess@club\.example with \S+: mailbox maildir://\S+, outgoing maildir://\S+", log)
    assert "letters in: 1 settled" in log
    token = re.search(r"\+(\w+)@", letter.reply_to).group(1)
    assert token not in log and "A word to Bob" not in log


def test_two_copies_cannot_run_on_one_store(live):
    with Serve(live) as serve:
        for verb in ("serve", "once"):
            done = live.refused(verb)
            assert done.returncode == 75 and "another epistle is at work" in done.stderr, done.stderr
        assert serve.process.poll() is None
    live.run("once")


def test_without_a_store_it_does_not_begin(live):
    for file in live.folder.glob("epistle.db*"):
        file.unlink()
    (live.folder / "epistle.key").unlink()
    done = live.refused("serve")
    assert done.returncode == 1 and "there is no store" in done.stderr and "check --init" in done.stderr


def test_a_clock_that_is_behind_is_not_served_by(live):
    """As on a machine without one, before it was told the time."""
    live.now = present() + datetime.timedelta(days=2)
    live.once()
    done = live.refused("serve")
    assert done.returncode == 75 and "set the clock" in done.stderr and done.stderr.count("\n") == 1
    assert live.json("status")["mailbox_read"] == stamp(live.now)
    again = re.search(r"`epistle (once --now \S+)`", done.stderr).group(1)  # the clock is right, and was not then
    live.run(*again.split())
    with Serve(live):
        pass


def test_a_bad_configuration_is_told_by_line_and_the_old_one_kept(live):
    ann, bob = live.pair()
    with Serve(live) as serve:
        good = live.configuration.read_text()
        lines = good.splitlines()
        bad = lines.index("[mailbox]") + 1
        live.configuration.write_text("\n".join([*lines[:bad], "colour = green", "poll = soon", *lines[bad + 1:]]) + "\n")
        serve.reload()
        for number in (bad + 1, bad + 2):  # every error, each with its line
            assert f"{live.configuration}:{number}: " in serve.log
        assert "the configuration stays what it was" in serve.log
        live.configuration.write_text(good)  # for the other verbs; the service has not been told of it
        live.begin_game(ann, bob)
        live.said(ann, turn(ann, 0), "e4")
        turn(bob, 1)
        live.configuration.unlink()
        serve.reload()
        assert serve.log.count("the configuration stays what it was") == 2
        live.configuration.write_text(good)
        live.begin_game(bob, ann)
        turn(bob, 0)


def test_a_new_configuration_takes_effect(live):
    ann, bob = live.pair()
    other = Maildir(live.folder / "other")
    with Serve(live) as serve:
        live.settings["name"] = "Newtown Chess"
        live.servers["mailbox"] = {"url": f"maildir://{other.path}"}
        live.write_configuration()
        serve.reload()
        assert "goes on serving" in serve.log
        game = live.begin_game(ann, bob)
        letter = news(ann, game)
        assert letter.subject.startswith(f"[Newtown Chess #{game}]")
        live.inbox = other
        live.said(ann, letter, "e4")
        news(bob, game)


@pytest.mark.parametrize("key, value", [("store", "other.db"), ("key_file", "other.key")])
def test_another_store_needs_a_restart(live, key, value):
    ann, bob = live.pair()
    with Serve(live) as serve:
        live.settings[key] = value
        live.write_configuration()
        serve.reload()
        assert re.search(rf"{key} has another value than at the start: end the service and start it again", serve.log)
        assert "the configuration stays what it was" in serve.log
        live.settings.pop(key)
        live.write_configuration()
        live.begin_game(ann, bob)
        turn(ann, 0)


def test_templates_that_are_missing_keep_the_old_ones(live):
    ann, bob = live.pair()
    with Serve(live) as serve:
        live.settings["templates"] = str(live.folder / "nowhere")
        live.write_configuration()
        serve.reload()
        assert "nowhere" in serve.log and "the configuration stays what it was" in serve.log
        del live.settings["templates"]
        live.write_configuration()
        live.begin_game(ann, bob)
        news(ann)


def test_the_service_manager_hears_it_all(live):
    ann, bob = live.pair()
    with Manager() as manager:
        with Serve(live, {**manager.environment, "WATCHDOG_USEC": "2000000"}) as serve:
            manager.waits("READY=1")
            manager.waits("WATCHDOG=1", times=4)
            manager.waits("STATUS=0 games; mailbox read ")
            live.begin_game(ann, bob)
            news(ann)
            assert "STOPPING=1" not in manager.listen()
            serve.reload()
            manager.waits("READY=1", times=2)
            serve.end()
            manager.waits("STOPPING=1")
        heard = manager.listen()
    signs = [line for line in heard if line in ("READY=1", "RELOADING=1", "STOPPING=1")]
    assert signs == ["READY=1", "RELOADING=1", "READY=1", "STOPPING=1"]
    assert any(re.fullmatch(r"MONOTONIC_USEC=\d+", line) for line in heard)
    assert all(re.fullmatch(r"(STATUS=.*|WATCHDOG=1|READY=1|RELOADING=1|STOPPING=1|MONOTONIC_USEC=\d+)", line) for line in heard)


def test_without_a_watchdog_none_is_fed(live):
    with Manager() as manager:
        with Serve(live, manager.environment):
            manager.waits("STATUS=0 games; mailbox read ")
            manager.waits("READY=1")
        assert "WATCHDOG=1" not in manager.listen()


def test_it_is_ready_before_the_mailbox_is(live):
    live.inbox.path.rename(live.folder / "away")
    with Manager() as manager:
        with Serve(live, manager.environment):
            manager.waits("READY=1")
            manager.waits("STATUS=0 games; mailbox not read yet; 0 letters wait; mailbox unreachable since ")


def test_a_quiet_club_costs_next_to_nothing(live):
    def spent():
        fields = open(f"/proc/{serve.process.pid}/stat").read().rsplit(")", 1)[1].split()
        switches = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", open(f"/proc/{serve.process.pid}/status").read(), re.M)
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(switches.group(1))

    ann, bob = live.pair()
    with Serve(live) as serve:
        live.begin_game(ann, bob)
        news(ann)
        news(bob)
        time.sleep(2)
        before = spent()
        time.sleep(6)
        after = spent()
    assert after[0] - before[0] < 0.6
    assert after[1] - before[1] < 60


def test_the_letter_in_hand_is_finished_and_the_rest_waits(live):
    ann, bob = live.pair()
    games = 40
    with Serve(live):
        letters = {}
        for _ in range(games):
            live.begin_game(ann, bob)

        def look():
            letters.update({letter.game: letter for letter in ann.read_new()})
            return len(letters) == games
        until(look, "the first letters")
    for letter in letters.values():
        live.said(ann, letter, "e4")
    with Serve(live) as serve:
        until(lambda: len(live.inbox.waiting()) < games or "settled" in serve.log, "a first letter to be read")
        serve.end()
    live.run("once")
    assert live.inbox.waiting() == []
    rows = live.json("letters")
    assert len(rows) == games and {row["outcome"] for row in rows} == {"played"}
    each_once(live)
    live.run("verify")


def through(relay):
    """The outgoing section for a scripted relay."""
    return {"url": relay.url, "tls": "none"}


def test_a_letter_on_its_way_is_finished_and_others_wait(live):
    ann, bob = live.pair()
    with FakeSmtp("dot=slow:3;250 2.0.0 ok") as relay:
        live.servers["outgoing"] = {**through(relay), "lines": 1}
        live.write_configuration()
        for _ in range(4):
            live.begin_game(ann, bob)
        with Serve(live) as serve:
            until(lambda: relay.letters, "the first letter at the relay")
            serve.end()
        sent = len(relay.letters)
        assert 1 <= sent < 8 and len(relay.accepted) == sent
        states = live.json("status")["letters_out"]
        assert states == {"accepted": sent, "queued": 8 - sent}
        relay.follow()
        live.run("once")
    mail = [re.search(rb"^Message-ID: (\S+)", raw, re.M).group(1) for _, _, raw in relay.letters]
    assert len(mail) == len(set(mail)) == 8


def test_a_second_signal_ends_it_at_once(live):
    ann, bob = live.pair()
    with FakeSmtp("dot=silent") as relay:
        live.servers["outgoing"] = through(relay)
        live.write_configuration()
        live.begin_game(ann, bob)
        with Serve(live, expect=-signal.SIGTERM) as serve:
            until(lambda: relay.letters, "a letter at the relay")
            serve.tell(signal.SIGTERM)
            time.sleep(2)
            assert serve.process.poll() is None
            serve.end()
        relay.follow()
        live.once(expect=0)
    assert live.json("status")["letters_out"].get("trying", 0) + live.json("status")["letters_out"].get("accepted", 0) == 2


def test_a_reload_waits_for_the_letters_on_their_way(live):
    ann, bob = live.pair()
    with FakeSmtp("dot=slow:3;250 2.0.0 ok") as relay, FakeSmtp() as other:
        live.servers["outgoing"] = through(relay)
        live.write_configuration()
        live.begin_game(ann, bob)
        with Serve(live) as serve:
            until(lambda: relay.letters, "a letter at the relay")
            live.servers["outgoing"] = through(other)
            live.write_configuration()
            serve.reload()
            live.begin_game(bob, ann)
            until(lambda: len(relay.letters) + len(other.letters) == 4, "all letters at a relay")
        assert len(relay.accepted) == len(relay.letters) and other.letters
    assert live.json("status")["letters_out"] == {"accepted": 4}


# --- outages ---


def test_a_relay_that_is_away_and_comes_back(live):
    """Nobody does anything about it; letters wait, come in all the same, and go out once."""
    ann, bob = live.pair()
    with FakeSmtp("connect=421 4.3.2 not now;drop") as relay:
        live.servers["outgoing"] = through(relay)
        live.write_configuration()
        with Manager() as manager, Serve(live, manager.environment) as serve:
            live.begin_game(ann, bob)
            serve.says("letters cannot be sent")
            until(lambda: any("; 2 letters wait; relay unreachable since" in line for line in manager.listen()), "the status of an outage")
            live.send(ann, "chess@club.example", "chess", "games")
            serve.says("letters in: 1 settled")
            assert relay.letters == []
            relay.follow()
            serve.says("letters can be sent again")
            until(lambda: len(relay.letters) == 3, "all letters at the relay")
    assert live.json("status")["letters_out"] == {"accepted": 3} and live.json("status")["outages"] == []
    assert serve.log.count("letters cannot be sent") == 1


def test_a_relay_that_is_back_and_takes_no_letter_yet(live):
    """It answers, if only with 451: the outage is over, and each letter waits for itself."""
    ann, bob = live.pair()
    with FakeSmtp("connect=421 4.3.2 not now;drop") as relay:
        live.servers["outgoing"] = through(relay)
        live.write_configuration()
        with Serve(live) as serve:
            live.begin_game(ann, bob)
            serve.says("letters cannot be sent")
            relay.follow("rcpt=451 4.7.1 greylisted")
            serve.reload()  # tries at once
            serve.says("letters can be sent again")
            assert relay.count("RCPT") == 2 and relay.letters == []
            status = live.json("status")
            assert status["outages"] == [] and status["letters_out"] == {"queued": 2}


def test_a_mailbox_that_goes_and_comes_back(tmp_path):
    """Its volume is unmounted and mounted again: nobody does anything about it."""
    live = LiveClub(tmp_path, poll=10)
    ann, bob = live.pair()
    away = live.folder / "away"
    with Manager() as manager, Serve(live, manager.environment) as serve:
        game = live.begin_game(ann, bob)
        letter = news(ann, game)
        live.inbox.path.rename(away)
        serve.says("the mailbox cannot be read")
        manager.waits("STATUS=1 games; mailbox read ")
        until(lambda: any("mailbox unreachable since" in line for line in manager.listen()), "the status of an outage")
        status = live.json("status")
        outage, = status["outages"]
        assert outage["subject"] == "mailbox" and outage["why"] and outage["since"] and outage["next_try"] > outage["since"]
        assert "mailbox       cannot be read since" in live.run("status")
        live.begin_game(bob, ann)  # what is to be sent is sent
        news(bob)
        inside = Maildir(away)
        live.now = present()
        live.inbox, back = inside, live.inbox
        live.said(ann, letter, "e4")
        away.rename(back.path)
        live.inbox = back
        news(bob, game)
        serve.says("the mailbox can be read again")
        assert live.json("status")["outages"] == []
    assert live.told() == []  # it was short
    assert serve.log.count("cannot be read") == 1
    each_once(live)


def test_an_outage_outlives_the_process_and_is_told_once(live):
    away = live.folder / "away"
    live.inbox.path.rename(away)
    live.now = present() - datetime.timedelta(hours=1)
    live.once(expect=75)
    assert live.told() == []
    with Serve(live) as serve:
        until(lambda: live.told(), "the operator's letter")
        assert serve.log.count("cannot be read") == 1
    with Serve(live) as serve:
        until(lambda: live.json("status")["outages"][0]["tries"] >= 3, "another try")
        away.rename(live.inbox.path)
        serve.reload()
        serve.says("the mailbox can be read again")
    told, = live.told()
    assert told.subject == "[Anytown Chess] The mailbox cannot be read" and told.to == OPERATOR
    assert live.json("status")["outages"] == []
    each_once(live)


def test_a_full_disk_leaves_letters_where_they_are():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        live = LiveClub(folder, limits={"player_per_day": 1000, "free_space_mb": 1000000})
        ann, bob = live.pair()
        with Manager() as manager, Serve(live, manager.environment) as serve:
            serve.says("free_space_mb")
            manager.waits("STATUS=0 games; mailbox not read yet; 0 letters wait; no room on the disk since ")
            game = live.begin_game(ann, bob)
            letter = news(ann, game)  # sending goes on
            live.said(ann, letter, "e4")
            outage, = live.json("status")["outages"]
            assert outage["subject"] == "disk"
            assert len(live.inbox.waiting()) == 1 and live.json("letters") == []
            live.limits["free_space_mb"] = 0
            live.write_configuration()
            serve.reload()
            news(bob, game)
            serve.says("the store's disk takes letters again")
        assert live.json("status")["outages"] == [] and live.told() == []
        assert serve.log.count("takes nothing more") == 1


def test_a_disk_that_is_well_again_while_the_mailbox_is_away(live):
    live.inbox.path.rename(live.folder / "away")
    with Serve(live) as serve:
        serve.says("the mailbox cannot be read")
        live.limits["free_space_mb"] = 1000000
        live.write_configuration()
        serve.reload()
        serve.says("takes nothing more")
        live.limits["free_space_mb"] = 0
        live.write_configuration()
        serve.reload()
        serve.says("the store's disk takes letters again")
        assert [outage["subject"] for outage in live.json("status")["outages"]] == ["mailbox"]


def exists_at_once(session, _):
    """Tells of letters whenever it is waited for, and there are none."""
    session.send("+ idling\r\n* 2 EXISTS\r\n")
    session.read()
    session.ok()


def closes_at_once(session, _):
    session.send("+ idling\r\n")
    raise Closed


@pytest.mark.parametrize("idle", [exists_at_once, closes_at_once])
def test_a_server_that_cannot_be_waited_for_is_not_stormed(tmp_path, idle):
    with FakeImap() as server:
        live = ImapLive(tmp_path, server)
        ann, bob = live.pair()
        server.on["IDLE"] = idle
        with Serve(live) as serve:
            until(lambda: len(server.commands("IDLE")) >= 3, "the third waiting")
            spent, begun = processor_time(serve), time.monotonic()
            time.sleep(8)
            spent, passed = processor_time(serve) - spent, time.monotonic() - begun
            assert len(server.commands("IDLE")) < 10 and server.lines < 20  # each pause is twice as long as the one before
            assert spent < passed / 4  # it does not turn about the line's end meanwhile
            game = live.begin_game(ann, bob)
            letter = news(ann, game)
            del server.on["IDLE"]
            serve.reload()  # a server that is in order is waited for
            until(lambda: server.commands("IDLE")[3:] and server.sessions[-1].command == "IDLE", "the waiting")
            live.said(ann, letter, "e4")
            news(bob, game)


def test_letters_go_out_while_the_mailbox_is_read(tmp_path):
    """A backlog over a slow line: the first are answered before the last are read."""
    with FakeImap() as server:
        live = ImapLive(tmp_path, server)
        ann, _ = live.pair()
        ends = threading.Event()
        for _ in range(70):  # more than one batch
            live.now = present()
            live.send(ann, "chess@club.example", "chess", "games")

        def slow(session, words):
            late = "HEADER" not in words and "BODY" in words and min(session.uids(words.partition(" ")[0])) > 64
            while late and not ends.wait(0.1):
                pass
            session.usual()
        server.on["UID FETCH"] = slow
        try:
            with Serve(live) as serve:
                def answered():
                    return len(list((live.outgoing / ann.address / "new").iterdir())) >= 64 if (live.outgoing / ann.address / "new").exists() else False
                serve.until(answered, "answers to the first letters", seconds=25)  # the operation's own limit is 30 s
                assert len(live.json("letters")) == 64
                ends.set()
                serve.until(lambda: live.json("status")["letters_out"] == {"accepted": 70}, "all answers")
        finally:
            ends.set()
    each_once(live)


def test_a_folder_that_is_gone_keeps_no_letter_waiting(tmp_path):
    """It is an outage of its own: the others are read, and waited for, as ever."""
    with FakeImap(folders=("INBOX", "Junk")) as server:
        live = ImapLive(tmp_path, server, mailbox={"also": "Junk"})
        ann, bob = live.pair()
        junk = server.folders.pop("Junk")
        with Serve(live) as serve:
            serve.says("a folder of the mailbox cannot be used")
            game = live.begin_game(ann, bob)
            letter = news(ann, game)
            for text, player, other in [("e4", ann, bob), ("e5", bob, ann)]:
                until(lambda: server.sessions[-1].command == "IDLE", "the waiting")
                live.said(player, letter, text)
                letter = news(other, game)  # the poll is an hour away
            status = live.json("status")
            assert [outage["subject"] for outage in status["outages"]] == ["folder"] and status["mailbox_read"] is None
            assert "folder        cannot be used since" in live.run("status")
            server.folders["Junk"] = junk
            serve.reload()
            serve.says("every folder of the mailbox can be used again")
            until(lambda: live.json("status")["mailbox_read"], "the note that it was read")
        assert serve.log.count("cannot be used") == 1 and "cannot be read" not in serve.log
        assert live.json("status")["outages"] == [] and live.told() == []


def test_a_day_without_mailbox_and_relay(tmp_path):
    """24 simulated hours, hour by hour; players write all the time, and the operator begins games."""
    club = Club(tmp_path, operator=OPERATOR)
    ann, bob = club.player("Ann East"), club.player("Bob West")
    games = [club.new_game(ann, bob)[0] for _ in range(6)]
    letters = {letter.game: letter for letter in ann.letters}
    in_away, out_away = club.folder / "in-away", club.folder / "out-away"
    club.inbox.path.rename(in_away)
    club.outgoing.rename(out_away)
    club.inbox, mailbox = Maildir(in_away), club.inbox
    for hour in range(24):
        club.advance(hours=1)
        if hour % 4 == 1:
            game = games[hour // 4]
            club.answer(ann, letters[game], "e4")
        if hour % 6 == 3:
            club.run("game", "new", bob.name, ann.name)
        club.once(expect=75)
        assert {outage["subject"] for outage in club.json("status")["outages"]} == {"mailbox"} | ({"relay"} if hour >= 1 else set())
    assert club.json("letters") == []
    in_away.rename(mailbox.path)
    out_away.rename(club.outgoing)
    club.inbox = mailbox
    club.advance(minutes=10)
    club.once()
    club.once()
    assert club.json("status")["outages"] == []
    rows = club.json("letters")
    assert len(rows) == 6 and {row["outcome"] for row in rows} == {"played"} and club.inbox.waiting() == []
    assert sorted(letter.game for letter in bob.read_new()) == [*games, *range(games[-1] + 1, games[-1] + 5)]
    folder = club.outgoing / OPERATOR / "new"
    told = sorted(Incoming(file.read_bytes()).subject for file in folder.iterdir())
    assert told == ["[Anytown Chess] Letters could not be sent", "[Anytown Chess] The mailbox could not be read"]
    each_once(club)
    club.run("verify")
