/* The daemon's side: starts the zygote, hands it letters, and believes nothing that comes back. */
#include "daemon/inbox/mime_wire.h"

#include "core/base/utf8.h"
#include "daemon/machine_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* More than the zygote's own patience with a child, so that a slow child is the zygote's finding. */
    READER_MS = (MIME_SECONDS + 3) * 1000,
};

struct MimeReader {
    pid_t zygote; /* 0: none is running */
    int to, from;
    char *answer; /* MIME_ANSWER_MAX bytes */
};

/* In the forked child: takes the two pipe ends to 0 and 1, everything else goes. */
static _Noreturn void become_zygote(int request, int answer) {
    char *const arguments[] = { (char[]){ MIME_ZYGOTE_NAME }, NULL };
    char *const environment[] = { NULL };
    /* Above 2 first: an end may itself be 0 or 1, if the daemon was started without standard descriptors. */
    request = fcntl(request, F_DUPFD, 3);
    answer = fcntl(answer, F_DUPFD, 3);
    int null = open("/dev/null", O_RDWR);
    if (request < 0 || answer < 0 || null < 0 || dup2(request, 0) < 0 || dup2(answer, 1) < 0 || dup2(null, 2) < 0)
        _exit(2);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_range(3, ~0U, 0);
    execve("/proc/self/exe", arguments, environment);
    _exit(2);
}

static void close_both(const int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

static int zygote_start(MimeReader *reader, Error *error) {
    int request[2], answer[2];
    if (pipe2(request, O_CLOEXEC) < 0)
        return error_set(error, ERROR_LATER, errno, "no pipe for the MIME process: %s", strerror(errno));
    if (pipe2(answer, O_CLOEXEC) < 0) {
        error_set(error, ERROR_LATER, errno, "no pipe for the MIME process: %s", strerror(errno));
        close_both(request);
        return -1;
    }
    pid_t zygote = fork();
    if (zygote == 0)
        become_zygote(request[0], answer[1]);
    if (zygote < 0) {
        error_set(error, ERROR_LATER, errno, "the MIME process cannot be started: %s", strerror(errno));
        close_both(request);
        close_both(answer);
        return -1;
    }
    close(request[0]);
    close(answer[1]);
    fcntl(request[1], F_SETFL, O_NONBLOCK);
    fcntl(answer[0], F_SETFL, O_NONBLOCK);
    reader->zygote = zygote;
    reader->to = request[1];
    reader->from = answer[0];
    return 0;
}

static void zygote_end(MimeReader *reader) {
    if (reader->zygote == 0)
        return;
    close(reader->to);
    close(reader->from);
    kill(reader->zygote, SIGKILL); /* its child, if there is one, follows by PR_SET_PDEATHSIG */
    while (waitpid(reader->zygote, NULL, 0) < 0 && errno == EINTR)
        continue;
    reader->zygote = 0;
}

MimeReader *mime_reader_start(Error *error) {
    MimeReader *reader = calloc(1, sizeof *reader);
    char *answer = malloc(MIME_ANSWER_MAX);
    if (reader == NULL || answer == NULL) {
        free(reader);
        free(answer);
        error_set(error, ERROR_LATER, ENOMEM, "no memory for the MIME process");
        return NULL;
    }
    reader->answer = answer;
    if (zygote_start(reader, error) == 0)
        return reader;
    mime_reader_stop(reader);
    return NULL;
}

void mime_reader_stop(MimeReader *reader) {
    if (reader == NULL)
        return;
    zygote_end(reader);
    free(reader->answer);
    free(reader);
}

/* Moves `size` bytes in or out before the deadline. False: the zygote is gone or hangs. */
static bool move_bytes(int descriptor, bool out, char *bytes, size_t size, int64_t deadline) {
    for (size_t done = 0; done < size;) {
        ssize_t moved = out ? write(descriptor, bytes + done, size - done) : read(descriptor, bytes + done, size - done);
        if (moved > 0) {
            done += (size_t)moved;
            continue;
        }
        if (moved == 0 || (errno != EAGAIN && errno != EINTR))
            return false;
        int64_t left = deadline - machine_milliseconds();
        if (left <= 0)
            return false;
        struct pollfd wait = { .fd = descriptor, .events = out ? POLLOUT : POLLIN };
        poll(&wait, 1, (int)left);
    }
    return true;
}

/* One letter through the zygote; false: it did not behave and must be ended. */
static bool exchange(MimeReader *reader, const char *raw, size_t size, MimeFate *ret_fate) {
    int64_t deadline = machine_milliseconds() + READER_MS;
    MimeRequest request = { (uint32_t)size };
    if (!move_bytes(reader->to, true, (char *)&request, sizeof request, deadline))
        return false;
    union { const char *constant; char *plain; } letter = { raw }; /* written from, not to */
    if (!move_bytes(reader->to, true, letter.plain, size, deadline))
        return false;
    MimeFate fate;
    if (!move_bytes(reader->from, false, (char *)&fate, sizeof fate, deadline))
        return false;
    if (fate.size > MIME_ANSWER_MAX || !move_bytes(reader->from, false, reader->answer, fate.size, deadline))
        return false;
    *ret_fate = fate;
    return true;
}

/* Clean UTF-8 lines, as mime_read() promises them. */
static bool text_clean(const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        uint32_t point;
        int size = utf8_next(text + at, length - at, &point);
        if (size == 0 || (point < ' ' && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0))
            return false;
        at += (size_t)size;
    }
    return true;
}

