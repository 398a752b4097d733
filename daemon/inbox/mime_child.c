/* The zygote and its children. The zygote reads no letter and no answer, it only carries them; after each
 * letter it wipes what it carried, so that a child never finds another letter in its inherited memory. */
#include "daemon/inbox/mime_wire.h"

#include "daemon/inbox/charset.h"
#include "daemon/inbox/mime_lock.h"
#include "daemon/machine_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REQUEST_FD = 0,
    ANSWER_FD = 1,
    /* Of a child's arena: header copies and the parts' strings; decoding buffers are on the heap. */
    CHILD_ARENA_MAX = 32 * 1024 * 1024,
    LAST_WORDS_MS = 200, /* from closing its pipe to its end a child has nothing to do */
};

typedef struct Zygote {
    char *letter; /* GATE_LETTER_MAX bytes */
    char *answer; /* MIME_ANSWER_MAX bytes */
    size_t answered; /* of them written for this letter, to be wiped */
} Zygote;

/* 1: all read; 0: end of file before the first byte; -1: else. */
static int read_all(int descriptor, void *target, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(descriptor, (char *)target + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 && done == 0 ? 0 : -1;
        done += (size_t)got;
    }
    return 1;
}

static bool write_all(int descriptor, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t put = write(descriptor, (const char *)bytes + done, size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

#ifdef EPISTLE_TEST_HOOKS
/* Letters that misbehave on purpose: "X-Epistle-Test-Crash: WORD" anywhere in the letter. */
static void misbehave(const char *letter, size_t size) {
    static const char name[] = "X-Epistle-Test-Crash: ";
    const char *hook = memmem(letter, size, name, sizeof name - 1);
    if (hook == NULL)
        return;
    const char *word = hook + sizeof name - 1;
    size_t rest = size - (size_t)(word - letter);
    if (rest >= 4 && memcmp(word, "segv", 4) == 0)
        raise(SIGSEGV);
    if (rest >= 4 && memcmp(word, "loop", 4) == 0)
        for (volatile int spin = 0;; spin = 1)
            (void)spin;
    if (rest >= 4 && memcmp(word, "exit", 4) == 0)
        _exit(0);
    if (rest >= 4 && memcmp(word, "open", 4) == 0 && (open("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES))
        _exit(3);
    if (rest >= 4 && memcmp(word, "fork", 4) == 0)
        (void)!fork();
    if (rest >= 4 && memcmp(word, "junk", 4) == 0) {
        write_all(MIME_CHILD_FD, letter, size);
        _exit(0);
    }
    if (rest >= 6 && memcmp(word, "memory", 6) == 0)
        for (size_t i = 0; i < 4096; i++) {
            char *block = malloc(1024 * 1024);
            if (block == NULL)
                abort();
            memset(block, 1, 1024 * 1024);
        }
}
#endif

static _Noreturn void child_main(const char *letter, size_t size) {
    if (!mime_lock_child())
        _exit(2);
#ifdef EPISTLE_TEST_HOOKS
    misbehave(letter, size);
#endif
    Arena arena;
    arena_init(&arena, CHILD_ARENA_MAX);
    MimeResult result;
    mime_read(&arena, letter, size, &result);
    MimeAnswer answer = {
        .kind = (uint32_t)result.kind,
        .cut = result.cut,
        .text = (uint32_t)strlen(result.text),
        .report = (uint32_t)strlen(result.report),
        .why = (uint32_t)strlen(result.why),
    };
    bool done = write_all(MIME_CHILD_FD, &answer, sizeof answer) && write_all(MIME_CHILD_FD, result.text, answer.text) &&
                write_all(MIME_CHILD_FD, result.report, answer.report) && write_all(MIME_CHILD_FD, result.why, answer.why);
    _exit(done ? 0 : 1);
}

/* Collects what the child writes until it closes its pipe. False if it took too long. The daemon gone meanwhile ends
 * the zygote, and by PR_SET_PDEATHSIG the child. */
static bool collect(int from, char *answer, size_t *size) {
    int64_t deadline = machine_milliseconds() + MIME_SECONDS * 1000;
    struct pollfd polls[2] = { { .fd = from, .events = POLLIN }, { .fd = REQUEST_FD, .events = 0 } };
    *size = 0;
    for (;;) {
        int64_t left = deadline - machine_milliseconds();
        if (left <= 0)
            return false;
        int ready = poll(polls, 2, (int)left);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready <= 0)
            continue;
        if (polls[1].revents & (POLLHUP | POLLERR))
            _exit(0);
        if (polls[0].revents == 0)
            continue;
        char over[1]; /* a child that writes too much has no sensible answer */
        char *target = *size < MIME_ANSWER_MAX ? answer + *size : over;
        ssize_t got = read(from, target, *size < MIME_ANSWER_MAX ? MIME_ANSWER_MAX - *size : 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            return true;
        if (got < 0 || *size == MIME_ANSWER_MAX)
            return false;
        *size += (size_t)got;
    }
}

/* Waits for a child that has closed its pipe. One that goes on living all the same is killed. */
static int reap(pid_t child, bool kill_first) {
    struct pollfd end = { .fd = kill_first ? -1 : pidfd_open(child, 0), .events = POLLIN };
    if (end.fd < 0 || poll(&end, 1, LAST_WORDS_MS) <= 0)
        kill(child, SIGKILL);
    if (end.fd >= 0)
        close(end.fd);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static MimeFate read_in_child(Zygote *zygote, size_t size) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return (MimeFate){ .kind = MIME_FATE_NO_CHILD };
    pid_t child = fork();
    if (child == 0) {
        close(REQUEST_FD);
        close(ANSWER_FD);
        dup2(ends[1], MIME_CHILD_FD);
        close_range(MIME_CHILD_FD + 1, ~0U, 0);
        child_main(zygote->letter, size);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return (MimeFate){ .kind = MIME_FATE_NO_CHILD };
    }
    bool in_time = collect(ends[0], zygote->answer, &zygote->answered);
    close(ends[0]);
    int status = reap(child, !in_time);
    if (!in_time)
        return (MimeFate){ .kind = MIME_FATE_SLOW };
    if (WIFSIGNALED(status))
        return (MimeFate){ .kind = MIME_FATE_DIED, .signal = (uint32_t)WTERMSIG(status) };
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || zygote->answered == 0)
        return (MimeFate){ .kind = MIME_FATE_DIED };
    return (MimeFate){ .kind = MIME_FATE_ANSWERED, .size = (uint32_t)zygote->answered };
}

/* Reads one letter of the usual shapes, so that children find libraries bound and ICU's data touched. */
static void warm_up(void) {
    static const char letter[] = "Content-Type: multipart/alternative; boundary=x\r\n\r\n"
                                 "--x\r\nContent-Type: text/plain; charset=iso-8859-15; format=flowed\r\n"
                                 "Content-Transfer-Encoding: quoted-printable\r\n\r\ne4 =E4\r\n"
                                 "--x\r\nContent-Type: text/html; charset=utf-8\r\n\r\ne4\r\n--x--\r\n";
    charset_warm_up();
    Arena arena;
    arena_init(&arena, CHILD_ARENA_MAX);
    MimeResult result;
    mime_read(&arena, letter, sizeof letter - 1, &result);
    arena_free(&arena);
}

static void *map(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int mime_zygote_main(void) {
    /* The daemon ends us by closing the pipe; a ^C or systemd's signal to the whole group must not, with a letter in hand. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    Zygote zygote = { map(GATE_LETTER_MAX), map(MIME_ANSWER_MAX), 0 };
    if (zygote.letter == NULL || zygote.answer == NULL || !mime_lock_zygote())
        _exit(2);
    warm_up();
    MimeRequest request;
    while (read_all(REQUEST_FD, &request, sizeof request) == 1 && request.size <= GATE_LETTER_MAX &&
           (request.size == 0 || read_all(REQUEST_FD, zygote.letter, request.size) == 1)) {
        MimeFate fate = read_in_child(&zygote, request.size);
        if (!write_all(ANSWER_FD, &fate, sizeof fate) || !write_all(ANSWER_FD, zygote.answer, fate.size))
            break;
        explicit_bzero(zygote.letter, request.size);
        explicit_bzero(zygote.answer, zygote.answered);
        zygote.answered = 0;
    }
    _exit(0); /* no exit handlers: the leak checker has nothing to look for here */
}
