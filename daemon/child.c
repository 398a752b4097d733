#include "daemon/child.h"

#include "core/base/str.h"
#include "daemon/machine_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXEC_FAILED = 127,
    EXTRA_MAX = 8, /* descriptors of the caller */
};

/* ---- finding it ---- */

static bool may_run(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    if (S_ISREG(status.st_mode))
        return access(path, X_OK) == 0;
    errno = EACCES;
    return false;
}

bool child_find(const char *name, char ret_path[PATH_MAX]) {
    static const char *const folders[] = { "/usr/local/bin", "/usr/bin", "/bin" };
    errno = ENAMETOOLONG;
    if (strchr(name, '/') != NULL)
        return text_copy(ret_path, PATH_MAX, name) && may_run(ret_path);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (snprintf(ret_path, PATH_MAX, "%s/%s", folders[i], name) < PATH_MAX && may_run(ret_path))
            return true;
    errno = ENOENT;
    return false;
}

typedef struct Environment {
    char home[PATH_MAX], user[300], logname[300], lang[100];
    char *list[6];
} Environment;

static void environment_fill(Environment *ret) {
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    const struct passwd *me = getpwuid(geteuid());
    const char *home = getenv("HOME"), *user = getenv("USER"), *lang = getenv("LANG");
    snprintf(ret->home, sizeof ret->home, "HOME=%s", home != NULL ? home : me != NULL ? me->pw_dir : "/");
    snprintf(ret->user, sizeof ret->user, "USER=%s", user != NULL ? user : me != NULL ? me->pw_name : "");
    snprintf(ret->logname, sizeof ret->logname, "LOGNAME=%s", user != NULL ? user : me != NULL ? me->pw_name : "");
    snprintf(ret->lang, sizeof ret->lang, "LANG=%s", lang != NULL ? lang : "C.UTF-8");
    char *list[] = { path, ret->home, ret->user, ret->logname, ret->lang, NULL };
    memcpy(ret->list, list, sizeof list);
}

/* ---- starting it ---- */

typedef struct Pipes { /* [0] is read from, [1] written to; -1: none */
    int output[2], input[2], start[2];
} Pipes;

