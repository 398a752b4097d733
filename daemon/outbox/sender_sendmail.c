/* Letters handed to a program as sendmail(1), one after another: each is a child of its own, whose end the caller's poll() waits for.
 *
 *     how it ended                        the letter
 *     status 0                            accepted
 *     65, 67, 68                          refused
 *     69–74, 76–78, it cannot be run      later, the relay's fault: no other is begun
 *     another status                      later
 *     a signal, our time limit            unknown */
#include "daemon/outbox/encode_mail.h"
#include "daemon/outbox/sender.h"

#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

enum {
    PROGRAM_SECONDS = 60, /* it only puts the letter into a queue; what takes longer is stuck */
    OUTPUT_MAX = 4096,    /* of what it prints; the rest is dropped */
    EXTRA_MAX = 16,       /* descriptors of the caller's; serve has two or three */
    DRAIN_MAX = 64,       /* pieces of output in one call of work() */
    EXEC_FAILED = 127,
};

typedef struct Child {
    pid_t id;   /* -1: none */
    int handle; /* a pidfd */
    int output; /* what it prints */
    int start;  /* an errno value where it could not be run; closed by its execve */
    int64_t deadline;
    char printed[OUTPUT_MAX];
    size_t length;
} Child;

typedef struct SendmailSender {
    MailSender base;
    char program[PATH_MAX];
    Mailing *mailings; /* the batch; those before `next` are done, but for the last one while there is a child */
    size_t count, next;
    Instant (*clock)(void *data);
    void *clock_data;
    Child child;
} SendmailSender;

static int64_t program_seconds = PROGRAM_SECONDS; /* the unit test shortens it */

/* The machine's time, not the world's: it bounds a program's slowness. */
static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void settle(SendmailSender *sender, Mailing *mailing, SendReport report, const char *words) {
    report.at = sender->clock(sender->clock_data);
    text_copy(report.words, sizeof report.words, words);
    for (char *at = report.words; *at != 0; at++)
        if (*at < 0x20 || *at > 0x7e)
            *at = '?';
    mailing->report = report;
    mailing->done = true;
}

static void relay_fault(SendmailSender *sender, Mailing *mailing, bool operators, const char *words) {
    settle(sender, mailing, (SendReport){ .result = SEND_LATER, .relay = true, .operators = operators }, words);
    sender->base.operations->stop(&sender->base);
}

/* ---- the child ---- */

typedef struct Environment {
    char home[PATH_MAX + 8], user[300], logname[300], lang[100];
    char *list[6];
} Environment;

static void environment_fill(Environment *ret) {
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    const struct passwd *me = getpwuid(geteuid());
    const char *home = getenv("HOME"), *lang = getenv("LANG"), *user = me != NULL ? me->pw_name : getenv("USER");
    snprintf(ret->home, sizeof ret->home, "HOME=%s", home != NULL ? home : me != NULL ? me->pw_dir : "/");
    snprintf(ret->user, sizeof ret->user, "USER=%s", user != NULL ? user : "");
    snprintf(ret->logname, sizeof ret->logname, "LOGNAME=%s", user != NULL ? user : "");
    snprintf(ret->lang, sizeof ret->lang, "LANG=%s", lang != NULL ? lang : "C.UTF-8");
    char *list[] = { path, ret->home, ret->user, ret->logname, ret->lang, NULL };
    memcpy(ret->list, list, sizeof list);
}

/* Between fork and execve: system calls alone. input is read, all the program prints goes to output. */
__attribute__((noreturn)) static void run_child(const char *program, char *const *words, char *const *environment, int input, int output, int start) {
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t none;
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++) /* what the service ignores or blocks, the program must not inherit */
        sigaction(number, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    enum { START = STDERR_FILENO + 1, ASIDE = 10 };
    input = fcntl(input, F_DUPFD_CLOEXEC, ASIDE); /* out of the way of the numbers that they shall have */
    output = fcntl(output, F_DUPFD_CLOEXEC, ASIDE);
    start = fcntl(start, F_DUPFD_CLOEXEC, ASIDE);
    bool good = input >= 0 && output >= 0 && start >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                dup2(output, STDERR_FILENO) >= 0 && dup3(start, START, O_CLOEXEC) >= 0 && chdir("/") == 0;
    if (good) {
        start = START;
        close_range(START + 1, UINT_MAX, 0);
        execve(program, words, environment);
    }
    int code = errno;
    ssize_t written = write(start, &code, sizeof code);
    _exit(written == sizeof code ? EXEC_FAILED : 1);
}

