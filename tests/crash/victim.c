/* victim: a stand-in for the daemon, so that faultrun can be tested without it. It has the daemon's shape: a zygote
 * that is this program executed again with an empty environment, one locked child per letter, and lines written and
 * synced one by one.
 *
 *     victim CONFIGURATION OUT COUNT    writes COUNT lines to OUT; exits 0, or 75 if a write or sync failed
 *     victim --orphan SECONDS           leaves a child behind that sleeps */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void child_run(int to) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EACCES));
    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 0);
    seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(exit_group), 0);
    if (seccomp_load(filter))
        _exit(3);
    bool locked = open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES;
    if (write(to, locked ? "letter\n" : "LOOSE!\n", 7) != 7)
        _exit(4);
    _exit(0);
}

static int zygote_run(void) {
    char byte;
    while (read(0, &byte, 1) == 1) {
        pid_t child = fork();
        if (!child)
            child_run(1);
        int status;
        waitpid(child, &status, 0);
        if (status && write(1, "dead..\n", 7) != 7)
            return 1;
    }
    return 0;
}

static pid_t zygote_start(int *ret_to, int *ret_from) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        exit(1);
    pid_t pid = fork();
    if (!pid) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        char *arguments[] = {(char[]){"victim-zygote"}, NULL}, *environment[] = {NULL};
        execve("/proc/self/exe", arguments, environment);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    *ret_to = to[1];
    *ret_from = from[0];
    return pid;
}

int main(int count, char **words) {
    if (!strcmp(words[0], "victim-zygote"))
        return zygote_run();
    if (count == 3 && !strcmp(words[1], "--orphan")) {
        if (!fork())
            sleep((unsigned)strtoul(words[2], NULL, 10));
        return 0;
    }
    if (count != 4)
        return 2;
    int to, from;
    pid_t zygote = zygote_start(&to, &from);
    int configuration = open(words[1], O_RDONLY);
    int out = open(words[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (configuration < 0 || out < 0)
        return 75;
    int result = 0;
    for (long i = strtol(words[3], NULL, 10); i > 0; i--) {
        char line[8];
        if (write(to, "x", 1) != 1 || read(from, line, 7) != 7) {
            result = 74;
            break;
        }
        if (write(out, line, 7) != 7 || fsync(out)) {
            result = 75;
            break;
        }
    }
    close(to);
    waitpid(zygote, NULL, 0);
    return result;
}
