/* Hexadecimal and base32 (RFC 4648 alphabet, written in lower case, read in any case). */
#ifndef EPISTLE_CORE_BASE_ENCODE_H
#define EPISTLE_CORE_BASE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ret_hex has 2 * length + 1 bytes; lower case, NUL-terminated. */
void hex_write(const uint8_t *bytes, size_t length, char *ret_hex);
/* Exactly 2 * length hex digits of any case, nothing behind them. */
bool hex_read(const char *hex, uint8_t *ret_bytes, size_t length);

/* The value of a hex digit of any case, -1 if it is none. */
int hex_value(char digit);

/* The value of a base32 digit, -1 if it is none. */
int base32_value(char digit);
/* The digit of a value 0–31, lower case. */
char base32_digit(unsigned value);

#endif
