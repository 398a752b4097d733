/* faultrun: runs a program under ptrace, counts its system calls process by process, and at a named one kills the
 * process or lets the call fail (RULINGS 52). Linux on x86-64 and aarch64, kernel 5.3 or later.
 *
 *     faultrun [--output FILE] --count [--own-from PATH]                    -- PROGRAM ARGUMENTS…
 *     faultrun [--output FILE] --list  [--own-from PATH]                    -- PROGRAM ARGUMENTS…
 *     faultrun [--output FILE] --process K --at N --kill [--look COMMAND]   -- PROGRAM ARGUMENTS…
 *     faultrun [--output FILE] --process K --at N --error E [--only A,B,…] [--lasting] -- PROGRAM ARGUMENTS…
 *
 * Processes are numbered from 0 in the order of their birth; threads count with their process. A process's calls are numbered from 1: the program's
 * from the first one after its execve, a child's from its first after the fork (a later execve goes on counting).
 * A call is the program's own when it comes from outside the dynamic loader, or, with --own-from, from the opening
 * of that file on in a process that opens it at all.
 *
 * --count   a line per process: "process=K count=N own=M name=COMM"; own: number of the first own call, 0 if there was none
 * --list    a line per call: "K N NAME [PATH]", PATH being the file named, or the one behind the descriptor
 * --kill    SIGKILL at the entry of the call, which is not executed. Processes left behind must end by themselves.
 * --look    a shell command that is run just before the kill, while the process stands still
 * --error   the call is not executed and fails with E (a name: ENOSPC, EIO, EINTR …), if it is one of --only (default: what
 *           writes, syncs, opens, renames and removes files). --lasting: so does every later call of --only in that process.
 * --call    only calls of this name are counted for --at; --path: only those whose file begins with PATH. A call named so stays the
 *           same one however often the program waits before it.
 * --timeout seconds for the whole run (default 60)
 *
 * What happened goes to FILE (default: standard error), the last line being "end: …". Exit status: the program's own (128 + signal if
 * one killed it), or one of those below. A child killed as asked leaves the exit status to the program. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    STATUS_KILLED = 200,  /* process 0 was killed as asked */
    STATUS_NEVER = 201,   /* call N of process K never came */
    STATUS_OTHER = 202,   /* it came, but is none of --only: nothing was done to it */
    STATUS_ORPHAN = 203,  /* a process was still there two seconds after process 0 had ended */
    STATUS_TROUBLE = 204, /* faultrun's own: usage, ptrace refused, timeout */
    ORPHAN_MILLISECONDS = 2000,
    TICK_MILLISECONDS = 50, /* how often waiting looks at the time */
    PROCESSES_MAX = 20000,  /* a sweep's run has a handful; more is a fork bomb */
    SYSCALLS_MAX = 1024,    /* numbers looked up by name once */
    PATH_SHOWN_MAX = 512,
};

typedef struct Process {
    pid_t pid;
    int number; /* in the order of birth */
    bool alive;
    bool begun; /* the parent's event was seen, so it has its number */
    bool waiting; /* its first stop came before the parent's event */
    bool pending_error; /* its call was suppressed; the exit stop sets the result */
    bool opened_own;    /* --own-from's file was opened */
    uint64_t count, own;
    uint64_t counted; /* of its calls, those that --call and --path count */
    char name[32];
} Process;

typedef struct Thread {
    pid_t tid;
    Process *process;
} Thread;

static enum { MODE_NONE, MODE_COUNT, MODE_LIST, MODE_KILL, MODE_ERROR } mode;
static int target_process = -1;
static uint64_t target_call;
static int target_errno;
static bool lasting;
static const char *own_from, *look, *counted_call, *counted_path;
static const char *only = "write,pwrite64,writev,pwritev,pwritev2,fsync,fdatasync,ftruncate,truncate,fallocate,open,openat,"
                          "creat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,mkdir,mkdirat,sync_file_range";
static FILE *output;

static Process processes[PROCESSES_MAX];
static size_t process_count;
static int next_number;
static Thread *threads; /* only those that are not the first of their process */
static size_t thread_count;
static bool reached, done, other;

static const char *call_names[SYSCALLS_MAX];
static int8_t call_only[SYSCALLS_MAX]; /* 0 not looked up, 1 yes, 2 no */

static int64_t now_milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void kill_all(void) {
    for (size_t i = 0; i < process_count; i++)
        if (processes[i].alive)
            kill(processes[i].pid, SIGKILL);
}

