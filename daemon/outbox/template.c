#include "daemon/outbox/template.h"

#include "core/base/utf8.h"
#include "daemon/outbox/mustache.h"
#include "daemon/outbox/words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LANGUAGES_MAX = 64, TEMPLATES_MAX = 200, LANGUAGE_NAME_MAX = 16, TEMPLATE_NAME_MAX = 64 };

typedef struct Language {
    char name[LANGUAGE_NAME_MAX];
    Words *words;
    size_t count;
    struct {
        char name[TEMPLATE_NAME_MAX];
        Mustache *mustache;
    } templates[TEMPLATES_MAX];
} Language;

struct Templates {
    size_t count;
    Language *languages[LANGUAGES_MAX];
};

static Language *find_language(const Templates *templates, const char *name) {
    for (size_t i = 0; i < templates->count; i++)
        if (strcmp(templates->languages[i]->name, name) == 0)
            return templates->languages[i];
    return NULL;
}

static const Mustache *find_template(const Templates *templates, const Language *language, const char *name) {
    const Language *choices[2] = { language, find_language(templates, "en") };
    for (int i = 0; i < 2; i++)
        for (size_t at = 0; choices[i] != NULL && at < choices[i]->count; at++)
            if (strcmp(choices[i]->templates[at].name, name) == 0)
                return choices[i]->templates[at].mustache;
    return NULL;
}

/* Whole file, regular and within the limit. NULL with the error set. */
static char *read_file(int folder, const char *name, const char *shown, Error *error) {
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    char *text = NULL;
    if (file < 0 || fstat(file, &status) != 0) {
        error_set(error, ERROR_INPUT, 0, "%s cannot be read: %s.", shown, strerror(errno));
    } else if (!S_ISREG(status.st_mode) || status.st_size > MUSTACHE_TEXT_MAX) {
        error_set(error, ERROR_INPUT, 0, "%s is no file, or one longer than %d bytes.", shown, MUSTACHE_TEXT_MAX);
    } else if ((text = calloc(1, (size_t)status.st_size + 1)) == NULL) {
        error_set(error, ERROR_LATER, 0, "There is no memory for %s.", shown);
    } else {
        size_t length = 0;
        while (length < (size_t)status.st_size) {
            ssize_t count = read(file, text + length, (size_t)status.st_size - length);
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0)
                break;
            length += (size_t)count;
        }
        text[length] = 0;
        if (strlen(text) != length || !utf8_valid(text, length)) {
            error_set(error, ERROR_INPUT, 0, "%s is not UTF-8 text.", shown);
            free(text);
            text = NULL;
        }
    }
    if (file >= 0)
        close(file);
    return text;
}

static bool has_ending(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

/* One file of a language's folder; other files than *.md and words.ini are not looked at. */
static int read_entry(Language *language, int folder, const char *path, const char *name, Error *error) {
    bool words = strcmp(name, "words.ini") == 0;
    if (name[0] == '.' || (!words && !has_ending(name, ".md")))
        return 0;
    char shown[400];
    snprintf(shown, sizeof shown, "%s/%s/%s", path, language->name, name);
    char *text = read_file(folder, name, shown, error);
    if (text == NULL)
        return -1;
    int result = -1;
    if (words) {
        language->words = words_open(text, shown, language->name, error);
        result = language->words == NULL ? -1 : 0;
    } else if (language->count == TEMPLATES_MAX || strlen(name) - 3 >= TEMPLATE_NAME_MAX) {
        error_set(error, ERROR_INPUT, 0, "%s is one template too many, or its name is too long.", shown);
    } else {
        Mustache *mustache = mustache_parse(text, shown, error);
        if (mustache != NULL) {
            snprintf(language->templates[language->count].name, TEMPLATE_NAME_MAX, "%.*s", (int)strlen(name) - 3, name);
            language->templates[language->count++].mustache = mustache;
            result = 0;
        }
    }
    free(text);
    return result;
}

static bool language_name(const char *name) {
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    return length >= 2 && length < LANGUAGE_NAME_MAX && name[length] == 0;
}

static int read_language(Templates *templates, int root, const char *path, const char *name, Error *error) {
    int folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno == ENOTDIR ? 0 : error_set(error, ERROR_INPUT, 0, "%s/%s cannot be read: %s.", path, name, strerror(errno));
    DIR *list = fdopendir(folder);
    Language *language = calloc(1, sizeof *language);
    if (list == NULL || language == NULL || templates->count == LANGUAGES_MAX) {
        free(language);
        if (list != NULL)
            closedir(list);
        else
            close(folder);
        return error_set(error, ERROR_LATER, 0, "There is no room for the templates of %s/%s.", path, name);
    }
    text_copy(language->name, sizeof language->name, name);
    templates->languages[templates->count++] = language;
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(list)) != NULL;)
        result = read_entry(language, folder, path, entry->d_name, error);
    closedir(list);
    return result;
}

