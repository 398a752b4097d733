#include "daemon/verbs/verbs.h"

#include "core/base/str.h"
#include "daemon/log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage_error(const char *usage, const char *what, const char *which) {
    print_line(stderr, "epistle: %s%s; usage: epistle %s", what, which, usage);
    return STATUS_USAGE;
}

static const VerbOption *find_option(const VerbOption *options, const char *name, size_t length) {
    for (; options->name != NULL; options++)
        if (strlen(options->name) == length && memcmp(options->name, name, length) == 0)
            return options;
    return NULL;
}

/* argv[*at] begins with "--". True if it was an option of the verb's; *at is on its last word then. */
static bool take_option(const VerbCall *call, const VerbOption *options, int *at) {
    const char *name = call->argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const VerbOption *option = find_option(options, name, length);
    if (option == NULL)
        return false;
    if (option->flag != NULL) {
        *option->flag = true;
        return name[length] == 0;
    }
    if (name[length] == '=')
        *option->value = name + length + 1;
    else if (*at + 1 < call->argc)
        *option->value = call->argv[++*at];
    else
        return false;
    return true;
}

bool verb_arguments(const VerbCall *call, const char *usage, const char *help, const VerbOption *options, const char **ret_words,
                    int least, int most, int *ret_count, int *ret_status) {
    bool options_end = false;
    int count = 0;
    for (int i = 1; i < call->argc; i++) {
        const char *word = call->argv[i];
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
        } else if (!options_end && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            printf("usage: epistle %s\n%s", usage, help);
            *ret_status = STATUS_DONE;
            return false;
        } else if (!options_end && strcmp(word, "-v") == 0 && find_option(options, "verbose", 7) != NULL) {
            *find_option(options, "verbose", 7)->flag = true;
        } else if (!options_end && word[0] == '-' && word[1] != 0) {
            if (strncmp(word, "--", 2) != 0 || !take_option(call, options, &i)) {
                *ret_status = usage_error(usage, "unknown or incomplete option ", word);
                return false;
            }
        } else if (count == most) {
            *ret_status = usage_error(usage, "too many arguments from ", word);
            return false;
        } else {
            ret_words[count++] = word;
        }
    }
    *ret_count = count;
    if (count < least)
        *ret_status = usage_error(usage, "too few arguments", "");
    return count >= least;
}

static void print_parts(const VerbPart *parts, const char *verb) {
    printf("usage: epistle %s WHAT …\n", verb);
    for (const VerbPart *part = parts; part->name != NULL; part++)
        printf("  %s %s\n      %s\n", part->name, part->words, part->does);
    printf("`epistle %s WHAT --help` says more.\n", verb);
}

static int parts_error(const VerbPart *parts, const char *verb, const char *word) {
    Str names;
    str_init(&names, 200);
    for (; parts->name != NULL; parts++)
        str_printf(&names, "%s%s", names.length == 0 ? "" : ", ", parts->name);
    if (word == NULL)
        print_line(stderr, "epistle: %s what? One of: %s (epistle %s --help)", verb, names.data, verb);
    else
        print_line(stderr, "epistle: there is no %s %s; there are: %s (epistle %s --help)", verb, word, names.data, verb);
    str_free(&names);
    return STATUS_USAGE;
}

int verb_parts(const VerbCall *call, const VerbPart *parts, const char *verb) {
    const char *word = call->argc > 1 ? call->argv[1] : NULL;
    if (word != NULL && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
        print_parts(parts, verb);
        return STATUS_DONE;
    }
    for (const VerbPart *part = parts; word != NULL && part->name != NULL; part++) {
        if (strcmp(part->name, word) == 0) {
            VerbCall inner = *call;
            inner.argc--;
            inner.argv++;
            return part->run(&inner);
        }
    }
    return parts_error(parts, verb, word);
}

bool verb_number(const char *text, int64_t *ret_number) {
    int64_t number = 0;
    if (*text == '#')
        text++;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 15 || text[digits] != 0)
        return false;
    for (; *text != 0; text++)
        number = number * 10 + (*text - '0');
    if (number == 0)
        return false;
    *ret_number = number;
    return true;
}

bool verb_time(const char *option, const char *text, Instant *ret_instant) {
    *ret_instant = INSTANT_NONE;
    if (text == NULL || instant_read(text, ret_instant))
        return true;
    char whole[64];
    if (strlen(text) == 10 && snprintf(whole, sizeof whole, "%sT00:00:00Z", text) > 0 && instant_read(whole, ret_instant))
        return true;
    print_line(stderr, "epistle: --%s wants a time as in 2026-11-30T18:00:00Z, not %s", option, text);
    return false;
}

int verb_fail(const Error *error) {
    log_line(error->text[0] != 0 ? error->text : "something failed without saying what");
    return error->grade == ERROR_LATER || error->grade == ERROR_MAILBOX ? STATUS_LATER : STATUS_WRONG;
}

int verb_wrong(const char *format, ...) {
    Str line;
    str_init(&line, 4096);
    va_list arguments;
    va_start(arguments, format);
    str_vprintf(&line, format, arguments);
    va_end(arguments);
    log_line(line.data);
    str_free(&line);
    return STATUS_WRONG;
}