static void close_one(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

static void pipes_close(Pipes *pipes) {
    for (int i = 0; i < 2; i++) {
        close_one(&pipes->output[i]);
        close_one(&pipes->input[i]);
        close_one(&pipes->start[i]);
    }
}

/* Between fork and execve: system calls alone. */
__attribute__((noreturn)) static void run(const ChildPlan *plan, char *const *environment, const Pipes *pipes) {
    setpgid(0, 0);
    /* What the service ignores or blocks (SIGPIPE), a program must not inherit. */
    struct sigaction usual = { .sa_handler = SIG_DFL };
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &usual, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int input = plan->input != NULL ? pipes->input[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* Out of the way of 0 to 3 first, then `start` is 3 and all behind it is closed. */
    input = fcntl(input, F_DUPFD_CLOEXEC, 10);
    int output = fcntl(pipes->output[1], F_DUPFD_CLOEXEC, 10), start = fcntl(pipes->start[1], F_DUPFD_CLOEXEC, 10);
    bool well = input >= 0 && output >= 0 && start >= 0 && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0;
    if (well && plan->errors_too)
        well = dup2(output, STDERR_FILENO) >= 0;
    if (well && dup3(start, STDERR_FILENO + 1, O_CLOEXEC) >= 0) {
        start = STDERR_FILENO + 1;
        close_range(STDERR_FILENO + 2, UINT_MAX, 0);
        execve(plan->path, plan->words, environment);
    }
    int code = errno;
    ssize_t written = write(start, &code, sizeof code);
    _exit(written == sizeof code ? EXEC_FAILED : 1);
}

static void kill_group(const Child *child) {
    if (kill(-child->id, SIGKILL) != 0)
        kill(child->id, SIGKILL); /* it had not come to setpgid() yet */
}

static bool adopt(Child *child, Pipes *pipes) {
    setpgid(child->id, child->id); /* whoever of the two comes first */
    child->handle = pidfd_open(child->id, 0);
    if (child->handle < 0) {
        int code = errno;
        kill_group(child);
        waitpid(child->id, NULL, 0);
        errno = code;
        return false;
    }
    int *kept[] = { &pipes->output[0], &pipes->input[1], &pipes->start[0] }, *to[] = { &child->output, &child->input, &child->start };
    for (int i = 0; i < 3; i++) {
        *to[i] = *kept[i];
        *kept[i] = -1;
        if (*to[i] >= 0)
            fcntl(*to[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

int child_start(const ChildPlan *plan, Child *ret_child) {
    Pipes pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
    Environment environment;
    environment_fill(&environment);
    Child child = { .id = -1, .handle = -1, .output = -1, .input = -1, .start = -1, .plan = *plan };
    child.deadline = machine_milliseconds() + (int64_t)plan->seconds * 1000;
    bool piped = pipe2(pipes.output, O_CLOEXEC) == 0 && pipe2(pipes.start, O_CLOEXEC) == 0 && (plan->input == NULL || pipe2(pipes.input, O_CLOEXEC) == 0);
    if (piped)
        child.id = fork();
    if (child.id == 0)
        run(plan, environment.list, &pipes);
    bool started = child.id > 0 && adopt(&child, &pipes);
    int code = errno;
    pipes_close(&pipes);
    errno = code;
    if (!started)
        return -1;
    *ret_child = child;
    return 0;
}

/* ---- watching it ---- */

/* Reads what lies in the pipe; what there is no room for is read and dropped, so that the child does not wait for us. */
static void drain(Child *child) {
    char spare[4096];
    for (;;) {
        size_t room = child->plan.taken_size - child->length;
        ssize_t count = read(child->output, room > 0 ? child->plan.taken + child->length : spare, room > 0 ? room : sizeof spare);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (count <= 0) {
            close_one(&child->output);
            return;
        }
        child->length += room > 0 ? (size_t)count : 0;
    }
}

static void feed(Child *child) {
    while (child->written < child->plan.input_length) {
        ssize_t count = write(child->input, child->plan.input + child->written, child->plan.input_length - child->written);
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (count < 0)
            break; /* it reads no more */
        child->written += (size_t)count;
    }
    close_one(&child->input);
}

bool child_watch(Child *child, struct pollfd *extra, size_t extra_count, int milliseconds) {
    struct pollfd watched[3 + EXTRA_MAX];
    size_t count = extra_count < EXTRA_MAX ? extra_count : EXTRA_MAX;
    int64_t until = machine_milliseconds() + milliseconds;
    for (size_t i = 0; i < count; i++)
        extra[i].revents = 0;
    for (;;) {
        int64_t now = machine_milliseconds();
        if (child->ended || child->late)
            return true;
        if (now >= child->deadline) {
            child->late = true;
            return true;
        }
        if (child->input >= 0)
            feed(child);
        watched[0] = (struct pollfd){ .fd = child->handle, .events = POLLIN };
        watched[1] = (struct pollfd){ .fd = child->output, .events = POLLIN };
        watched[2] = (struct pollfd){ .fd = child->input, .events = POLLOUT };
        for (size_t i = 0; i < count; i++)
            watched[3 + i] = extra[i];
        int64_t wait = (until < child->deadline ? until : child->deadline) - now;
        int ready = poll(watched, 3 + count, wait > 0 ? (int)wait : 0);
        if (child->output >= 0 && watched[1].revents != 0)
            drain(child);
        if (ready > 0 && watched[0].revents != 0) {
            if (child->output >= 0)
                drain(child); /* its last words */
            child->ended = true;
        }
        bool told = false;
        for (size_t i = 0; i < count; i++) {
            extra[i].revents = watched[3 + i].revents;
            told = told || extra[i].revents != 0;
        }
        if (!child->ended && (told || machine_milliseconds() >= until))
            return false;
    }
}

ChildEnd child_finish(Child *child, int *ret_value) {
    int status = 0, code = 0;
    ChildEnd end = CHILD_TOO_SLOW;
    *ret_value = 0;
    if (!child->ended)
        kill_group(child);
    while (waitpid(child->id, &status, 0) < 0 && errno == EINTR)
        continue;
    if (read(child->start, &code, sizeof code) == sizeof code) {
        end = CHILD_NOT_RUN;
        *ret_value = code;
    } else if (child->ended) {
        end = WIFSIGNALED(status) ? CHILD_SIGNALLED : CHILD_EXITED;
        *ret_value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    }
    close_one(&child->handle);
    close_one(&child->output);
    close_one(&child->input);
    close_one(&child->start);
    return end;
}
