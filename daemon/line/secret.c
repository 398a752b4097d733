#include "daemon/line/secret.h"

#include "daemon/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    COMMAND_MAX = 4096,      /* bytes of a command's words */
    TAKEN_MAX = SECRET_MAX + 3, /* a secret of full length, its line's end, and one more that tells "longer" */
    WATCH_MS = 100, /* how often what it printed is looked at */
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
        return error_set(error, ERROR_INPUT, errno, "cannot read the secret in %s: %s%s", path, strerror(errno),
                         errno == EACCES ? ": give it the group of the service's user and mode 640" : "");
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

/* What became of it; 0 if it ended as it should. */
static int judge(ChildEnd end, int value, const char *program, Error *error) {
    switch (end) {
    case CHILD_NOT_RUN:
        return error_set(error, ERROR_INPUT, value, "the command %s for the secret cannot be run: %s", program, strerror(value));
    case CHILD_TOO_SLOW:
        return error_set(error, ERROR_MAILBOX, 0, "the command %s for the secret was not done after %d s and was killed; it is tried again later", program, command_seconds);
    case CHILD_SIGNALLED:
        return error_set(error, ERROR_MAILBOX, 0, "the command %s for the secret was ended by signal %d; it is tried again later", program, value);
    case CHILD_EXITED:
        break;
    }
    if (value != 0)
        return error_set(error, ERROR_MAILBOX, 0, "the command %s for the secret failed with status %d; it is tried again later: run it by hand as the service's user", program, value);
    return 0;
}

static int run_command(const char *path, char *const *words, void (*alive)(void), Str *ret_secret, Error *error) {
    char taken[TAKEN_MAX], what[PATH_MAX + 20];
    ChildPlan plan = { .path = path, .words = words, .taken = taken, .taken_size = sizeof taken, .seconds = command_seconds };
    Child child;
    if (child_start(&plan, &child) < 0)
        return error_set(error, ERROR_LATER, errno, "the command %s for the secret could not be started: %s", words[0], strerror(errno));
    while (child.length < sizeof taken && !child_watch(&child, NULL, 0, WATCH_MS))
        if (alive != NULL)
            alive();
    size_t length = child.length;
    int value, result;
    ChildEnd end = child_finish(&child, &value);
    snprintf(what, sizeof what, "the command %s", words[0]);
    if (length == sizeof taken)
        result = error_set(error, ERROR_INPUT, 0, "the command %s printed more than %d bytes: it must print the secret alone", words[0], SECRET_MAX);
    else
        result = judge(end, value, words[0], error);
    if (result == 0)
        result = take_line(taken, length, what, ret_secret, error);
    explicit_bzero(taken, sizeof taken);
    return result;
}

static int read_command(const char *command, void (*alive)(void), Str *ret_secret, Error *error) {
    Words words;
    char path[PATH_MAX];
    if (!divide(command, &words))
        return error_set(error, ERROR_INPUT, 0, "the command for the secret cannot be divided into words: close its quotes, and use %d words at most", SECRET_WORDS_MAX);
    if (!child_find(words.list[0], path))
        return error_set(error, ERROR_INPUT, errno, "the command %s for the secret cannot be run: %s", words.list[0], strerror(errno));
    return run_command(path, words.list, alive, ret_secret, error);
}

int secret_read(const Secret *secret, void (*alive)(void), Str *ret_secret, Error *error) {
    secret_clear(ret_secret);
    if (secret->file != NULL)
        return read_file(secret->file, ret_secret, error);
    if (secret->credential != NULL)
        return read_credential(secret->credential, ret_secret, error);
    if (secret->command != NULL)
        return read_command(secret->command, alive, ret_secret, error);
    if (secret->token != NULL)
        return read_command(secret->token, alive, ret_secret, error);
    return error_set(error, ERROR_INPUT, 0, "there is a user name but no secret: set password_file, password_command, password_credential or token_command");
}
