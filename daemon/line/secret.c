#include "daemon/line/secret.h"

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
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    COMMAND_MAX = 4096,      /* bytes of a command's words */
    TAKEN_MAX = SECRET_MAX + 3, /* a secret of full length, its line's end, and one more that tells "longer" */
    EXEC_FAILED = 127,
};

static int command_seconds = SECRET_SECONDS; /* the unit test shortens it */

bool secret_is_set(const Secret *secret) {
    return secret->file != NULL || secret->command != NULL || secret->credential != NULL || secret->token != NULL;
}

void secret_free(Str *secret) {
    if (secret->capacity > 0)
        explicit_bzero(secret->data, secret->capacity);
    str_free(secret);
}

static void secret_clear(Str *secret) {
    if (secret->capacity > 0)
        explicit_bzero(secret->data, secret->capacity);
    str_clear(secret);
}

/* The first line of what was read. `what` names where it came from, and nothing of it is told but that. */
static int take_line(const char *taken, size_t length, const char *what, Str *ret_secret, Error *error) {
    const char *end = memchr(taken, '\n', length);
    size_t size = end == NULL ? length : (size_t)(end - taken);
    if (size > 0 && taken[size - 1] == '\r')
        size--;
    if (size == 0)
        return error_set(error, ERROR_INPUT, 0, "%s gave an empty first line: the password or token must stand there", what);
    if (size > SECRET_MAX)
        return error_set(error, ERROR_INPUT, 0, "%s gave a first line of more than %d bytes, which can be no password or token", what, SECRET_MAX);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)taken[i] < 0x20 || taken[i] == 0x7f)
            return error_set(error, ERROR_INPUT, 0, "%s gave a first line with a control character in it, which can be no password or token", what);
    if (!str_append_bytes(ret_secret, taken, size))
        return error_set(error, ERROR_LATER, 0, "no memory for the secret from %s", what);
    return 0;
}

/* ---- from a file ---- */

static int check_file(int descriptor, const char *path, Error *error) {
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return error_set(error, ERROR_INPUT, errno, "cannot read the secret in %s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_INPUT, 0, "the secret in %s cannot be read: that is no ordinary file", path);
    if ((status.st_mode & (S_IROTH | S_IWOTH)) != 0)
        return error_set(error, ERROR_INPUT, 0, "everybody may read or write %s, which holds a secret: use `chmod o= %s`, and change the secret if others could see it", path, path);
    return 0;
}

static int read_file(const char *path, Str *ret_secret, Error *error) {
    /* O_NONBLOCK: opening a FIFO must not wait for a writer */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0)
        return error_set(error, ERROR_INPUT, errno, "cannot read the secret in %s: %s", path, strerror(errno));
    int result = check_file(descriptor, path, error);
    char taken[TAKEN_MAX];
    size_t length = 0;
    ssize_t count = 0;
    while (result == 0 && length < sizeof taken && (count = read(descriptor, taken + length, sizeof taken - length)) != 0) {
        if (count < 0 && errno != EINTR)
            result = error_set(error, ERROR_INPUT, errno, "cannot read the secret in %s: %s", path, strerror(errno));
        length += count > 0 ? (size_t)count : 0;
    }
    close(descriptor);
    if (result == 0)
        result = take_line(taken, length, path, ret_secret, error);
    explicit_bzero(taken, sizeof taken);
    return result;
}

static int read_credential(const char *name, Str *ret_secret, Error *error) {
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    if (*name == 0 || *name == '.' || strchr(name, '/') != NULL)
        return error_set(error, ERROR_INPUT, 0, "\"%s\" is no name of a systemd credential", name);
    if (folder == NULL || *folder == 0)
        return error_set(error, ERROR_INPUT, 0, "there is no systemd credential %s: the service's unit needs LoadCredential=%s:FILE, and only the service itself gets it", name, name);
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return error_set(error, ERROR_INPUT, 0, "the name of the systemd credential %s is too long", name);
    return read_file(path, ret_secret, error);
}

/* ---- from a command ---- */

typedef struct Words {
    char *list[SECRET_WORDS_MAX + 1]; /* ends in NULL */
    size_t count;
    char bytes[COMMAND_MAX];
} Words;

/* One word from *text on, without its quotes, into `target`; its length, or -1 for quotes that stay open and a \ at the end. */
static ssize_t copy_word(const char **text, char *target) {
    const char *at = *text;
    size_t length = 0;
    char quote = 0;
    for (; *at != 0 && (quote != 0 || (*at != ' ' && *at != '\t')); at++) {
        if (quote == 0 && (*at == '"' || *at == '\'')) {
            quote = *at;
        } else if (quote != 0 && *at == quote) {
            quote = 0;
        } else {
            if (*at == '\\' && *++at == 0)
                return -1;
            target[length++] = *at;
        }
    }
    *text = at;
    target[length] = 0;
    return quote == 0 ? (ssize_t)length : -1;
}