static void kill_group(const Child *child) {
    if (kill(-child->id, SIGKILL) != 0)
        kill(child->id, SIGKILL); /* it had not come to setpgid() yet */
}

static void close_good(int descriptor) {
    if (descriptor >= 0)
        close(descriptor);
}

static void child_end(Child *child) {
    close_good(child->handle);
    close_good(child->output);
    close_good(child->start);
    child->id = child->handle = child->output = child->start = -1;
}

/* Takes what lies in the pipe. The program may leave others behind that hold it (a queue runner), so its end is not waited for. */
static void drain(Child *child) {
    char piece[OUTPUT_MAX];
    for (int pieces = 0; child->output >= 0 && pieces < DRAIN_MAX; pieces++) {
        ssize_t length = read(child->output, piece, sizeof piece);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0 && errno == EAGAIN)
            return;
        if (length <= 0) {
            close(child->output);
            child->output = -1;
            return;
        }
        size_t room = sizeof child->printed - child->length;
        room = room < (size_t)length ? room : (size_t)length;
        memcpy(child->printed + child->length, piece, room);
        child->length += room;
    }
}

/* The letter with LF lines, in memory; a lone CR stays what it is. -1 and errno. */
static int letter_file(const Mailing *mailing) {
    int file = memfd_create("letter", MFD_CLOEXEC);
    char piece[OUTPUT_MAX];
    size_t length = 0;
    bool good = file >= 0;
    for (size_t at = 0; at < mailing->length && good; at++) {
        if (mailing->bytes[at] == '\r' && at + 1 < mailing->length && mailing->bytes[at + 1] == '\n')
            continue;
        piece[length++] = mailing->bytes[at];
        if (length == sizeof piece) {
            good = write(file, piece, length) == (ssize_t)length;
            length = 0;
        }
    }
    good = good && write(file, piece, length) == (ssize_t)length && lseek(file, 0, SEEK_SET) == 0;
    if (good)
        return file;
    int kept = errno;
    close_good(file);
    errno = kept == 0 ? EIO : kept;
    return -1;
}

static int start_child(SendmailSender *sender, const Mailing *mailing) {
    char ignore_dots[] = "-i", from_option[] = "-f", end[] = "--", null_sender[] = "<>";
    char from[MAIL_ADDRESS_MAX + 1], to[MAIL_ADDRESS_MAX + 1];
    text_copy(from, sizeof from, *mailing->envelope.from != 0 ? mailing->envelope.from : null_sender);
    text_copy(to, sizeof to, mailing->envelope.to);
    char *const words[] = { sender->program, ignore_dots, from_option, from, end, to, NULL };
    Environment environment;
    environment_fill(&environment);
    Child *child = &sender->child;
    int output[2] = { -1, -1 }, start[2] = { -1, -1 }, input = letter_file(mailing);
    bool good = input >= 0 && pipe2(output, O_CLOEXEC) == 0 && pipe2(start, O_CLOEXEC) == 0;
    *child = (Child){ .id = -1, .handle = -1, .output = output[0], .start = start[0], .deadline = milliseconds_now() + program_seconds * 1000 };
    good = good && fcntl(child->output, F_SETFL, O_NONBLOCK) == 0 && fcntl(child->start, F_SETFL, O_NONBLOCK) == 0;
    child->id = good ? fork() : -1;
    if (child->id == 0)
        run_child(sender->program, words, environment.list, input, output[1], start[1]);
    int kept = errno;
    if (child->id > 0) {
        setpgid(child->id, child->id); /* whoever of the two comes first */
        child->handle = pidfd_open(child->id, 0);
        kept = errno;
    }
    close_good(input);
    close_good(output[1]);
    close_good(start[1]);
    if (child->handle >= 0)
        return 0;
    if (child->id > 0) {
        kill_group(child);
        waitpid(child->id, NULL, 0);
    }
    child_end(child);
    errno = kept;
    return -1;
}

