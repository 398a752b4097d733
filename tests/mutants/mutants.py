#!/usr/bin/python3
"""Plants one fault at a time and demands that a named test fails (RULINGS 53).

    mutants.py [--list] [--keep] [NAME …]      all of them, or those whose name contains one of the words

Works on a copy of the tree with a build of its own, never on the tree itself. First every test must pass on the unchanged copy. A
mutant counts as caught when its test fails by itself, or is still running at its time limit; one that does not build, or whose text is not
there exactly once, has failed: the list must follow the code. The last line is "N passed, M failed"; so is the exit status.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPIED = ("Makefile", "core", "daemon", "templates", "config", "tools", "docs", "tests")
JOBS = os.environ.get("JOBS", "2")
PYTEST = "/usr/bin/python3 -m pytest -x -q -p no:cacheprovider"


@dataclass(frozen=True)
class Test:
    target: str         # what make must build
    command: str        # run in the copy, by the shell
    seconds: int = 120  # a mutant that hangs the test longer is caught too


def unit(name):
    return Test(f"build/tests/{name}", f"build/tests/{name}", 60)


def mail(expression):
    return Test("build/epistle", f"{PYTEST} tests/mail -k '{expression}'", 300)


def crash(expression):
    return Test("build/epistle build/tests/faultrun", f"{PYTEST} tests/crash -k '{expression}'", 300)


def simulate(*seeds):
    """Ranges "A-B" or single numbers; until one fails."""
    return Test("build/tests/simulate", f"for s in {' '.join(map(str, seeds))}; do TMPDIR=/dev/shm build/tests/simulate --seeds $s || exit 1; done", 600)


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    text: str         # stands in the file exactly once
    replacement: str
    test: Test


NOTATIONS = Test("build/tests/notations", "build/tests/notations --positions 20000")
CLOCK = "core/game/clock.c"
GAME = "core/game/game.c"
LINE = "daemon/line/line.c"
IMAP_FILE = "daemon/inbox/source_imap_file.c"
SMTP = "daemon/outbox/sender_smtp.c"

MUTANTS = [
    # rules of time
    Mutant("20 days of grace are 21", CLOCK, "SINGLE_DAYS = 20,", "SINGLE_DAYS = 21,", unit("test_core_clock")),
    Mutant("doubled days count once", CLOCK, "SINGLE_DAYS + 2 * double_days", "SINGLE_DAYS + double_days", unit("test_core_clock")),
    Mutant("the exact end of a day begins the next", CLOCK, "(charge.elapsed - 1) / SECONDS_PER_DAY", "charge.elapsed / SECONDS_PER_DAY",
           unit("test_core_clock")),
    Mutant("the free first day is forgotten in the deadline", CLOCK, "affordable_days(clock->left / SECONDS_PER_DAY) + 1;",
           "affordable_days(clock->left / SECONDS_PER_DAY);", unit("test_core_clock")),
    Mutant("the next period brings nothing", CLOCK, "after.moves_made % control->moves == 0", "after.moves_made % control->moves == 1 && false",
           unit("test_core_clock")),
    # the record
    Mutant("a move may be of another epoch", GAME, "entry->epoch != game->epoch || entry->ply != game->ply_count + 1",
           "entry->ply != game->ply_count + 1", unit("test_core_game_rules")),
    Mutant("a ply may come twice", GAME, "entry->epoch != game->epoch || entry->ply != game->ply_count + 1",
           "entry->epoch != game->epoch || entry->ply > game->ply_count + 1", unit("test_core_game_rules")),
    Mutant("a player may play himself", GAME, "if (entry->white == entry->black)", "if (entry->white == entry->black && false)",
           unit("test_core_game_rules")),
    Mutant("a plan goes on after the end", "core/game/game_plan.c", "if (game_over(game) || game->due_result_ != RESULT_NONE)",
           "if (game->due_result_ != RESULT_NONE)", unit("test_core_game_rules")),
    # nothing lost, nothing twice
    Mutant("chess: in double check a man may interpose", "core/chess/scene.c", "others != 0 ? 0 : ", "", unit("test_core_movegen")),
    Mutant("chess: pins do not count", "core/chess/count_body.h", "if (lanes_meet(beams, own))", "if (0)", unit("test_core_movegen")),
    Mutant("chess: en passant is thought possible always", "core/chess/position.c", " && en_passant_possible(position, to ^ 8)", "", unit("test_core_movegen")),
    Mutant("chess: any position is the same again", "core/chess/history.c", "position_same(&history->positions[before - back], position)", "true",
           unit("test_core_endings")),
    Mutant("chess: only material is dead", "core/chess/endings.c", "mating_dead(position)", "false", unit("test_core_endings")),
    Mutant("chess: a record may say dead of any position", "core/game/game.c", "&& mating_dead(&game->position)", "&& true",
           unit("test_core_game_rules")),
    Mutant("mating: ghosts get no further when men leave", "core/chess/mating_ghosts.c", "ghosts->held[turn] &= position->sides[turn] | position->kinds[KING];", "",
           unit("test_core_mating")),
    Mutant("notation: the rank alone where files are the same", "core/notation/notation_write.c", "(!same_file || same_rank)", "!same_file", NOTATIONS),
    Mutant("notation: bishop and knight of ICCF's digits", "core/notation/shape.c", "QUEEN, ROOK, BISHOP, KNIGHT }", "QUEEN, ROOK, KNIGHT, BISHOP }",
           NOTATIONS),
    Mutant("notation: castling with the other rook", "core/notation/notation_read.c", "shape->castling_rook == move_to(move)",
           "shape->castling_rook != move_to(move)", NOTATIONS),
    Mutant("notation: a Polish queen for a bishop", "core/notation/language.c", '"W", "H", "K"', '"W", "G", "K"', NOTATIONS),
    Mutant("notation: UCI is English", "core/notation/notation_read.c", " || uci_promotion(text));", ");", unit("test_core_notation")),
    Mutant("nothing is synced", "daemon/store/store.c", "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
           "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;", simulate("1-5")),
    Mutant("no attempt noted", "daemon/outbox/queue.c", """        result = note_attempt(service, &batch->arena, ids[i], &batch->outgoing[i], report, error);
    if (result == 0)
        result = service_commit(service, error);
