#include "daemon/outbox/sender_smtp_wire.h"

#include "core/base/utf8.h"

#include <ctype.h>
#include <string.h>

enum { CODE_LENGTH = 3, TEXT_AT = 4 /* behind the code and its blank or hyphen */ };

void smtp_reply_begin(SmtpReply *reply) {
    *reply = (SmtpReply){ .whole = false };
}

/* Cut where it is too long; what is no UTF-8 or a control character becomes '?'. */
static void add_words(SmtpReply *reply, const char *text, size_t length) {
    while (length > 0) {
        uint32_t point = 0;
        int size = utf8_next(text, length, &point);
        bool bad = size == 0 || point < 0x20 || (point >= 0x7f && point < 0xa0);
        size_t taken = size == 0 ? 1 : (size_t)size, written = bad ? 1 : taken;
        if (reply->words_length_ + written >= sizeof reply->words)
            return;
        memcpy(reply->words + reply->words_length_, bad ? "?" : text, written);
        reply->words_length_ += written;
        reply->words[reply->words_length_] = 0;
        text += taken;
        length -= taken;
    }
}

/* "5.1.1 " at the beginning: its length, 0 without. */
static size_t enhanced_length(const char *text, size_t length) {
    size_t at = 0;
    for (int part = 0; part < 3; part++) {
        size_t digits = 0;
        while (at < length && isdigit((unsigned char)text[at]) && digits < 3)
            at++, digits++;
        if (digits == 0 || (part < 2 && (at == length || text[at++] != '.')))
            return 0;
    }
    return at == length ? at : text[at] == ' ' ? at + 1 : 0;
}

static void take_line(SmtpReply *reply) {
    const char *line = reply->line_;
    size_t length = reply->line_length_;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    int code = 0;
    for (size_t at = 0; at < CODE_LENGTH && at < length; at++)
        code = isdigit((unsigned char)line[at]) ? code * 10 + (line[at] - '0') : -1000;
    bool last = length == CODE_LENGTH || (length > CODE_LENGTH && line[CODE_LENGTH] == ' ');
    bool good = code >= 200 && code <= 599 && (last || (length > CODE_LENGTH && line[CODE_LENGTH] == '-'));
    if (!good || (reply->code != 0 && reply->code != code)) {
        reply->broken = true;
        return;
    }
    const char *text = line + (length < TEXT_AT ? length : TEXT_AT);
    size_t text_length = length - (size_t)(text - line);
    if (reply->code == 0)
        add_words(reply, line, CODE_LENGTH);
    else {
        /* said once is enough */
        size_t enhanced = enhanced_length(text, text_length);
        if (enhanced > 0 && strlen(reply->words) >= TEXT_AT + enhanced - 1 && memcmp(reply->words + TEXT_AT, text, enhanced - 1) == 0) {
            text += enhanced;
            text_length -= enhanced;
        }
    }
    if (text_length > 0) {
        add_words(reply, " ", 1);
        add_words(reply, text, text_length);
    }
    reply->code = code;
    reply->whole = last;
}

size_t smtp_reply_feed(SmtpReply *reply, const char *bytes, size_t length) {
    for (size_t at = 0; at < length; at++) {
        if (reply->whole || reply->broken)
            return at;
        if (++reply->total_ > SMTP_REPLY_MAX)
            reply->broken = true;
        else if (bytes[at] == '\n') {
            take_line(reply);
            reply->line_length_ = 0;
        } else if (reply->line_length_ < sizeof reply->line_)
            reply->line_[reply->line_length_++] = bytes[at];
    }
    return length;
}

bool smtp_reply_enhanced(const SmtpReply *reply, const char *code) {
    size_t length = strlen(code);
    return reply->words_length_ >= TEXT_AT + length && memcmp(reply->words + TEXT_AT, code, length) == 0 &&
           (reply->words[TEXT_AT + length] == 0 || reply->words[TEXT_AT + length] == ' ');
}

SmtpBody smtp_body_write(const char *bytes, size_t length, Str *out) {
    size_t begin = 0; /* of the line */
    for (size_t at = 0; at < length; at++) {
        unsigned char byte = (unsigned char)bytes[at];
        if (byte == 0 || byte > 0x7f || byte == '\n' || (byte == '\r' && (at + 1 == length || bytes[at + 1] != '\n')))
            return SMTP_BODY_BAD;
        if (byte != '\r')
            continue;
        at++;
        if (bytes[begin] == '.')
            str_append_char(out, '.');
        str_append_bytes(out, bytes + begin, at + 1 - begin);
        begin = at + 1;
    }
    if (begin < length) { /* a last line without its end */
        if (bytes[begin] == '.')
            str_append_char(out, '.');
        str_append_bytes(out, bytes + begin, length - begin);
        str_append(out, "\r\n");
    }
    str_append(out, ".\r\n");
    return out->overflowed ? SMTP_BODY_NO_MEMORY : SMTP_BODY_GOOD;
}
