#include "daemon/inbox/mime_lock.h"

#include "daemon/inbox/mime.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif

/* The filter as the kernel takes it, translated once: libseccomp needs 0.4 ms for it, a child 0.01 ms to load it. */
static struct sock_fprog filter;

/* What computing needs: memory, the clock (vDSO falls back to it), the end. abort() reports itself by tgkill. */
static const int allowed[] = {
    SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
    SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction),
    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom), SCMP_SYS(restart_syscall),
#if defined(UNDER_ASAN)
    SCMP_SYS(mprotect), SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield), SCMP_SYS(sched_getaffinity), SCMP_SYS(prctl),
    SCMP_SYS(getrlimit), SCMP_SYS(prlimit64), SCMP_SYS(nanosleep), SCMP_SYS(clock_nanosleep),
#endif
};

/* Looking for files: not there for us, and no reason to die. */
static const int denied[] = {
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(newfstatat), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(statx), SCMP_SYS(getcwd),
};

/* mmap may not make memory executable. */
static int allow(scmp_filter_ctx context, int call) {
    if (call == SCMP_SYS(mmap))
        return seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return seccomp_rule_add(context, SCMP_ACT_ALLOW, call, 0);
}

static scmp_filter_ctx filter_describe(void) {
#if defined(UNDER_ASAN)
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(EPERM));
#else
    scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
#endif
    if (context == NULL)
        return NULL;
    int failed = 0;
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        failed |= allow(context, allowed[i]);
    for (size_t i = 0; i < sizeof denied / sizeof denied[0]; i++)
        failed |= seccomp_rule_add(context, SCMP_ACT_ERRNO(EACCES), denied[i], 0);
    failed |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, MIME_CHILD_FD, 0));
    if (failed == 0)
        return context;
    seccomp_release(context);
    return NULL;
}

/* Reads the translated filter back out of a file that exists only in memory (libseccomp 2.5 writes to descriptors only). */
static bool filter_translate(scmp_filter_ctx context) {
    int file = memfd_create("filter", MFD_CLOEXEC);
    if (file < 0)
        return false;
    struct stat status;
    bool done = seccomp_export_bpf(context, file) == 0 && fstat(file, &status) == 0 && status.st_size > 0;
    struct sock_filter *program = done ? malloc((size_t)status.st_size) : NULL;
    done = program != NULL && pread(file, program, (size_t)status.st_size, 0) == status.st_size;
    close(file);
    if (!done) {
        free(program);
        return false;
    }
    filter = (struct sock_fprog){ (unsigned short)((size_t)status.st_size / sizeof *program), program };
    return true;
}

static bool limit(__rlimit_resource_t what, rlim_t most) {
    struct rlimit old, limits = { most, most };
    if (getrlimit(what, &old) == 0 && old.rlim_max < most)
        limits = (struct rlimit){ old.rlim_max, old.rlim_max };
    return setrlimit(what, &limits) == 0;
}

bool mime_lock_zygote(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || !limit(RLIMIT_CORE, 0))
        return false;
    scmp_filter_ctx context = filter_describe();
    if (context == NULL)
        return false;
    bool done = filter_translate(context);
    seccomp_release(context);
    return done;
}

bool mime_lock_child(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#if !defined(UNDER_ASAN)
    if (!limit(RLIMIT_DATA, MIME_DATA_MAX) || !limit(RLIMIT_AS, MIME_SPACE_MAX))
        return false;
#endif
    return limit(RLIMIT_STACK, MIME_STACK_MAX) && limit(RLIMIT_CPU, MIME_SECONDS) && limit(RLIMIT_NOFILE, 0) &&
           limit(RLIMIT_FSIZE, 0) && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}