static _Noreturn __attribute__((format(printf, 1, 2))) void trouble(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("faultrun: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    kill_all();
    exit(STATUS_TROUBLE);
}

static const char *call_name(uint64_t number) {
    if (number >= SYSCALLS_MAX)
        return "unknown";
    if (!call_names[number])
        call_names[number] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
    return call_names[number] ? call_names[number] : "unknown";
}

static bool in_list(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

static bool is_only(uint64_t number) {
    if (number >= SYSCALLS_MAX)
        return false;
    if (!call_only[number])
        call_only[number] = in_list(only, call_name(number)) ? 1 : 2;
    return call_only[number] == 1;
}

static bool read_string(pid_t pid, uint64_t address, char *ret, size_t size) {
    struct iovec local = {ret, size - 1}, remote = {(void *)(uintptr_t)address, size - 1};
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got <= 0) { /* the string may end just before an unmapped page */
        size_t rest = 4096 - address % 4096;
        local.iov_len = remote.iov_len = rest < size - 1 ? rest : size - 1;
        got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    }
    if (got <= 0)
        return false;
    ret[got] = 0;
    return true;
}

/* The argument (0–5) that names a file: positive + 1 for a path, negative - 1 for a descriptor, 0 for none. */
static int file_argument(const char *name) {
    static const char by_descriptor[] =
        "read,write,pread64,pwrite64,readv,writev,preadv,pwritev,fsync,fdatasync,ftruncate,fallocate,fstat,lseek,close,"
        "fcntl,flock,getdents64,fchmod,fchown,sendto,recvfrom,sendmsg,recvmsg,ioctl,dup,sync_file_range,fstatfs";
    static const char by_path[] = "open,creat,stat,lstat,access,unlink,rename,mkdir,rmdir,link,chmod,chown,execve,readlink,truncate,statfs";
    static const char by_second[] = "openat,newfstatat,unlinkat,renameat,renameat2,mkdirat,linkat,readlinkat,faccessat,faccessat2,statx,fchmodat";
    if (in_list(by_descriptor, name))
        return -1;
    if (in_list(by_path, name))
        return 1;
    if (in_list(by_second, name))
        return 2;
    return 0;
}

static void file_of_call(pid_t pid, const char *name, const __uint64_t arguments[6], char ret[PATH_SHOWN_MAX]) {
    ret[0] = 0;
    int which = file_argument(name);
    if (which > 0) {
        if (!read_string(pid, arguments[which - 1], ret, PATH_SHOWN_MAX))
            ret[0] = 0;
    } else if (which < 0) {
        char link[64];
        snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, (int)arguments[0]);
        ssize_t length = readlink(link, ret, PATH_SHOWN_MAX - 1);
        ret[length > 0 ? length : 0] = 0;
    }
    for (char *byte = ret; *byte; byte++)
        if (*byte == '\n')
            *byte = '?';
}

static bool is_counted(pid_t tid, const char *name, const __uint64_t arguments[6]) {
    if (counted_call && strcmp(counted_call, name))
        return false;
    if (!counted_path)
        return true;
    char path[PATH_SHOWN_MAX];
    file_of_call(tid, name, arguments, path);
    return !strncmp(path, counted_path, strlen(counted_path));
}

/* Whether the instruction lies in the dynamic loader. */
static bool in_loader(pid_t pid, uint64_t instruction) {
    char path[64], line[PATH_SHOWN_MAX];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, maps)) {
        char *end;
        uint64_t from = strtoull(line, &end, 16);
        uint64_t to = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
        if (instruction < from || instruction >= to)
            continue;
        found = strstr(line, "/ld-linux") || strstr(line, "/ld-2") || strstr(line, "/ld.so");
        break;
    }
    fclose(maps);
    return found;
}

/* -1 in place of the call's number: the kernel skips it. */
static void suppress_call(pid_t pid) {
#if defined(__x86_64__)
    if (ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L))
        trouble("cannot suppress a call of %d: %s", pid, strerror(errno));
#elif defined(__aarch64__)
    int none = -1;
    struct iovec set = {&none, sizeof none};
    if (ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &set))
        trouble("cannot suppress a call of %d: %s", pid, strerror(errno));
#else
#error "faultrun knows x86-64 and aarch64"
#endif
}

