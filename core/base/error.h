/* Errors: a grade that says what to do next, and one whole sentence for people.
 *
 * Every function that can fail for more than one reason takes an `Error *` as its last
 * parameter (NULL: the caller does not want to know) and returns a negative number or
 * false. It fills the Error once, where the fault is found; callers pass it up and the
 * outermost one logs or prints it. Libraries of this project never log. */
#ifndef EPISTLE_CORE_BASE_ERROR_H
#define EPISTLE_CORE_BASE_ERROR_H

typedef enum ErrorGrade {
    ERROR_NONE = 0,
    ERROR_INPUT,   /* what was asked is wrong: the same again fails again */
    ERROR_LETTER,  /* this one letter cannot be handled; the next one can */
    ERROR_MAILBOX, /* this mailbox or relay is not to be had now; try later */
    ERROR_LATER,   /* a passing want (disk full, store busy): nothing was done, try later */
    ERROR_DAMAGED, /* a store, a record or a key is not what it must be: stop, tell the operator */
} ErrorGrade;

enum { ERROR_TEXT_MAX = 400 }; /* bytes with NUL; a sentence, not a report */

typedef struct Error {
    ErrorGrade grade;
    int code;                  /* the module's own enum, 0 where it has none */
    char text[ERROR_TEXT_MAX]; /* one sentence: what, why, and what to do */
} Error;

/* Fills *error (may be NULL) and returns -1, so that `return error_set(…)` reads well.
 * The text is cut at ERROR_TEXT_MAX; control characters and what is no UTF-8 become '?'. */
int error_set(Error *error, ErrorGrade grade, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts "prefix: " before the text already there. */
void error_prefix(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Back to ERROR_NONE with an empty text. */
void error_clear(Error *error);

#endif
