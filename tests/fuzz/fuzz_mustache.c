/* Templates, words and layout from any bytes: text, NUL, data as JSON, NUL, a partial "p". The same input is also rendered
 * escaped for Markdown through a words file's reader and laid out. */
#include "daemon/outbox/layout.h"
#include "daemon/outbox/template.h"
#include "daemon/outbox/words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = calloc(1, size + 3);
    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, bytes, size);
    const char *data = text + strlen(text) + 1;
    const char *partial = data <= text + size ? data + strlen(data) + 1 : text + size;
    if (data > text + size)
        data = "";
    if (partial > text + size)
        partial = "";
    json_t *context = json_loads(data, JSON_DECODE_ANY, NULL);
    if (context == NULL)
        context = json_pack("{s:s, s:[i,s,{s:s}], s:{s:b}}", "x", "<*_>", "l", 1, "resign", "x", "y", "o", "t", 1);
    json_t *partials = json_object();
    json_object_set_new(partials, "p", json_string(partial));
    Str out, laid;
    str_init(&out, 200000);
    str_init(&laid, 400000);
    for (int escape = 0; escape < 2; escape++) {
        str_clear(&out);
        mustache_render(text, context, partials, escape, &out, NULL);
    }
    layout_text(out.data, "resign accept yes", &laid);
    str_clear(&laid);
    layout_prefixed(text, "| ", 70, &laid);
    Words *words = words_open(text, "words.ini", "en", NULL);
    if (words != NULL) {
        int64_t numbers[WORDS_ARGUMENTS_MAX] = { 1, -2, 300000, INT64_MAX };
        str_clear(&laid);
        words_write(words, "a", numbers, WORDS_ARGUMENTS_MAX, &laid);
        words_close(words);
    }
    str_free(&out);
    str_free(&laid);
    json_decref(context);
    json_decref(partials);
    free(text);
    return 0;
}