static void set_result(pid_t pid, long result) {
#if defined(__x86_64__)
    if (ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), result))
        trouble("cannot set a result of %d: %s", pid, strerror(errno));
#else
    struct user_regs_struct registers;
    struct iovec set = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &set))
        trouble("cannot set a result of %d: %s", pid, strerror(errno));
    registers.regs[0] = (uint64_t)result;
    if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &set))
        trouble("cannot set a result of %d: %s", pid, strerror(errno));
#endif
}

static Process *process_of_pid(pid_t pid) {
    for (size_t i = process_count; i-- > 0;) /* the youngest first: a pid may come again */
        if (processes[i].pid == pid && (processes[i].alive || !processes[i].begun))
            return &processes[i];
    for (size_t i = thread_count; i-- > 0;)
        if (threads[i].tid == pid)
            return threads[i].process;
    return NULL;
}

static Process *process_add(pid_t pid) {
    if (process_count == PROCESSES_MAX)
        trouble("more than %d processes", PROCESSES_MAX);
    Process *process = &processes[process_count++];
    *process = (Process){.pid = pid, .alive = true, .number = -1};
    return process;
}

static pid_t thread_group(pid_t tid) {
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    FILE *file = fopen(path, "re");
    pid_t group = tid;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "Tgid:", 5))
            group = (pid_t)strtol(line + 5, NULL, 10);
    if (file)
        fclose(file);
    return group;
}

static void thread_add(pid_t tid, Process *process) {
    Thread *grown = realloc(threads, (thread_count + 1) * sizeof *threads);
    if (!grown)
        trouble("no memory");
    threads = grown;
    threads[thread_count++] = (Thread){tid, process};
}

static void read_name(Process *process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", process->pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    if (fgets(process->name, sizeof process->name, file))
        process->name[strcspn(process->name, "\n")] = 0;
    fclose(file);
}

/* Whether the process's calls are still of interest: the others run without stops. */
static bool watched(const Process *process) {
    if (mode == MODE_COUNT || mode == MODE_LIST)
        return true;
    if (process->pending_error)
        return true;
    return process->number == target_process && (!done || lasting);
}

static void resume(pid_t tid, const Process *process, int signal) {
    /* ESRCH: killed meanwhile; its end will be told by waitpid */
    if (ptrace(watched(process) ? PTRACE_SYSCALL : PTRACE_CONT, tid, 0L, (long)signal) && errno != ESRCH)
        trouble("cannot resume %d: %s", tid, strerror(errno));
}

static void process_begin(Process *process) {
    process->begun = true;
    process->number = next_number++;
    read_name(process);
    if (process->waiting) {
        process->waiting = false;
        resume(process->pid, process, 0);
    }
}

static void note_own(pid_t tid, Process *process, const struct __ptrace_syscall_info *info) {
    if (own_from && !process->opened_own) {
        const char *name = call_name(info->entry.nr);
        int which = !strcmp(name, "openat") ? 1 : !strcmp(name, "open") ? 0 : -1;
        char path[PATH_SHOWN_MAX];
        if (which >= 0 && read_string(tid, info->entry.args[which], path, sizeof path) && !strcmp(path, own_from)) {
            process->opened_own = true;
            process->own = process->count;
            return;
        }
    }
    if (!process->own && !in_loader(tid, info->instruction_pointer))
        process->own = process->count;
}

static void call_entered(pid_t tid, Process *process, const struct __ptrace_syscall_info *info) {
    process->count++;
    const char *name = call_name(info->entry.nr);
    char path[PATH_SHOWN_MAX];
    switch (mode) {
    case MODE_COUNT:
        note_own(tid, process, info);
        return;
    case MODE_LIST:
        note_own(tid, process, info);
        file_of_call(tid, name, info->entry.args, path);
        fprintf(output, "%d %llu %s %s\n", process->number, (unsigned long long)process->count, name, path);
        return;
    default:
        break;
    }
    if (process->number != target_process || (done && !lasting))
        return;
    process->counted += is_counted(tid, name, info->entry.args);
    if (process->counted < target_call)
        return;
    bool first = process->counted == target_call && !reached;
    reached = true;
    if (mode == MODE_KILL) {
        file_of_call(tid, name, info->entry.args, path);
        fprintf(output, "killed: %d %llu %s %s\n", process->number, (unsigned long long)process->count, name, path);
        if (look && system(look)) /* the others run on to their next wait for this one */
            trouble("--look failed: %s", look);
        suppress_call(tid);
        kill(process->pid, SIGKILL);
        done = true;
        return;
    }
    if (!is_only(info->entry.nr)) {
        if (first) {
            other = true;
            fprintf(output, "other: %d %llu %s\n", process->number, (unsigned long long)process->count, name);
            done = !lasting;
        }
        return;
    }
    if (first || !done) {
        file_of_call(tid, name, info->entry.args, path);
        fprintf(output, "failed: %d %llu %s %s\n", process->number, (unsigned long long)process->count, name, path);
    }
    other = false;
    suppress_call(tid);
    process->pending_error = true;
    done = true;
}