/* ---- what became of a letter ---- */

/* The first printed line with something in it; "" if there is none. */
static void useful_line(const Child *child, char *ret_line, size_t size) {
    size_t at = 0, length = 0;
    while (at < child->length && (unsigned char)child->printed[at] <= ' ')
        at++;
    while (at + length < child->length && child->printed[at + length] != '\n' && length < size - 1)
        length++;
    memcpy(ret_line, child->printed + at, length);
    ret_line[length] = 0;
    for (size_t i = 0; i < length; i++) /* a NUL must not hide what stands behind it */
        if (ret_line[i] == 0)
            ret_line[i] = '?';
    while (length > 0 && (unsigned char)ret_line[length - 1] <= ' ')
        ret_line[--length] = 0;
}

static bool is_refusal(int status) {
    return status == EX_DATAERR || status == EX_NOUSER || status == EX_NOHOST;
}

static bool is_relays(int status) {
    return status >= EX_UNAVAILABLE && status <= EX_CONFIG && status != EX_TEMPFAIL;
}

static void judge(SendmailSender *sender, Mailing *mailing, int status) {
    char line[200], words[300];
    useful_line(&sender->child, line, sizeof line);
    if (!WIFEXITED(status)) {
        snprintf(words, sizeof words, "the program was ended by signal %d%s%s", WTERMSIG(status), *line != 0 ? ": " : "", line);
        settle(sender, mailing, (SendReport){ .result = SEND_UNKNOWN }, words);
        return;
    }
    int code = WEXITSTATUS(status);
    if (code == EX_OK) {
        settle(sender, mailing, (SendReport){ .result = SEND_ACCEPTED }, *line != 0 ? line : "taken by the program");
        return;
    }
    snprintf(words, sizeof words, "status %d: %s", code, *line != 0 ? line : "the program printed no reason");
    if (is_relays(code))
        relay_fault(sender, mailing, code == EX_NOPERM || code == EX_CONFIG, words);
    else
        settle(sender, mailing, (SendReport){ .result = is_refusal(code) ? SEND_REFUSED : SEND_LATER }, words);
}

static void say_not_run(const SendmailSender *sender, int code, char *ret_words, size_t size) {
    snprintf(ret_words, size, "%.120s cannot be run (%s): install it, or correct url in [outgoing]", sender->program, strerror(code));
}

/* The child has ended or is made to. */
static void reap(SendmailSender *sender, bool late) {
    Child *child = &sender->child;
    Mailing *mailing = &sender->mailings[sender->next - 1];
    int status = 0, code = 0;
    if (late)
        kill_group(child);
    while (waitpid(child->id, &status, 0) < 0 && errno == EINTR)
        continue;
    drain(child);
    char words[300];
    if (read(child->start, &code, sizeof code) == sizeof code) {
        say_not_run(sender, code, words, sizeof words);
        relay_fault(sender, mailing, true, words);
    } else if (late && !WIFEXITED(status)) {
        snprintf(words, sizeof words, "the program was not done after %d s and was killed", (int)program_seconds);
        settle(sender, mailing, (SendReport){ .result = SEND_UNKNOWN }, words);
    } else {
        judge(sender, mailing, status);
    }
    child_end(child);
}

/* ---- the batch ---- */

static bool address_good(const char *address) {
    return mail_address_good(address) && *address != '-';
}

static void begin_letter(SendmailSender *sender) {
    Mailing *mailing = &sender->mailings[sender->next++];
    const Envelope *envelope = &mailing->envelope;
    if (!address_good(envelope->to) || (*envelope->from != 0 && !address_good(envelope->from))) {
        settle(sender, mailing, (SendReport){ .result = SEND_REFUSED }, "an address of the envelope is not well-formed");
    } else if (start_child(sender, mailing) != 0) {
        char words[200];
        snprintf(words, sizeof words, "no process for the program could be started: %s", strerror(errno));
        relay_fault(sender, mailing, false, words);
    }
}