/* The child's answer, all of it untrusted. False: no answer that a child of ours gives. */
static bool answer_read(Arena *arena, const char *bytes, size_t size, MimeResult *ret_result) {
    MimeAnswer answer;
    if (size < sizeof answer)
        return false;
    memcpy(&answer, bytes, sizeof answer);
    if (answer.kind > MIME_UNREADABLE || answer.cut > 1 || answer.text > MIME_TEXT_MAX || answer.report > MIME_REPORT_MAX ||
        answer.why > MIME_WHY_MAX || sizeof answer + answer.text + answer.report + answer.why != size)
        return false;
    const char *text = bytes + sizeof answer, *report = text + answer.text, *why = report + answer.report;
    if (!text_clean(text, answer.text) || !text_clean(report, answer.report) || !text_clean(why, answer.why) ||
        memchr(why, '\n', answer.why) != NULL)
        return false;
    *ret_result = (MimeResult){
        .kind = (MimeKind)answer.kind,
        .text = arena_copy(arena, text, answer.text),
        .report = arena_copy(arena, report, answer.report),
        .cut = answer.cut == 1,
        .why = arena_copy(arena, why, answer.why),
    };
    return true;
}

static MimeResult unreadable(const char *why) {
    return (MimeResult){ .kind = MIME_UNREADABLE, .text = "", .report = "", .why = why };
}

static const char *why_of(Arena *arena, const MimeFate *fate) {
    if (fate->kind == MIME_FATE_SLOW)
        return "reading it took too long";
    if (fate->kind == MIME_FATE_ANSWERED)
        return "the process that read it gave no sensible answer";
    const char *name = fate->signal > 0 ? sigabbrev_np((int)fate->signal) : NULL;
    const char *why = name != NULL ? arena_printf(arena, "the process that read it died (SIG%s)", name) : NULL;
    return why != NULL ? why : "the process that read it died";
}

int mime_reader_read(MimeReader *reader, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error) {
    MimeResult result = unreadable("");
    if (!gate_pass(raw, size, &result.why)) { /* costs 1 % of a child, and saves two of them */
        *ret_result = result;
        return 0;
    }
    int restarts = 0, deaths = 0;
    while (deaths < 2) {
        if (reader->zygote == 0 && zygote_start(reader, error) < 0)
            return -1;
        MimeFate fate;
        if (!exchange(reader, raw, size, &fate)) {
            zygote_end(reader);
            if (++restarts > 1)
                return error_set(error, ERROR_LATER, MIME_PROCESS_DIED, "the MIME process ended twice by itself; the letter waits");
            continue;
        }
        if (fate.kind == MIME_FATE_NO_CHILD)
            return error_set(error, ERROR_LATER, 0, "the MIME process cannot fork; the letter waits");
        if (fate.kind == MIME_FATE_ANSWERED && answer_read(arena, reader->answer, fate.size, &result)) {
            if (arena->exhausted)
                return error_set(error, ERROR_LATER, ENOMEM, "no memory for a letter's text");
            *ret_result = result;
            return 0;
        }
        result = unreadable(why_of(arena, &fate));
        deaths++;
    }
    *ret_result = result;
    return 0;
}