static void call_stop(pid_t tid, Process *process) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) < 0) {
        if (errno == ESRCH)
            return;
        trouble("PTRACE_GET_SYSCALL_INFO: %s", strerror(errno));
    }
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        call_entered(tid, process, &info);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && process->pending_error) {
        process->pending_error = false;
        set_result(tid, -target_errno);
    }
}

/* A new process or thread, told by its parent's stop. */
static void born(pid_t child) {
    Process *process = process_of_pid(child);
    if (process && process->begun)
        return;
    pid_t group = thread_group(child);
    if (group != child) {
        Process *owner = process_of_pid(group);
        if (!owner)
            return;
        thread_add(child, owner);
        if (process) { /* its stop came first, and it was taken for a process */
            process->alive = false;
            process->begun = true;
            process->pid = 0;
            resume(child, owner, 0);
        }
        return;
    }
    process_begin(process ? process : process_add(child));
}

static void stopped(pid_t tid, int status) {
    int signal = WSTOPSIG(status), event = status >> 16;
    Process *process = process_of_pid(tid);
    if (!process) { /* the child's first stop, before the parent's event */
        process = process_add(tid);
        process->waiting = true;
        return;
    }
    if (signal == (SIGTRAP | 0x80)) {
        call_stop(tid, process);
        signal = 0;
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        unsigned long child = 0;
        if (!ptrace(PTRACE_GETEVENTMSG, tid, 0L, &child))
            born((pid_t)child);
        signal = 0;
    } else if (event == PTRACE_EVENT_EXEC) {
        if (process->begun)
            process->own = 0; /* a new loader is at work */
        else
            process_begin(process); /* process 0: counted from here on */
        process->opened_own = false;
        read_name(process);
        signal = 0;
    } else if (event == PTRACE_EVENT_STOP) {
        if (signal != SIGTRAP) { /* a real stop of the whole process: leave it stopped */
            ptrace(PTRACE_LISTEN, tid, 0L, 0L);
            return;
        }
        signal = 0;
    } else if (event) {
        signal = 0;
    }
    resume(tid, process, signal);
}

static size_t alive_count(void) {
    size_t count = 0;
    for (size_t i = 0; i < process_count; i++)
        count += processes[i].alive;
    return count;
}

static void tick(int signal) {
    (void)signal;
}

static pid_t start_program(char **arguments) {
    int barrier[2];
    if (pipe2(barrier, O_CLOEXEC))
        trouble("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        trouble("fork: %s", strerror(errno));
    if (!pid) {
        char byte;
        close(barrier[1]);
        if (read(barrier[0], &byte, 1) != 1)
            _exit(STATUS_TROUBLE);
        execvp(arguments[0], arguments);
        fprintf(stderr, "faultrun: cannot run %s: %s\n", arguments[0], strerror(errno));
        _exit(STATUS_TROUBLE);
    }
    close(barrier[0]);
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, pid, 0L, options)) {
        int why = errno;
        kill(pid, SIGKILL);
        trouble("ptrace is refused: %s", strerror(why));
    }
    process_add(pid);
    if (write(barrier[1], "", 1) != 1)
        trouble("pipe: %s", strerror(errno));
    close(barrier[1]);
    return pid;
}