static void sendmail_begin(MailSender *base, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data) {
    SendmailSender *sender = (SendmailSender *)base;
    for (size_t i = 0; i < count; i++)
        mailings[i].done = false;
    sender->mailings = mailings;
    sender->count = count;
    sender->next = 0;
    sender->clock = clock;
    sender->clock_data = clock_data;
}

static bool under_way(const SendmailSender *sender) {
    return sender->child.id > 0;
}

static size_t letters_left(const SendmailSender *sender) {
    return sender->count - sender->next + (under_way(sender) ? 1 : 0);
}

/* Waits for the child, its output or the caller's descriptors. */
static void wait_turn(SendmailSender *sender, struct pollfd *extra, size_t extra_count, int milliseconds) {
    struct pollfd all[EXTRA_MAX + 2];
    Child *child = &sender->child;
    int64_t left = child->deadline - milliseconds_now();
    left = left > 0 ? left : 0;
    all[0] = (struct pollfd){ .fd = child->handle, .events = POLLIN };
    all[1] = (struct pollfd){ .fd = child->output, .events = POLLIN };
    for (size_t i = 0; i < extra_count; i++)
        all[i + 2] = extra[i];
    if (poll(all, extra_count + 2, left < milliseconds ? (int)left : milliseconds) < 0)
        for (size_t i = 0; i < extra_count + 2; i++)
            all[i].revents = 0;
    for (size_t i = 0; i < extra_count; i++)
        extra[i].revents = all[i + 2].revents;
    drain(child);
    if (all[0].revents != 0)
        reap(sender, false);
    else if (milliseconds_now() >= child->deadline)
        reap(sender, true);
}

static size_t sendmail_work(MailSender *base, struct pollfd *extra, size_t extra_count, int milliseconds) {
    SendmailSender *sender = (SendmailSender *)base;
    bool busy = letters_left(sender) > 0;
    extra_count = extra_count < EXTRA_MAX ? extra_count : EXTRA_MAX;
    if (!under_way(sender) && sender->next < sender->count)
        begin_letter(sender);
    if (under_way(sender)) {
        wait_turn(sender, extra, extra_count, milliseconds);
    } else {
        for (size_t i = 0; i < extra_count; i++)
            extra[i].revents = 0;
        poll(extra, extra_count, busy ? 0 : milliseconds);
    }
    return letters_left(sender);
}

static void sendmail_stop(MailSender *base) {
    SendmailSender *sender = (SendmailSender *)base;
    for (; sender->next < sender->count; sender->count--)
        settle(sender, &sender->mailings[sender->count - 1], (SendReport){ .result = SEND_LATER, .unbegun = true }, "not begun");
}

static int sendmail_probe(MailSender *base, Error *error) {
    const SendmailSender *sender = (const SendmailSender *)base;
    struct stat status;
    char words[300];
    errno = 0;
    if (stat(sender->program, &status) == 0 && S_ISREG(status.st_mode) && access(sender->program, X_OK) == 0)
        return 0;
    int code = errno == 0 ? EACCES : errno;
    say_not_run(sender, code, words, sizeof words);
    return error_set(error, ERROR_INPUT, code, "%s", words);
}

static void sendmail_close(MailSender *base) {
    SendmailSender *sender = (SendmailSender *)base;
    if (sender == NULL)
        return;
    if (under_way(sender)) {
        kill_group(&sender->child);
        waitpid(sender->child.id, NULL, 0);
        child_end(&sender->child);
    }
    free(sender);
}

MailSender *sender_sendmail_open(const char *program, Error *error) {
    static const MailSenderOperations operations = { sendmail_begin, sendmail_work, sendmail_stop, sendmail_probe, sendmail_close };
    SendmailSender *sender = calloc(1, sizeof *sender);
    if (sender == NULL) {
        error_set(error, ERROR_LATER, ENOMEM, "no memory for the outgoing letters");
        return NULL;
    }
    sender->base.operations = &operations;
    sender->child = (Child){ .id = -1, .handle = -1, .output = -1, .start = -1 };
    if (*program == '/' && text_copy(sender->program, sizeof sender->program, program))
        return &sender->base;
    error_set(error, ERROR_INPUT, 0, "the program \"%s\" for outgoing letters is no absolute path: write sendmail:/usr/sbin/sendmail or the like", program);
    free(sender);
    return NULL;
}