/* Every partial that is called is there, and every language has words. */
static int check(const Templates *templates, const char *path, Error *error) {
    if (find_language(templates, "en") == NULL)
        return error_set(error, ERROR_INPUT, 0, "%s holds no folder \"en\" of templates.", path);
    for (size_t i = 0; i < templates->count; i++) {
        const Language *language = templates->languages[i];
        if (language->words == NULL)
            return error_set(error, ERROR_INPUT, 0, "%s/%s holds no words.ini.", path, language->name);
        for (size_t at = 0; at < language->count; at++) {
            const char *partial;
            for (size_t n = 0; (partial = mustache_partial(language->templates[at].mustache, n)) != NULL; n++)
                if (find_template(templates, language, partial) == NULL)
                    return error_set(error, ERROR_INPUT, 0, "%s/%s/%s.md calls the partial \"%s\", which is not there.", path,
                                     language->name, language->templates[at].name, partial);
        }
    }
    return 0;
}

Templates *templates_open(const char *folder, Error *error) {
    DIR *list = opendir(folder);
    if (list == NULL) {
        error_set(error, ERROR_INPUT, 0, "The folder of templates %s cannot be read: %s.", folder, strerror(errno));
        return NULL;
    }
    Templates *templates = calloc(1, sizeof *templates);
    int result = templates == NULL ? error_set(error, ERROR_LATER, 0, "There is no memory for the templates.") : 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(list)) != NULL;)
        if (language_name(entry->d_name))
            result = read_language(templates, dirfd(list), folder, entry->d_name, error);
    if (result == 0)
        result = check(templates, folder, error);
    closedir(list);
    if (result == 0)
        return templates;
    templates_close(templates);
    return NULL;
}

void templates_close(Templates *templates) {
    if (templates == NULL)
        return;
    for (size_t i = 0; i < templates->count; i++) {
        Language *language = templates->languages[i];
        for (size_t at = 0; at < language->count; at++)
            mustache_free(language->templates[at].mustache);
        words_close(language->words);
        free(language);
    }
    free(templates);
}

bool templates_have_language(const Templates *templates, const char *language) {
    return find_language(templates, language) != NULL;
}

typedef struct Caller {
    const Templates *templates;
    const Language *language;
} Caller;

static const Mustache *call_partial(void *data, const char *name) {
    const Caller *caller = data;
    return find_template(caller->templates, caller->language, name);
}

static const char *entry_text(const Templates *templates, const Language *language, const char *name) {
    const char *text = language == NULL || language->words == NULL ? NULL : words_text(language->words, name);
    if (text != NULL)
        return text;
    const Language *english = find_language(templates, "en");
    return english == NULL ? NULL : words_text(english->words, name);
}

static const char *call_words(void *data, const char *name) {
    const Caller *caller = data;
    return strncmp(name, "words.", 6) == 0 ? entry_text(caller->templates, caller->language, name + 6) : NULL;
}

/* All of ASCII's punctuation may be escaped in Markdown, so nothing has to be judged by its place. */
static void escape_markdown(Str *out, const char *value) {
    for (; *value != 0; value++) {
        if (strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", *value) != NULL)
            str_append_char(out, '\\');
        str_append_char(out, *value == '\n' || *value == '\r' || *value == '\t' ? ' ' : *value);
    }
}

int template_render(const Templates *templates, const char *language, const char *name, const json_t *context, TemplateEscape escape, Str *out, Error *error) {
    Caller caller = { templates, find_language(templates, language) };
    const Mustache *mustache = find_template(templates, caller.language, name);
    if (mustache == NULL)
        return error_set(error, ERROR_INPUT, 0, "There is no template \"%s\".", name);
    MustacheHost host = { .data = &caller, .partial = call_partial, .value = call_words,
                          .escape = escape == ESCAPE_MARKDOWN ? escape_markdown : NULL };
    return mustache_run(mustache, context, &host, out, error);
}

int words_format(const Templates *templates, const char *language, const char *name, const int64_t *arguments, int argument_count, Str *out, Error *error) {
    const Language *choices[2] = { find_language(templates, language), find_language(templates, "en") };
    for (int i = 0; i < 2; i++)
        if (choices[i] != NULL && words_write(choices[i]->words, name, arguments, argument_count, out))
            return 0;
    return error_set(error, ERROR_INPUT, 0, "The words file has no entry \"%s\" that takes %d numbers.", name, argument_count);
}
