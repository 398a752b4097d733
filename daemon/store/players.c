#include "daemon/store/players.h"

#include "core/base/utf8.h"

#include <string.h>
#include <unicode/unorm2.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>

enum { NAME_POINTS_MAX = 60, FOLDED_MAX = 600 };

static bool point_fits_name(uint32_t point) {
    int8_t category = u_charType((UChar32)point);
    return category != U_CONTROL_CHAR && category != U_FORMAT_CHAR && category != U_SURROGATE && category != U_PRIVATE_USE_CHAR &&
           category != U_UNASSIGNED && category != U_LINE_SEPARATOR && category != U_PARAGRAPH_SEPARATOR && point != '@' &&
           point != '<' && point != '>' && point != '|' && point != '"';
}

bool player_name_clean(const char *name, char ret_name[PLAYER_NAME_MAX]) {
    size_t length = strlen(name), count = 0;
    bool letter = false, blank = true; /* leading blanks are dropped */
    Str clean;
    str_init(&clean, PLAYER_NAME_MAX - 1);
    bool good = true;
    for (size_t at = 0; at < length && good;) {
        uint32_t point = 0;
        int size = utf8_next(name + at, length - at, &point);
        if (size == 0) {
            good = false;
            break;
        }
        at += (size_t)size;
        if (u_isUWhiteSpace((UChar32)point)) {
            if (!blank)
                count++, str_append_char(&clean, ' ');
            blank = true;
            continue;
        }
        blank = false;
        good = point_fits_name(point) && ++count <= NAME_POINTS_MAX && utf8_append(&clean, point);
        letter = letter || u_isalpha((UChar32)point);
    }
    str_trim_end(&clean);
    good = good && letter && clean.length > 0;
    if (good)
        text_copy(ret_name, PLAYER_NAME_MAX, clean.data);
    str_free(&clean);
    return good;
}

static bool address_byte(unsigned char byte) {
    return byte > 0x20 && byte < 0x7f && strchr("()<>[]:;,\\\"", byte) == NULL;
}

bool address_clean(const char *address, char ret_address[ADDRESS_MAX]) {
    const char *at = strchr(address, '@');
    size_t length = strlen(address);
    if (at == NULL || at == address || strchr(at + 1, '@') != NULL || length >= ADDRESS_MAX || at - address > 64)
        return false;
    const char *domain = at + 1;
    if (*domain == 0 || *domain == '.' || *domain == '-' || address[length - 1] == '.')
        return false;
    for (const char *byte = address; *byte != 0; byte++)
        if (!address_byte((unsigned char)*byte))
            return false;
    for (const char *byte = domain; *byte != 0; byte++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *byte) == NULL ||
            (*byte == '.' && byte[1] == '.'))
            return false;
    memcpy(ret_address, address, length + 1);
    for (char *byte = ret_address + (domain - address); *byte != 0; byte++)
        if (*byte >= 'A' && *byte <= 'Z')
            *byte = (char)(*byte - 'A' + 'a');
    return true;
}

/* NFKC with case folding: "ANNA  Smith" and "Anna Smith" are one name. */
static bool fold_name(const char *name, char ret_folded[FOLDED_MAX]) {
    UErrorCode status = U_ZERO_ERROR;
    UChar wide[FOLDED_MAX], folded[FOLDED_MAX];
    int32_t length = 0, folded_length = 0;
    u_strFromUTF8(wide, FOLDED_MAX, &length, name, -1, &status);
    const UNormalizer2 *normalizer = unorm2_getNFKCCasefoldInstance(&status);
    if (U_FAILURE(status))
        return false;
    folded_length = unorm2_normalize(normalizer, wide, length, folded, FOLDED_MAX, &status);
    if (U_FAILURE(status))
        return false;
    u_strToUTF8(ret_folded, FOLDED_MAX, NULL, folded, folded_length, &status);
    return U_SUCCESS(status) && status != U_STRING_NOT_TERMINATED_WARNING;
}

int player_add(Store *store, const char *name, const char *address, const char *language, const char *zone, Instant now,
               int64_t *ret_id, Error *error) {
    char folded[FOLDED_MAX];
    if (!fold_name(name, folded))
        return error_set(error, ERROR_INPUT, 0, "the name cannot be used");
    int64_t other = 0;
    int found = player_by_name(store, name, &other, error);
    if (found != 0)
        return found < 0 ? -1 : 0;
    if (store_execute(store, error, "INSERT INTO player(name, name_folded, language, zone, created) VALUES(?1, ?2, ?3, ?4, ?5)",
                      "tttti", name, folded, language, zone, now) < 0)
        return -1;
    *ret_id = store_last_id(store);
    if (store_execute(store, error, "INSERT INTO address(player, address, preferred) VALUES(?1, lower(?2), 1)", "it", *ret_id, address) < 0)
        return -1;
    return 1;
}

int player_get(Store *store, int64_t id, Player *ret_player, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row,
                            "SELECT p.name, a.address, p.language, p.zone, p.blocked FROM player p LEFT JOIN address a"
                            " ON a.player = p.id AND a.preferred = 1 WHERE p.id = ?1",
                            "i", id);
    if (found == 1) {
        ret_player->id = id;
        column_text(row, 0, ret_player->name, sizeof ret_player->name);
        column_text(row, 1, ret_player->address, sizeof ret_player->address);
        column_text(row, 2, ret_player->language, sizeof ret_player->language);
        column_text(row, 3, ret_player->zone, sizeof ret_player->zone);
        ret_player->blocked = sqlite3_column_int(row, 4) != 0;
        store_done(row);
    }
    return found;
}

int player_by_name(Store *store, const char *name, int64_t *ret_id, Error *error) {
    char folded[FOLDED_MAX];
    if (!fold_name(name, folded))
        return 0;
    return store_query_int(store, error, ret_id, "SELECT id FROM player WHERE name_folded = ?1", "t", folded);
}

int players_by_address(Store *store, const char *address, int64_t ret_ids[PLAYERS_AT_ADDRESS_MAX], Error *error) {
    sqlite3_stmt *row = NULL;
    int count = 0;
    /* Local parts are compared without case too: no two people share one but for case. */
    int found = store_query(store, error, &row, "SELECT player FROM address WHERE address = lower(?1) ORDER BY player", "t", address);
    for (; found == 1 && count < PLAYERS_AT_ADDRESS_MAX; found = store_next(store, row, error))
        ret_ids[count++] = sqlite3_column_int64(row, 0);
    store_done(row);
    return found < 0 ? -1 : count;
}

int player_block(Store *store, int64_t id, bool blocked, Error *error) {
    return store_execute(store, error, "UPDATE player SET blocked = ?2 WHERE id = ?1", "ii", id, (int64_t)blocked);
}

int address_trouble(Store *store, int64_t player, const char *address, const char *trouble, Error *error) {
    return store_execute(store, error, "UPDATE address SET trouble = ?3 WHERE player = ?1 AND address = lower(?2)", "itt", player, address, trouble);
}