""", """        result = note_attempt(service, &batch->arena, ids[i], &batch->outgoing[i], report, error);
    store_rollback(service->store);
""", simulate("1-5")),
    # seeds whose mailbox is one over IMAP with `after = delete`, and one over POP3
    *(Mutant(f"filed before COMMIT, {name}", "daemon/service/intake.c", """            result = store_one(intake, &waiting[i], &incoming[i], error);
""", """            result = store_one(intake, &waiting[i], &incoming[i], error) < 0 ? -1 : intake->service->world->source->operations->file(
                intake->service->world->source,
                (SourceFile[]){ { waiting[i].letter->mailbox, waiting[i].letter->name, false } }, 1, error);
""", simulate(*seeds)) for name, seeds in (("over IMAP", (1, 4, 7)), ("DELE over POP3", (2, 5, 8)))),
    Mutant("move not unique", "daemon/store/schema.c", "CREATE UNIQUE INDEX entry_move_once", "CREATE INDEX entry_move_once", unit("test_store")),
    Mutant("tries not counted", "daemon/store/letters_in.c", "SET tries = tries + 1", "SET tries = tries + 0", crash("third_unclean_end")),
    Mutant("a letter out that kills is tried for ever", "daemon/outbox/queue.c", "letter->unknowns >= UNKNOWNS_MAX && now <",
           "letter->unknowns > 1000 && now <", crash("letter_out")),
    Mutant("the arbiter is taken for a stranger", "daemon/outbox/queue.c", "letter->player == 0 && letter->brake[0] != 0", "letter->player == 0",
           simulate("1-5")),
    Mutant("a clean end is counted as a try", "daemon/store/letters_in.c", "SET tries = tries - 1", "SET tries = tries - 0", crash("ends_that_were_clean")),
    Mutant("a batch is not settled one by one after an error", "daemon/service/intake.c", """    for (int i = 0; i < count; i++)
        if (incoming[i].id != 0 && settle_alone(""", """    if (fault.grade == ERROR_LATER)
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    for (int i = 0; i < count; i++)
        if (incoming[i].id != 0 && settle_alone(""", crash("one_by_one")),
    Mutant("a notice starts the clock before it is accepted", "daemon/outbox/queue.c", """    switch (report->result) {
    case SEND_ACCEPTED:
""", """    if (start_notice(service, letter, now, error) < 0)
        return -1;
    switch (report->result) {
    case SEND_ACCEPTED:
""", simulate("1-5")),
    Mutant("any key will do", "daemon/store/store.c", "if (key_read(key_file, &store->key) && key_check(&store->key) == check)",
           "if (key_read(key_file, &store->key))", unit("test_store")),
    Mutant("other bytes after an unknown end", "daemon/store/letters_out.c", "bytes = CASE WHEN ?6 THEN bytes END", "bytes = CASE WHEN ?6 < 0 THEN bytes END",
           simulate("1-5")),
    # real servers
    Mutant("UIDVALIDITY is not looked at when filing", IMAP_FILE, "session->validity != filed[0].validity", "filed[0].validity == 0",
           mail("another_uidvalidity_are_never_filed")),
    Mutant("letters are known by their UID alone", "daemon/inbox/source_imap.c",
           """arena_printf(arena, "%s%s;%u", imap->account, imap->folders[number].name, session->validity)""",
           """arena_printf(arena, "%s%s;%u", imap->account, imap->folders[number].name, session->validity != 0)""",
           mail("made_anew_doubles_nothing or another_uidvalidity")),
    Mutant("another account's letters are taken for this one's", "daemon/inbox/source_imap.c", "strncmp(mailbox, imap->account, account) != 0",
           "strlen(mailbox) < account", unit("test_inbox_imap")),
    Mutant("a plain EXPUNGE", IMAP_FILE, "mailimap_uid_expunge(session->imap, set)", "mailimap_expunge(session->imap)",
           mail("another_program_has_marked_as_deleted")),
    Mutant("a plain EXPUNGE where there is no other", IMAP_FILE, """    if (!session->can_uidplus)
        return 0;
""", """    if (!session->can_uidplus)
        return mailimap_expunge(session->imap) == MAILIMAP_NO_ERROR ? 0 : -1;
""", mail("test_deleting")),
    Mutant("reading marks as seen", "daemon/inbox/source_imap_fetch.c", "mailimap_fetch_att_new_body_peek_section(section)",
           "mailimap_fetch_att_new_body_section(section)", mail("test_an_empty_letter_stays_waiting")),
    Mutant("a deletion is believed before QUIT", "daemon/inbox/source_pop3.c", """    if (result < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (result == 0 &&""", """    for (size_t i = 0; i < count; i++)
        if (result == 0 &&""", mail("lost_between_deletion_and_quit")),
    Mutant("a letter at which a POP3 line breaks is the mailbox's fault", "daemon/inbox/source_pop3.c", "if (++pop->breaks > BREAKS_MAX)",
           "if (++pop->breaks > 0)", mail("a_letter_at_which_the_line_breaks")),
    Mutant("a doubled UIDL is a name", "daemon/inbox/source_pop3.c", "const char *name = entry->doubled ? (twin != NULL ? twin->name : NULL) : entry->uidl;",
           "const char *name = entry->uidl;", mail("letters_of_one_name")),
    Mutant("a line never times out", LINE, "if (now >= line->deadline)\n        return break_line", "if (now < 0)\n        return break_line", unit("test_line")),
    Mutant("a line brings as many bytes as it likes", LINE, "if (line->left == 0)\n        return break_line", "if (line->host[0] == 0)\n        return break_line",
           unit("test_line")),
    Mutant("any certificate will do", LINE, "CURLOPT_SSL_VERIFYPEER, 1L", "CURLOPT_SSL_VERIFYPEER, 0L", mail("certificate_that_does_not_hold")),
    Mutant("a certificate of any host will do", LINE, "CURLOPT_SSL_VERIFYHOST, 2L", "CURLOPT_SSL_VERIFYHOST, 0L", mail("certificate_that_does_not_hold")),
    Mutant("an unknown end is taken for acceptance", SMTP, "settle_lane(sender, lane, SEND_UNKNOWN, words);", "settle_lane(sender, lane, SEND_ACCEPTED, words);",
           mail("test_smtp_faults and test_unknown")),
    Mutant("an unknown end is taken for none", SMTP, "settle_lane(sender, lane, SEND_UNKNOWN, words);", "settle_lane(sender, lane, SEND_LATER, words);",
           mail("lost_after_the_dot")),
    Mutant("a relay's fault condemns the letter", SMTP, "SendReport report = { .result = SEND_LATER, .relay = true,",
           "SendReport report = { .result = SEND_REFUSED, .relay = true,", mail("test_smtp_faults and test_later")),
    Mutant("a reused line that has ended is not opened again", SMTP, "if (!handed_over && lane->used && !late && !post->again)",
           "if (!handed_over && lane->used && !late && !post->again && lane->letter < 0)", mail("reused_lines_that_end")),
    Mutant("a refused null sender is the relay's fault", SMTP, "if (*mailing->envelope.from == 0 && !lane->stand_in && !is_about_us(reply->code))",
           "if (*mailing->envelope.from != 0 && !lane->stand_in && !is_about_us(reply->code))", mail("test_smtp_faults and test_null_sender")),
    Mutant("a relay's outage is held against its letters", "daemon/outbox/queue.c", "if (report->relay || report->unbegun)", "if (report->relay && report->unbegun)",
           mail("test_smtp_faults and test_later")),
    Mutant("an outage is told with every try", "daemon/service/outage.c", "if (outage->told && !was_told)", "if (outage->told)", simulate("1-5")),
    Mutant("an outage never ends", "daemon/service/outage.c", "if (ends)\n        outage->ended =", "if (ends && false)\n        outage->ended =", simulate("1-5")),
    Mutant("a letter that another server links into new/ is not heard", "daemon/inbox/source_maildir.c", "IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE",
           "IN_MOVED_TO | IN_CLOSE_WRITE", unit("test_inbox_maildir")),
    Mutant("what we file is taken for news", "daemon/inbox/source_maildir.c", "event->name + maildir_name_length(event->name), 'S') == NULL", "event->name, '/') == NULL",
           unit("test_inbox_maildir")),
    Mutant("a renamed letter has gone", "daemon/inbox/source_maildir.c", "    if (!search_->reread) {\n", "    if (!search_->reread && turn > 8) {\n",
           unit("test_inbox_maildir")),
    # hostile and mistaken letters
    Mutant("a foreign From is accepted", "daemon/service/proof.c", """    else if (!ret_proof->own)
        ret_proof->why""", """    else if (!ret_proof->own && ret_proof->known && false)
        ret_proof->why""", mail("copied_opponent or stolen_token")),
    Mutant("a failed DMARC does not matter", "daemon/service/proof.c", "else if (dmarc_failed(config, arena, &letter->header))",
           "else if (dmarc_failed(config, arena, &letter->header) && false)", mail("dmarc")),
    Mutant("the gate is off", "daemon/inbox/gate.c", "    if (why == NULL)\n        return true;\n    *ret_why", "    if (why == NULL || size > 0)\n        return true;\n    *ret_why",
           unit("test_inbox_gate")),
    Mutant("a near-miss in the opening lines stops nothing", "daemon/inbox/command.c", """    case LINE_NEAR_OPENING:
        near_miss(reader, found);
        return true;
    case LINE_HEADING""", """    case LINE_NEAR_OPENING:
        return true;
    case LINE_HEADING""", unit("test_inbox_command")),
    Mutant("resign counts in prose", "daemon/inbox/command.c", "return found->class == LINE_COMMAND && !found->opening_only && (", "return found->class == LINE_COMMAND && (",
           unit("test_inbox_command")),
    Mutant("a late confirmation counts from the move", "daemon/service/confirm.c", "Instant arrival = in_time ? question->arrival : settling->row.arrival;",
           "Instant arrival = question->arrival;", mail("confirmation_after_48_hours")),
    Mutant("a copy is a new letter", "daemon/service/settle.c", "settling->read->body_hash, &first, error);",
           "settling->read->body_hash, &first, error) * 0;", simulate("1-5")),
]


def copy_tree(target):
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        elif source.exists():
            shutil.copy2(source, target / name)


class Copy:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("B", "EPISTLE", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
            self.environment.pop(name, None)

    def run(self, command, seconds):
        """(status, output); status None: not done in time. The whole process group is ended then."""
        process = subprocess.Popen(command, shell=True, cwd=self.folder, env=self.environment, text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return None, output

    def build(self, target):
        status, output = self.run(f"make -j{JOBS} B=build OPT='-O1 -g' {target}", 600)
        return status == 0, output


def tail(output, lines=15):
    return "\n".join("      " + line for line in output.rstrip().split("\n")[-lines:])


def try_mutant(copy, mutant):
    """(caught, what happened)"""
    file = copy.folder / mutant.file
    original = file.read_text() if file.exists() else ""
    found = original.count(mutant.text)
    if found != 1:
        return False, f"stale: its text stands {found} times in {mutant.file}"
    file.write_text(original.replace(mutant.text, mutant.replacement))
    try:
        built, output = copy.build(mutant.test.target)
        if not built:
            return False, "does not build\n" + tail(output)
        status, output = copy.run(mutant.test.command, mutant.test.seconds)
    finally:
        file.write_text(original)
    if status is None:
        return True, "caught: the test hung"
    if status == 0:
        return False, f"NOT CAUGHT by: {mutant.test.command}"
    return True, f"caught (status {status})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", action="store_true", help="leave the copy for a look")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if not options.names or any(name in mutant.name for name in options.names)]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:50} {mutant.file}: {mutant.test.command}")
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="epistle-mutants."))
    passed = failed = 0
    try:
        copy_tree(folder)
        copy = Copy(folder)
        broken = set()
        for test in dict.fromkeys(mutant.test for mutant in chosen):
            built, output = copy.build(test.target)
            status, output = copy.run(test.command, test.seconds) if built else (1, output)
            if status != 0:
                broken.add(test)
                print(f"  unchanged, this fails already: {test.command}\n{tail(output)}")
        for mutant in chosen:
            started = time.monotonic()
            caught, words = (False, "its test fails without it") if mutant.test in broken else try_mutant(copy, mutant)
            passed += caught
            failed += not caught
            print(f"{'ok  ' if caught else 'FAIL'} {mutant.name:50} {time.monotonic() - started:5.1f} s  {words}", flush=True)
    finally:
        if options.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if not chosen:
        print("no mutant of that name")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
