#include "daemon/line/stream.h"

#include <stdlib.h>
#include <string.h>

typedef struct Stream {
    Line *line;
    size_t greeted; /* bytes of the greeting that were read */
} Stream;

static const char greeting[] = "* PREAUTH Epistle\r\n";

static ssize_t stream_read(mailstream_low *low, void *bytes, size_t size) {
    Stream *stream = low->data;
    size_t left = sizeof greeting - 1 - stream->greeted;
    if (left == 0)
        return line_read(stream->line, bytes, size, NULL);
    size = size < left ? size : left;
    memcpy(bytes, greeting + stream->greeted, size);
    stream->greeted += size;
    return (ssize_t)size;
}

static ssize_t stream_write(mailstream_low *low, const void *bytes, size_t size) {
    const Stream *stream = low->data;
    return line_write(stream->line, bytes, size, NULL) == 0 ? (ssize_t)size : -1;
}

static int stream_close(mailstream_low *low) {
    (void)low; /* the line is its owner's */
    return 0;
}

static int stream_descriptor(mailstream_low *low) {
    const Stream *stream = low->data;
    return line_descriptor(stream->line);
}

static void stream_free(mailstream_low *low) {
    free(low->data);
    free(low);
}

static void stream_cancel(mailstream_low *low) {
    (void)low; /* deadlines end what takes too long */
}

static struct mailstream_cancel *stream_get_cancel(mailstream_low *low) {
    (void)low;
    return NULL;
}

static carray *stream_certificates(mailstream_low *low) {
    (void)low; /* curl has checked them */
    return NULL;
}

/* No waiting of libetpan's own, which select()s (RULINGS 47). */
static int stream_no_idle(mailstream_low *low) {
    (void)low;
    return -1;
}

static mailstream_low_driver driver = {
    .mailstream_read = stream_read,
    .mailstream_write = stream_write,
    .mailstream_close = stream_close,
    .mailstream_get_fd = stream_descriptor,
    .mailstream_free = stream_free,
    .mailstream_cancel = stream_cancel,
    .mailstream_get_cancel = stream_get_cancel,
    .mailstream_get_certificate_chain = stream_certificates,
    .mailstream_setup_idle = stream_no_idle,
    .mailstream_unsetup_idle = stream_no_idle,
    .mailstream_interrupt_idle = stream_no_idle,
};

mailstream *stream_open(Line *line) {
    enum { BUFFER = 8192 };
    Stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->line = line;
    mailstream_low *low = mailstream_low_new(stream, &driver);
    if (low == NULL) {
        free(stream);
        return NULL;
    }
    mailstream *result = mailstream_new(low, BUFFER);
    if (result == NULL)
        mailstream_low_free(low);
    return result;
}
