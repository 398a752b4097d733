/* Child: another program, run by execve without a shell (RULINGS 50), bounded in time, its words captured.
 *
 * It is the leader of a process group of its own, which is killed as a whole when its time is over. It gets the standard descriptors and no
 * other, usual signal dispositions, and an environment of PATH, HOME, LANG, USER and LOGNAME. A child of its own that it leaves behind (an
 * agent) may hold the pipe open: its end is not waited for. The caller leaves waitpid(-1) alone and ignores SIGPIPE. */
#ifndef EPISTLE_DAEMON_CHILD_H
#define EPISTLE_DAEMON_CHILD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pollfd;

typedef struct ChildPlan {
    const char *path;    /* the program's file */
    char *const *words;  /* argv, ends in NULL */
    const char *input;   /* what it reads, kept until the end; NULL: nothing (/dev/null) */
    size_t input_length;
    char *taken;         /* what it prints goes here, as long as there is room */
    size_t taken_size;
    bool errors_too;     /* what it says on standard error too; else that is our own */
    int seconds;         /* it may take */
} ChildPlan;

typedef struct Child {
    pid_t id;
    int handle; /* a pidfd */
    int output, input; /* our ends of the pipes, -1 when they are closed */
    int start;  /* an errno value where it could not be run; closed by its execve */
    int64_t deadline; /* milliseconds of CLOCK_MONOTONIC */
    size_t written, length; /* of input and of taken */
    bool ended, late;
    ChildPlan plan;
} Child;

typedef enum ChildEnd {
    CHILD_EXITED,   /* value: its exit status */
    CHILD_SIGNALLED, /* value: the signal */
    CHILD_TOO_SLOW, /* killed; no value */
    CHILD_NOT_RUN,  /* value: execve's errno */
} ChildEnd;

/* Finds a program: with a slash as it is, else in /usr/local/bin, /usr/bin and /bin. False and errno. */
bool child_find(const char *name, char ret_path[PATH_MAX]);

/* 0, or -1 and errno: there was no process to be had. */
int child_start(const ChildPlan *plan, Child *ret_child);
/* Feeds it and reads what it prints until it has ended or its time is over (true, at once from then on), or until `milliseconds` are over or one of the `extra`
 * descriptors has something to tell (false; their revents are filled). */
bool child_watch(Child *child, struct pollfd *extra, size_t extra_count, int milliseconds);
/* After child_watch() was true, or earlier, which kills it: what became of it; frees everything. length bytes of taken are filled. */
ChildEnd child_finish(Child *child, int *ret_value);

#endif
