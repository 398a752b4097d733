#include "core/base/encode.h"

static const char hex_digits[] = "0123456789abcdef";
static const char base32_digits[] = "abcdefghijklmnopqrstuvwxyz234567";

void hex_write(const uint8_t *bytes, size_t length, char *ret_hex) {
    for (size_t i = 0; i < length; i++) {
        ret_hex[2 * i] = hex_digits[bytes[i] >> 4];
        ret_hex[2 * i + 1] = hex_digits[bytes[i] & 15];
    }
    ret_hex[2 * length] = 0;
}

int hex_value(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

bool hex_read(const char *hex, uint8_t *ret_bytes, size_t length) {
    for (size_t i = 0; i < 2 * length; i++)
        if (hex_value(hex[i]) < 0)
            return false;
    if (hex[2 * length] != 0)
        return false;
    for (size_t i = 0; i < length; i++)
        ret_bytes[i] = (uint8_t)(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
    return true;
}

int base32_value(char digit) {
    if (digit >= 'a' && digit <= 'z')
        return digit - 'a';
    if (digit >= 'A' && digit <= 'Z')
        return digit - 'A';
    if (digit >= '2' && digit <= '7')
        return digit - '2' + 26;
    return -1;
}

char base32_digit(unsigned value) {
    return base32_digits[value & 31];
}
