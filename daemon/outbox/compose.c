#include "daemon/outbox/compose.h"

#include "core/base/sha256.h"
#include "daemon/outbox/encode_mail.h"

#include <stdio.h>
#include <string.h>

enum { BOUNDARY_SIZE = 48 };

/* "=_" stands in no quoted-printable text, '_' in no base64, and nobody can know the hash before the id is drawn. */
static void make_boundary(const char *what, const char *message_id, char ret_boundary[BOUNDARY_SIZE]) {
    Sha256 sha;
    uint8_t digest[SHA256_SIZE];
    sha256_start(&sha);
    sha256_add(&sha, what, strlen(what));
    sha256_add(&sha, " ", 1);
    sha256_add(&sha, message_id, strlen(message_id));
    sha256_finish(&sha, digest);
    int at = snprintf(ret_boundary, BOUNDARY_SIZE, "=_%s_", what);
    for (int i = 0; i < 12; i++)
        at += snprintf(ret_boundary + at, (size_t)(BOUNDARY_SIZE - at), "%02x", digest[i]);
}

static int check_address(const char *what, const char *address, Error *error) {
    if (address != NULL && mail_address_good(address))
        return 0;
    return error_set(error, ERROR_INPUT, 0, "The %s \"%s\" is no mail address that can be written to.", what, address == NULL ? "" : address);
}

static void write_header(Str *out, const ComposeHeader *header, const char *subject) {
    char date[INSTANT_TEXT_SIZE];
    instant_write_mail(header->date, date);
    str_printf(out, "Date: %s\r\n", date);
    encode_address_field(out, "From", header->from_name == NULL ? "" : header->from_name, header->from_address);
    if (header->reply_to != NULL)
        encode_address_field(out, "Reply-To", header->from_name == NULL ? "" : header->from_name, header->reply_to);
    encode_address_field(out, "To", header->to_name == NULL ? "" : header->to_name, header->to_address);
    encode_text_field(out, "Subject", subject);
    encode_ids_field(out, "Message-ID", &header->message_id, 1);
    encode_ids_field(out, "In-Reply-To", &header->in_reply_to, 1);
    encode_ids_field(out, "References", header->references, header->reference_count);
    str_printf(out, "Auto-Submitted: %s\r\n", header->auto_submitted);
    str_append(out, "X-Auto-Response-Suppress: DR, RN, NRN, OOF, AutoReply\r\n");
    str_printf(out, "X-Epistle-Loop: %s\r\n", header->loop_value);
    str_append(out, "MIME-Version: 1.0\r\n");
}

static void write_text_part(Str *out, const char *type, const char *text) {
    bool plain = mail_text_plain(text);
    str_printf(out, "Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: %s\r\n\r\n", type, plain ? "7bit" : "quoted-printable");
    if (plain)
        encode_plain(out, text);
    else
        encode_quoted_printable(out, text);
}

static void write_multipart(Str *out, const char *subtype, const char *boundary) {
    str_printf(out, "Content-Type: multipart/%s;\r\n boundary=\"%s\"\r\n\r\n", subtype, boundary);
}

static void write_texts(Str *out, const ComposeHeader *header, const RenderedLetter *letter) {
    if (letter->html == NULL) {
        write_text_part(out, "text/plain", letter->text);
        return;
    }
    char boundary[BOUNDARY_SIZE];
    make_boundary("alternative", header->message_id, boundary);
    write_multipart(out, "alternative", boundary);
    str_printf(out, "--%s\r\n", boundary);
    write_text_part(out, "text/plain", letter->text);
    str_printf(out, "\r\n--%s\r\n", boundary);
    write_text_part(out, "text/html", letter->html);
    str_printf(out, "\r\n--%s--\r\n", boundary);
}

/* In base64, so that the file is what was written, line ends and all. */
static void write_pgn(Str *out, const char *name, const char *pgn) {
    str_append(out, "Content-Type: application/x-chess-pgn");
    encode_parameter(out, "name", name);
    str_append(out, "\r\nContent-Disposition: attachment");
    encode_parameter(out, "filename", name);
    str_append(out, "\r\nContent-Transfer-Encoding: base64\r\n\r\n");
    encode_base64(out, pgn, strlen(pgn));
}

int compose_letter(const ComposeHeader *header, const RenderedLetter *letter, Str *out, Error *error) {
    if (check_address("sender", header->from_address, error) != 0 || check_address("recipient", header->to_address, error) != 0 ||
        (header->reply_to != NULL && check_address("Reply-To", header->reply_to, error) != 0) || check_address("loop value", header->loop_value, error) != 0)
        return -1;
    if (header->message_id == NULL || !mail_id_good(header->message_id))
        return error_set(error, ERROR_INPUT, 0, "A letter's Message-ID is not well-formed.");
    if (header->auto_submitted == NULL || (strcmp(header->auto_submitted, "auto-replied") != 0 && strcmp(header->auto_submitted, "auto-generated") != 0))
        return error_set(error, ERROR_INPUT, 0, "Auto-Submitted is auto-replied or auto-generated.");
    write_header(out, header, letter->subject);
    if (letter->pgn == NULL) {
        write_texts(out, header, letter);
    } else {
        char boundary[BOUNDARY_SIZE];
        make_boundary("mixed", header->message_id, boundary);
        write_multipart(out, "mixed", boundary);
        str_printf(out, "--%s\r\n", boundary);
        write_texts(out, header, letter);
        str_printf(out, "\r\n--%s\r\n", boundary);
        write_pgn(out, header->pgn_name == NULL ? "game.pgn" : header->pgn_name, letter->pgn);
        str_printf(out, "\r\n--%s--\r\n", boundary);
    }
    if (out->overflowed)
        return error_set(error, ERROR_INPUT, 0, "A letter is longer than %zu bytes.", out->maximum);
    return 0;
}
