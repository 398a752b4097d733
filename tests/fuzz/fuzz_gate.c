/* The gate over any bytes, and libetpan behind it: what passes must not crash the parser. */
#include "daemon/inbox/gate.h"

#include <libetpan/libetpan.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *letter = malloc(size + 1);
    if (letter == NULL)
        return 0;
    memcpy(letter, data, size);
    letter[size] = 0;
    const char *why = NULL;
    bool pass = gate_pass(letter, size, &why);
    if (pass != (why == NULL))
        abort();
    size_t at = 0;
    struct mailmime *mime = NULL;
    if (pass && mailmime_parse(letter, size, &at, &mime) == MAILIMF_NO_ERROR)
        mailmime_free(mime);
    free(letter);
    return 0;
}