static bool divide(const char *command, Words *ret_words) {
    ret_words->count = 0;
    if (strlen(command) >= sizeof ret_words->bytes)
        return false;
    char *target = ret_words->bytes; /* never longer than the command: each word but the last has a blank behind it */
    for (;;) {
        command += strspn(command, " \t");
        if (*command == 0)
            break;
        ssize_t length = ret_words->count < SECRET_WORDS_MAX ? copy_word(&command, target) : -1;
        if (length < 0)
            return false;
        ret_words->list[ret_words->count++] = target;
        target += length + 1;
    }
    ret_words->list[ret_words->count] = NULL;
    return ret_words->count > 0 && *ret_words->list[0] != 0;
}

bool secret_command_good(const char *command) {
    Words words;
    return divide(command, &words);
}

static bool may_run(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Where the program is; false and errno if nowhere. */
static bool find_program(const char *name, char *ret_path, size_t size) {
    static const char *const folders[] = { "/usr/local/bin", "/usr/bin", "/bin" };
    errno = 0;
    if (strchr(name, '/') != NULL) {
        if (text_copy(ret_path, size, name) && may_run(ret_path))
            return true;
        errno = errno == 0 ? EACCES : errno;
        return false;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (snprintf(ret_path, size, "%s/%s", folders[i], name) < (int)size && may_run(ret_path))
            return true;
    errno = ENOENT;
    return false;
}

typedef struct Environment {
    char home[PATH_MAX], user[300], lang[100];
    char *list[5];
} Environment;

static void environment_fill(Environment *ret) {
    static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    const struct passwd *me = getpwuid(geteuid());
    const char *home = getenv("HOME"), *user = getenv("USER"), *lang = getenv("LANG");
    snprintf(ret->home, sizeof ret->home, "HOME=%s", home != NULL ? home : me != NULL ? me->pw_dir : "/");
    snprintf(ret->user, sizeof ret->user, "USER=%s", user != NULL ? user : me != NULL ? me->pw_name : "");
    snprintf(ret->lang, sizeof ret->lang, "LANG=%s", lang != NULL ? lang : "C.UTF-8");
    char *list[] = { path, ret->home, ret->user, ret->lang, NULL };
    memcpy(ret->list, list, sizeof list);
}

typedef struct Child {
    pid_t id;
    int handle; /* a pidfd */
    int output; /* what it prints */
    int start;  /* an errno value where it could not be run; closed by its execve */
} Child;

/* Between fork and execve: system calls alone. */
__attribute__((noreturn)) static void run_child(const char *path, char *const *words, char *const *environment, int output, int start) {
    setpgid(0, 0);
    /* What the service ignores or blocks (SIGPIPE), a command must not inherit. */
    struct sigaction usual = { .sa_handler = SIG_DFL };
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &usual, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* Out of the way of 0 to 3 first, then `start` is 3 and all behind it is closed. */
    output = fcntl(output, F_DUPFD_CLOEXEC, 10);
    start = fcntl(start, F_DUPFD_CLOEXEC, 10);
    if (input >= 0 && output >= 0 && start >= 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO && dup2(output, STDOUT_FILENO) == STDOUT_FILENO &&
        dup3(start, STDERR_FILENO + 1, O_CLOEXEC) == STDERR_FILENO + 1) {
        close_range(STDERR_FILENO + 2, UINT_MAX, 0);
        start = STDERR_FILENO + 1;
        execve(path, words, environment);
    }
    int code = errno;
    ssize_t written = write(start, &code, sizeof code);
    _exit(written == sizeof code ? EXEC_FAILED : 1);
}

static void kill_group(const Child *child) {
    if (kill(-child->id, SIGKILL) != 0)
        kill(child->id, SIGKILL); /* it had not come to setpgid() yet */
}

static int start_child(const char *path, char *const *words, Child *ret_child) {
    int output[2] = { -1, -1 }, start[2] = { -1, -1 };
    Environment environment = { .home = "" };
    environment_fill(&environment);
    Child child = { .id = -1, .handle = -1 };
    if (pipe2(output, O_CLOEXEC) == 0 && pipe2(start, O_CLOEXEC) == 0)
        child.id = fork();
    if (child.id == 0)
        run_child(path, words, environment.list, output[1], start[1]);
    int code = errno;
    if (child.id > 0) {
        setpgid(child.id, child.id); /* whoever of the two comes first */
        child.handle = pidfd_open(child.id, 0);
        code = errno;
        if (child.handle < 0) {
            kill_group(&child);
            waitpid(child.id, NULL, 0);
        }
    }
    close(output[1]);
    close(start[1]);
    child.output = output[0];
    child.start = start[0];
    if (child.handle >= 0) {
        fcntl(child.output, F_SETFL, O_NONBLOCK);
        fcntl(child.start, F_SETFL, O_NONBLOCK);
        *ret_child = child;
        return 0;
    }
    close(output[0]);
    close(start[0]);
    errno = code;
    return -1;
}

/* The machine's time, not the world's: it bounds a program's slowness. */
static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads what lies in the pipe; false at its end. */
static bool drain(int output, char *taken, size_t size, size_t *length) {
    ssize_t count = 0;
    while (*length < size && (count = read(output, taken + *length, size - *length)) > 0)
        *length += (size_t)count;
    return *length < size && count < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Until the command ends, its time is over or it has printed too much. It may leave others behind that hold the pipe (an agent), so the end of
 * the pipe is not waited for. Whether it ended. */
static bool watch_child(const Child *child, char *taken, size_t size, size_t *length) {
    int64_t deadline = milliseconds_now() + (int64_t)command_seconds * 1000;
    struct pollfd watched[] = { { .fd = child->handle, .events = POLLIN }, { .fd = child->output, .events = POLLIN } };
    for (;;) {
        int64_t now = milliseconds_now();
        if (now >= deadline || *length == size)
            return false;
        int ready = poll(watched, 2, (int)(deadline - now));
        if (ready < 0 && errno != EINTR)
            return false;
        bool ended = ready > 0 && watched[0].revents != 0;
        if (ready > 0 && watched[1].fd >= 0 && !drain(child->output, taken, size, length))
            watched[1].fd = -1;
        if (ended)
            return *length < size;
    }
}

static int judge(int status, const char *program, Error *error) {
    if (WIFSIGNALED(status))
        return error_set(error, ERROR_MAILBOX, 0, "the command %s for the secret was ended by signal %d; it is tried again later", program, WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return error_set(error, ERROR_MAILBOX, 0, "the command %s for the secret failed with status %d; it is tried again later: run it by hand as the service's user", program, WEXITSTATUS(status));
    return 0;
}

static int watch_command(const Child *child, const char *program, Str *ret_secret, Error *error) {
    char taken[TAKEN_MAX];
    size_t length = 0;
    bool ended = watch_child(child, taken, sizeof taken, &length);
    if (!ended)
        kill_group(child);
    int status = 0, code = 0, result;
    while (waitpid(child->id, &status, 0) < 0 && errno == EINTR)
        continue;
    char what[PATH_MAX];
    snprintf(what, sizeof what, "the command %s", program);
    if (read(child->start, &code, sizeof code) == sizeof code)
        result = error_set(error, ERROR_INPUT, code, "the command %s for the secret cannot be run: %s", program, strerror(code));
    else if (length == sizeof taken)
        result = error_set(error, ERROR_INPUT, 0, "the command %s printed more than %d bytes: it must print the secret alone", program, SECRET_MAX);
    else if (!ended)
        result = error_set(error, ERROR_MAILBOX, 0, "the command %s for the secret was not done after %d s and was killed; it is tried again later", program, command_seconds);
    else
        result = judge(status, program, error);
    if (result == 0)
        result = take_line(taken, length, what, ret_secret, error);
    explicit_bzero(taken, sizeof taken);
    return result;
}

static int read_command(const char *command, Str *ret_secret, Error *error) {
    Words words;
    char path[PATH_MAX];
    Child child;
    if (!divide(command, &words))
        return error_set(error, ERROR_INPUT, 0, "the command for the secret cannot be divided into words: close its quotes, and use %d words at most", SECRET_WORDS_MAX);
    const char *program = words.list[0];
    if (!find_program(program, path, sizeof path))
        return error_set(error, ERROR_INPUT, errno, "the command %s for the secret cannot be run: %s", program, strerror(errno));
    if (start_child(path, words.list, &child) != 0)
        return error_set(error, ERROR_LATER, errno, "the command %s for the secret could not be started: %s", program, strerror(errno));
    int result = watch_command(&child, program, ret_secret, error);
    close(child.handle);
    close(child.output);
    close(child.start);
    return result;
}

int secret_read(const Secret *secret, Str *ret_secret, Error *error) {
    secret_clear(ret_secret);
    if (secret->file != NULL)
        return read_file(secret->file, ret_secret, error);
    if (secret->credential != NULL)
        return read_credential(secret->credential, ret_secret, error);
    if (secret->command != NULL)
        return read_command(secret->command, ret_secret, error);
    if (secret->token != NULL)
        return read_command(secret->token, ret_secret, error);
    return error_set(error, ERROR_INPUT, 0, "there is a user name but no secret: set password_file, password_command, password_credential or token_command");
}
