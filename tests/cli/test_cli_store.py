"""check, player, game, letters, letter, outbox, status, verify, read."""
import datetime
import json
import os
import re
import sqlite3
import stat
import subprocess

from club import PROGRAM, stamp

START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def of(club, *words, **more):
    return json.loads(club.run(*words, "--json", **more))


def first_due(club):
    """10/50d: 36 times 24 hours for one move, days past the 20th counting double."""
    return stamp(club.now + datetime.timedelta(days=36))


def stderr_of(club, *words, status=1):
    done = subprocess.run([PROGRAM, "-c", str(club.configuration), *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return done.stderr


# --- check ---

def test_check_makes_everything_and_then_finds_nothing_wrong(tmp_path):
    configuration = tmp_path / "c" / "epistle.conf"
    configuration.parent.mkdir()
    configuration.write_text("[service]\nname = A\naddress = chess@club.example\nstore = state/deep/epistle.db\n[mailbox]\nurl = maildir:mail/in\n"
                             "[outgoing]\nurl = maildir:mail/out\n")

    def check(*words):
        return subprocess.run([PROGRAM, "-c", str(configuration), "check", *words], capture_output=True, text=True)
    before = check()
    assert before.returncode == 1 and sorted(os.listdir(configuration.parent)) == ["epistle.conf"]  # it made nothing
    assert len(before.stderr.splitlines()) == 7  # the store, and three folders of two Maildirs
    assert len(check("--offline").stderr.splitlines()) == 1
    assert check("--init").returncode == 0
    key = configuration.parent / "state" / "deep" / "epistle.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    kept = key.read_bytes()
    again = check("--init")
    assert again.returncode == 0 and key.read_bytes() == kept
    assert check().stderr == "" and check().returncode == 0


def test_check_tells_every_error_with_its_line(tmp_path):
    configuration = tmp_path / "bad.conf"
    configuration.write_text("[service]\nname = A\naddress = nobody\nstore = x.db\ncolour = red\n[mailbox]\nurl = imap2://x\n[outgoing]\nurl = maildir:out\n"
                             "[play]\ntime = soon\n")
    done = subprocess.run([PROGRAM, "-c", str(configuration), "check"], capture_output=True, text=True)
    assert done.returncode == 1
    lines = [int(number) for number in re.findall(rf"^{re.escape(str(configuration))}:(\d+): ", done.stderr, re.M)]
    assert lines == [3, 5, 7, 11]
    other = subprocess.run([PROGRAM, "-c", str(configuration), "status"], capture_output=True, text=True)
    assert other.returncode == 1 and other.stderr.count("\n") == 1  # other verbs: one line


def test_check_tells_errors_of_everything_at_once(running):
    """An error in the configuration hides neither the templates' nor the key's nor the mailbox's."""
    key = running.store.with_suffix(".key")
    text = running.configuration.read_text()
    key.chmod(0o644)
    running.configuration.write_text(text.replace("language = en", "language = xx\ncolour = red"))
    (running.inbox.path / "cur").rename(running.inbox.path / "away")
    err = stderr_of(running, "check", "--init")
    assert len(err.splitlines()) == 4
    assert "colour" in err and '"xx"' in err and f"chmod 600 {key}" in err and "/cur: " in err
    assert not (running.inbox.path / "cur").exists()  # --init makes nothing of a bad configuration
    running.configuration.write_text(text)
    assert stderr_of(running, "check", "--init").count("\n") == 1
    key.chmod(0o600)
    assert running.run("check").endswith(": no errors\n")


def test_a_store_without_its_key_is_refused(running):
    key = running.store.with_suffix(".key")
    key.rename(key.with_suffix(".away"))
    assert "key" in stderr_of(running, "status")
    assert "key" in stderr_of(running, "check", "--init")
    assert not key.exists()


# --- players ---

def test_players(running):
    ann, bob = of(running, "player", "list")
    assert (ann["id"], ann["name"], ann["address"], ann["running"], ann["blocked"]) == (1, "Ann Muster", "ann@muster.example", 1, False)
    assert of(running, "player", "show", "BOB  klein")["games"] == [1]
    assert of(running, "player", "show", "2") == of(running, "player", "show", "Bob@klein.example")
    assert bob["trouble"] is None and bob["language"] == "en"
    running.run("player", "block", "2")
    assert of(running, "player", "show", "2")["blocked"]
    running.run("player", "block", "2", "--off")
    assert not of(running, "player", "show", "2")["blocked"]


def test_bad_players_are_refused_and_nothing_is_added(running):
    for words in (["ann muster", "x@y.example"], ["A@b", "x@y.example"], ["12", "x@y.example"], ["", "x@y.example"], ["X", "nobody"], ["X", "a b@y.example"],
                  ["X", "chess@club.example"], ["X", "x@y.example", "--language", "xx"], ["X", "x@y.example", "--timezone", "Mars/Base"],
                  ["X", "x@y.example", "--timezone", "../etc/passwd"]):
        assert stderr_of(running, "player", "add", *words).count("\n") == 1
    assert len(of(running, "player", "list")) == 2


def test_an_address_of_two_players_names_neither(running):
    running.run("player", "add", "Cousin Muster", "ann@muster.example")
    assert "2 players" in stderr_of(running, "game", "new", "ann@muster.example", "Bob Klein")


def test_names_from_outside_put_no_controls_on_a_terminal(running):
    running.deliver(b"From: \x1b[31mEvil\x07 <e@x.example>\nTo: chess@club.example\nSubject: a\x1b]0;owned\x07b \xe2\x80\xae c\n\nhello\n")
    running.once()
    out = running.run("letter", "1") + running.run("letters") + json.dumps(of(running, "letter", "1"))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out)


# --- games ---

def test_game_list(running):
    assert of(running, "game", "list") == [{"id": 1, "white": "Ann Muster", "black": "Bob Klein", "status": "running", "to_move": "white",
                                            "due": first_due(running), "result": "*"}]
    assert of(running, "game", "list", "--waiting", "--player", "Bob Klein") == []
    assert [game["id"] for game in of(running, "game", "list", "--waiting", "--player", "Ann Muster")] == [1]
    assert [game["id"] for game in of(running, "game", "list", "--waiting")] == [1]


def test_game_new_with_options(running):
    running.run("game", "new", "2", "1", "--time", "3d/move", "--start", "2032-01-01", "--fen", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    running.once()
    game = of(running, "game", "show", "2")
    assert (game["white"], game["control"], game["fen"]) == ("Bob Klein", "3d/move", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    assert game["due"] == "2032-01-04T00:00:00Z"  # no time runs before the start


def test_bad_games_are_refused_and_leave_nothing(running):
    for words in (["1", "1"], ["1", "9"], ["1", "Nobody"], ["1", "2", "--time", "soon"], ["1", "2", "--fen", "rubbish"],
                  ["1", "2", "--fen", "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3"]):
        assert stderr_of(running, "game", "new", *words).count("\n") == 1
    assert len(of(running, "game", "list")) == 1
    assert of(running, "outbox") == []


def test_game_move_says_why_it_is_none(running):
    for move, why in (("e5", "it is White's turn"), ("Zork", "is not written like a move"), ("1. Nf5", "no knight of White can reach f5; possible: Na3 Nc3 Nf3 Nh3")):
        err = stderr_of(running, "game", "move", "1", move)
        assert why in err and err.count("\n") == 1
    assert "2" in stderr_of(running, "game", "move", "1", "2. e4")
    assert "no game 7" in stderr_of(running, "game", "move", "7", "e4")


def test_errors_say_what_to_do(running, tmp_path):
    for words, hint in ((["game", "new", "1", "Ann Muster"], "a game needs two"), (["game", "show", "x"], "game list"), (["letter", "x"], "epistle letters"),
                        (["player", "add", "X", "notanaddr"], "anna@berg.example"), (["read", tmp_path / "none"], "standard input")):
        assert hint in stderr_of(running, *words)
    (tmp_path / "text").write_text("no store" * 1000)
    assert str(tmp_path / "text") in stderr_of(running, "verify", tmp_path / "text")


def test_game_show_and_move(running):
    running.run("game", "move", "1", "Nf3")
    running.once()
    assert running.run("game", "show", "1", "--fen") == "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1\n"
    assert "1. Nf3 *" in running.run("game", "show", "1", "--pgn")
    board = running.run("game", "show", "1", "--board").splitlines()
    assert len(board) == 10 and board[0].split() == ["|", *"abcdefgh"]
    record = running.run("game", "show", "1", "--record").splitlines()
    assert [line.split()[1] for line in record] == ["start", "notice", "move", "notice"]
    assert "10/50d" in running.run("game", "show", "1", "--clock")
    show = of(running, "game", "show", "1")
    assert show["moves"] == ["Nf3"] and show["ply"] == 1 and show["to_move"] == "black" and show["entries"] == 4
    assert stderr_of(running, "game", "move", "1", "Nf9").count("\n") == 1
    assert "no game 7" in stderr_of(running, "game", "show", "7")
    stderr_of(running, "game", "show", "one")
    assert of(running, "game", "show", "1") == show
    assert [letter.game for letter in running.bob.read_new()] == [1]


# --- letters ---

def test_letters_and_one_letter(running):
    running.advance(hours=1)
    running.answer(running.ann, running.letters["Ann Muster"], "1. e5")
    running.once()
    row = of(running, "letters")[0]
    assert (row["id"], row["player"], row["game"], row["kind"], row["proof"], row["outcome"], row["state"], row["filed"]) == \
        (1, 1, 1, "human", "token", "refused", "settled", True)
    letter = of(running, "letter", "1")
    assert letter["outcomes"][0]["verb"] == "move" and letter["outcomes"][0]["detail"]["code"] == "illegal"
    assert [out["address"] for out in letter["letters_out"]] == ["ann@muster.example"]
    assert letter["arrival"] == stamp(running.now)
    text = running.run("letter", "1")
    assert "outcome  refused" in text and "1. e5" in text
    raw = subprocess.run([PROGRAM, "-c", str(running.configuration), "letter", "1", "--raw"], capture_output=True).stdout
    (path,) = (running.inbox.path / "cur").iterdir()
    assert raw == path.read_bytes()
    assert running.run("letters", "--failed") == ""
    assert "no letter 5" in stderr_of(running, "letter", "5")


def test_a_letter_that_was_set_aside_is_seen(running):
    running.deliver(b"From: ann@muster.example\nTo: chess@club.example\nContent-Type: multipart/mixed; boundary=\"\\\"\"\n\n--\"\n\n1. e4\n")
    running.once()
    assert [row["id"] for row in of(running, "letters", "--failed")] == [1]
    assert [(trouble["kind"], trouble["id"]) for trouble in of(running, "status")["troubles"]] == [("set aside", 1)]
    assert "set aside, letter 1" in running.run("status")


def test_letters_set_aside_long_ago_are_counted_and_not_repeated(running):
    for _ in range(2):
        running.deliver(b"From: ann@muster.example\nTo: chess@club.example\nContent-Type: multipart/mixed; boundary=\"\\\"\"\n\n--\"\n\n1. e4\n")
        running.once()
    corrupt(running, "UPDATE letter_in SET stored = 1700000000 WHERE id = 1")
    status = of(running, "status")
    assert [trouble["id"] for trouble in status["troubles"]] == [2] and (status["set_aside"], status["set_aside_ever"]) == (1, 2)
    text = running.run("status")
    assert "1 in the last 30 days, 2 in all: `epistle letters --failed`" in text
    assert "letter 2" in text and "letter 1:" not in text
    assert running.run("letters", "--failed").count("\n") == 2


# --- the outbox ---

def test_outbox(running):
    running.run("game", "new", "2", "1")
    one, two = (row["id"] for row in of(running, "outbox"))
    running.run("outbox", "hold", one)
    running.once()
    rows = of(running, "outbox")
    assert [(row["id"], row["state"], row["attempts"]) for row in rows] == [(one, "held", 0)]
    stderr_of(running, "outbox", "hold", one)
    stderr_of(running, "outbox", "retry", two)  # it was accepted
    running.run("outbox", "release", one)
    running.once()
    assert of(running, "outbox") == []
    running.run("game", "new", "2", "1")
    for row in of(running, "outbox"):
        running.run("outbox", "drop", row["id"])
    running.once()
    assert of(running, "outbox") == [] and of(running, "status")["letters_out"]["overtaken"] == 2
    stderr_of(running, "outbox", "drop", "99")
    assert stderr_of(running, "outbox", "burn", "1", status=2).count("\n") == 1


# --- figures ---

def test_status(running):
    running.run("game", "new", "2", "1")
    status = of(running, "status")
    assert status["players"] == 2 and status["games"] == {"running": 2, "over": 0}
    assert status["letters_out"] == {"accepted": 2, "queued": 2} and status["letters_in"] == {} and status["troubles"] == []
    assert status["mailbox_read"] == stamp(running.now) and status["next_due"] == first_due(running) and status["next_due_game"] == 1
    text = running.run("status")
    assert "games         2 running, 0 over" in text and "2 queued" in text


def corrupt(club, sql):
    database = sqlite3.connect(club.store)
    database.execute(sql)
    database.commit()
    database.close()


def test_verify_finds_every_kind_of_damage(running, tmp_path):
    running.answer(running.ann, running.letters["Ann Muster"], "e4")
    running.once()
    assert running.run("verify") == "games 1, entries 4, faults 0\n"
    whole = tmp_path / "whole.db"
    database = sqlite3.connect(running.store)
    database.execute("VACUUM INTO ?", [str(whole)])
    database.close()
    assert running.run("verify", whole) == "games 1, entries 4, faults 0\n"
    for sql in ("UPDATE entry SET line = replace(line, 'e2e4', 'd2d4') WHERE kind = 'move'", "DELETE FROM entry WHERE number = 4",
                "UPDATE game SET ply = 2", "UPDATE game SET to_move = 1", "UPDATE game SET result = '1-0'", "UPDATE game SET due = due + 1",
                "UPDATE game SET head = 'x'", "UPDATE raw_letter SET box = zeroblob(length(box))"):
        damaged = tmp_path / "damaged.db"
        damaged.write_bytes(whole.read_bytes())
        database = sqlite3.connect(damaged)
        database.execute(sql)
        database.commit()
        database.close()
        done = subprocess.run([PROGRAM, "-c", str(running.configuration), "verify", str(damaged)], capture_output=True, text=True)
        assert done.returncode == 1, sql
        assert done.stderr and not done.stdout.endswith("faults 0\n"), sql
    assert running.run("verify") == "games 1, entries 4, faults 0\n"


def test_verify_of_a_file_that_is_no_store(running, tmp_path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + bytes(5000))
    stderr_of(running, "verify", broken)


# --- read ---

def read(club, raw, *words):
    path = club.folder / "letter.eml"
    path.write_bytes(raw)
    return of(club, "read", path, *words)


def read_alone(raw, *words):
    done = subprocess.run([PROGRAM, "read", "-", "--json", *words], input=raw, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_read_without_a_store():
    raw = b"From: a@b.example\nTo: chess@club.example\nSubject: x\n\n1. Nf3 (=)\n\nHello there\n"
    letter = read_alone(raw)
    assert (letter["kind"], letter["from"], letter["proof"], letter["game"]) == ("human", "a@b.example", "none", None)
    command = letter["commands"][0]
    assert (command["verb"], command["move"], command["san"], command["offer"]) == ("move", "g1f3", "Nf3", True)
    assert letter["remark"] == "Hello there"
    black = read_alone(b"From: a@b.example\n\nNf6\n", "--fen", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")
    assert black["commands"][0]["san"] == "Nf6"
    wrong = read_alone(b"From: a@b.example\n\n1. Nf5\n")["commands"][0]
    assert wrong["move"] is None and wrong["reading"] == "illegal" and wrong["fault"]
    score = read_alone(b"From: a@b.example\n\n1. e4 e5 2. Nf3\n")["commands"][0]
    assert score["san"] == "Nf3"


def test_read_knows_what_is_no_letter_of_a_person():
    assert read_alone(b"From: a@b.example\nAuto-Submitted: auto-replied\n\ne4\n")["kind"] == "automatic"
    assert read_alone(b"From: l@b.example\nList-Id: <x.y>\n\ne4\n")["kind"] == "list"
    bad = read_alone(b"From: a@b.example\nContent-Type: multipart/mixed; boundary=\"\\\"\"\n\nx\n")
    assert bad["kind"] == "unreadable" and bad["why"]
    assert read_alone(b"")["commands"] == []


def test_read_with_the_store_changes_nothing(running):
    raw = running.ann.answer(running.letters["Ann Muster"], "1. e4\n\nHello", running.now)
    before = of(running, "status")
    letter = read(running, raw)
    assert (letter["proof"], letter["player"], letter["game"], letter["remark"]) == ("token", "Ann Muster", 1, "Hello")
    assert letter["commands"][0]["move"] == "e2e4"
    foreign = read(running, raw.replace(b"ann@muster.example", b"eve@muster.example"))
    assert foreign["proof"] == "none" and foreign["why"]
    assert of(running, "status") == before
    assert running.run("game", "show", "1", "--fen").strip() == START_FEN
    assert "command  move: 1. e4" in running.run("read", running.folder / "letter.eml")