/* Runs everything to its end. Returns process 0's wait status; *ret_orphans counts processes that had to be killed. */
static int run(pid_t program, int timeout_seconds, size_t *ret_orphans) {
    int program_status = 0;
    int64_t deadline = now_milliseconds() + timeout_seconds * 1000LL;
    bool program_ended = false, killing = false;
    *ret_orphans = 0;
    while (alive_count()) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno == ECHILD)
            break;
        if (now_milliseconds() > deadline && !killing) {
            if (!program_ended)
                trouble("not done after %d s", timeout_seconds);
            *ret_orphans = alive_count();
            for (size_t i = 0; i < process_count; i++)
                if (processes[i].alive)
                    fprintf(output, "orphan: process=%d pid=%d name=%s\n", processes[i].number, processes[i].pid, processes[i].name);
            kill_all();
            killing = true;
        }
        if (tid < 0)
            continue;
        if (WIFSTOPPED(status)) {
            stopped(tid, status);
            continue;
        }
        Process *process = process_of_pid(tid);
        if (!process || process->pid != tid)
            continue; /* a thread */
        process->alive = false;
        if (tid == program && !program_ended) {
            program_status = status;
            program_ended = true;
            deadline = now_milliseconds() + ORPHAN_MILLISECONDS;
        }
    }
    return program_status;
}

static const struct { const char *name; int number; } errors[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO},     {"EINTR", EINTR},   {"EACCES", EACCES}, {"EAGAIN", EAGAIN},
    {"ENOMEM", ENOMEM}, {"EMFILE", EMFILE}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS},   {"EPIPE", EPIPE}};

static void read_options(int count, char **words, char ***ret_program, int *ret_timeout) {
    int i = 1;
    for (; i < count && strcmp(words[i], "--"); i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(word, "--count")) {
            mode = MODE_COUNT;
        } else if (!strcmp(word, "--list")) {
            mode = MODE_LIST;
        } else if (!strcmp(word, "--kill")) {
            mode = MODE_KILL;
        } else if (!strcmp(word, "--lasting")) {
            lasting = true;
        } else if (!strcmp(word, "--error")) {
            mode = MODE_ERROR;
            for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
                if (!strcmp(errors[e].name, value))
                    target_errno = errors[e].number;
            if (!target_errno)
                trouble("unknown error '%s'", value);
            i++;
        } else if (!strcmp(word, "--process")) {
            target_process = (int)strtol(value, NULL, 10), i++;
        } else if (!strcmp(word, "--at")) {
            target_call = strtoull(value, NULL, 10), i++;
        } else if (!strcmp(word, "--only")) {
            only = value, i++;
        } else if (!strcmp(word, "--call")) {
            counted_call = value, i++;
        } else if (!strcmp(word, "--path")) {
            counted_path = value, i++;
        } else if (!strcmp(word, "--look")) {
            look = value, i++;
        } else if (!strcmp(word, "--own-from")) {
            own_from = value, i++;
        } else if (!strcmp(word, "--timeout")) {
            *ret_timeout = (int)strtol(value, NULL, 10), i++;
        } else if (!strcmp(word, "--output")) {
            output = fopen(value, "we"), i++;
            if (!output)
                trouble("%s: %s", value, strerror(errno));
        } else {
            trouble("unknown option '%s'", word);
        }
    }
    bool pointed = target_process >= 0 && target_call > 0;
    if (i + 1 >= count || mode == MODE_NONE || ((mode == MODE_KILL || mode == MODE_ERROR) && !pointed))
        trouble("usage: faultrun [--output FILE] (--count | --list | --process K --at N (--kill | --error E)) -- PROGRAM …");
    *ret_program = words + i + 1;
}

int main(int count, char **words) {
    char **program;
    int timeout = 60;
    output = stderr;
    read_options(count, words, &program, &timeout);
    struct sigaction action = {.sa_handler = tick};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = {{0, TICK_MILLISECONDS * 1000}, {0, TICK_MILLISECONDS * 1000}};

    pid_t pid = start_program(program);
    setitimer(ITIMER_REAL, &every, NULL);
    size_t orphans;
    int status = run(pid, timeout, &orphans);

    if (mode == MODE_COUNT || mode == MODE_LIST)
        for (size_t i = 0; i < process_count; i++)
            if (processes[i].number >= 0)
                fprintf(output, "process=%d count=%llu own=%llu name=%s\n", processes[i].number,
                        (unsigned long long)processes[i].count, (unsigned long long)processes[i].own, processes[i].name);
    int own = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    int result = own;
    if (orphans)
        result = STATUS_ORPHAN;
    else if (mode == MODE_KILL || mode == MODE_ERROR)
        result = !reached ? STATUS_NEVER : other ? STATUS_OTHER : mode == MODE_KILL && target_process == 0 ? STATUS_KILLED : own;
    fprintf(output, "end: status=%d program=%d orphans=%zu\n", result, own, orphans);
    return result;
}
