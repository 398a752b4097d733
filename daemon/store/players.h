/* Players and their addresses. One address may belong to several players (RULINGS 5). */
#ifndef EPISTLE_DAEMON_STORE_PLAYERS_H
#define EPISTLE_DAEMON_STORE_PLAYERS_H

#include "core/base/instant.h"
#include "daemon/store/store.h"
#include "daemon/zone.h"

enum {
    PLAYER_NAME_MAX = 60 * 4 + 1, /* 60 code points (RULINGS 38) */
    ADDRESS_MAX = 255,            /* RFC 5321 4.5.3.1: 254 octets and NUL */
    LANGUAGE_MAX = 16,
    PLAYERS_AT_ADDRESS_MAX = 8,
};

typedef struct Player {
    int64_t id;
    char name[PLAYER_NAME_MAX];
    char address[ADDRESS_MAX]; /* the preferred one */
    char language[LANGUAGE_MAX];
    char zone[ZONE_NAME_MAX];
    bool blocked;
} Player;

/* Is this a name for people: 1–60 code points, no controls or bidi marks, something in it, no '@', not only digits? Writes it
 * with blanks folded. */
bool player_name_clean(const char *name, char ret_name[PLAYER_NAME_MAX]);
/* One '@', a local part and a domain with a dot or a literal, no blanks or controls; domain in lower case in the result. */
bool address_clean(const char *address, char ret_address[ADDRESS_MAX]);

/* 1: added, 0: the name is taken already. Name and address must be clean. */
int player_add(Store *store, const char *name, const char *address, const char *language, const char *zone, Instant now, int64_t *ret_id, Error *error);
int player_get(Store *store, int64_t id, Player *ret_player, Error *error);             /* 1, 0, -1 */
int player_by_name(Store *store, const char *name, int64_t *ret_id, Error *error);      /* folded case; 1, 0, -1 */
/* Ids of the players an address belongs to; -1 or their number (at most PLAYERS_AT_ADDRESS_MAX are given). */
int players_by_address(Store *store, const char *address, int64_t ret_ids[PLAYERS_AT_ADDRESS_MAX], Error *error);
int player_block(Store *store, int64_t id, bool blocked, Error *error);
int address_trouble(Store *store, int64_t player, const char *address, const char *trouble, Error *error); /* NULL: mended */

#endif
