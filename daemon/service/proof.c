#include "daemon/service/proof.h"

#include <string.h>

const char *proof_name(ProofClass class) {
    return class == PROOF_TOKEN ? "token" : "none";
}

/* DMARC's verdict counts only from our own host, above the first Received field not ours (RULINGS 3): fields that came with
 * the letter may claim anything. */
static bool received_by_us(const Config *config, const char *received) {
    for (size_t i = 0; i < config->received_by_count; i++) {
        const char *by = received;
        while ((by = strstr(by, "by ")) != NULL) {
            by += 3;
            size_t length = strlen(config->received_by[i]);
            if (text_starts_nocase(by, config->received_by[i]) && (by[length] == ' ' || by[length] == 0 || by[length] == ';'))
                return true;
        }
    }
    return false;
}

/* RFC 8601 allows comments between any two words. */
static const char *without_comments(Arena *arena, const char *value) {
    char *plain = arena_copy(arena, value, strlen(value));
    int depth = 0;
    size_t length = 0;
    for (const char *byte = value; plain != NULL && *byte != 0; byte++) {
        depth += *byte == '(';
        if (depth == 0)
            plain[length++] = *byte;
        depth -= *byte == ')' && depth > 0;
    }
    if (plain != NULL)
        plain[length] = 0;
    return plain == NULL ? "" : plain;
}

static bool says_dmarc_fail(Arena *arena, const char *field, const char *authserv) {
    const char *value = without_comments(arena, field);
    size_t length = strlen(authserv);
    while (*value == ' ')
        value++;
    if (!text_starts_nocase(value, authserv) || (value[length] != ';' && value[length] != ' ' && value[length] != 0))
        return false;
    for (const char *at = value; (at = strchr(at, ';')) != NULL;) {
        at++;
        while (*at == ' ' || *at == '\t')
            at++;
        if (!text_starts_nocase(at, "dmarc"))
            continue;
        at += 5;
        while (*at == ' ' || *at == '=')
            at++;
        if (text_starts_nocase(at, "fail"))
            return true;
    }
    return false;
}

static bool dmarc_failed(const Config *config, Arena *arena, const Header *header) {
    if (config->trusted_authserv == NULL)
        return false;
    for (size_t i = 0; i < header->count; i++) {
        const HeaderField *field = &header->fields[i];
        if (text_equal_nocase(field->name, "Received") && !received_by_us(config, field->value))
            return false;
        if (text_equal_nocase(field->name, "Authentication-Results") && says_dmarc_fail(arena, field->value, config->trusted_authserv))
            return true;
    }
    return false;
}

/* The letters of ours whose tokens stand in the header: the first is the one answered; do they belong to two players? */
static int look_at_tokens(Store *store, const Config *config, Arena *arena, const ReadLetter *letter, Proof *proof, bool *ret_two, Error *error) {
    TokenFound found[TOKEN_FOUND_MAX];
    size_t count = token_find(arena, &letter->header, &store->key, config->address, found, TOKEN_FOUND_MAX);
    TokenPlace answered = TOKEN_SUBJECT;
    *ret_two = false;
    for (size_t i = 0; i < count; i++) {
        LetterOut out;
        /* To the envelope sender's address only machines write (RULINGS 29). */
        if (found[i].bounce)
            continue;
        int there = letter_out_by_token(store, arena, found[i].token, &out, error);
        if (there < 0)
            return -1;
        if (there == 0)
            continue;
        if (!proof->has_answered) {
            proof->answered = out;
            proof->has_answered = true;
            answered = found[i].place;
        } else if (out.player != proof->answered.player) {
            *ret_two = true;
        } else if (answered == TOKEN_ADDRESS && found[i].place == TOKEN_ADDRESS && out.game != proof->answered.game) {
            proof->two_games = true;
        }
    }
    return 0;
}

static int name_player(Store *store, Proof *proof, int64_t id, Error *error) {
    int found = player_get(store, id, &proof->player, error);
    proof->known = found == 1;
    return found < 0 ? -1 : 0;
}

int proof_of(Store *store, const Config *config, Arena *arena, const ReadLetter *letter, Proof *ret_proof, Error *error) {
    *ret_proof = (Proof){ .class = PROOF_NONE, .why = "" };
    if (letter->from == NULL) {
        ret_proof->why = "not exactly one From address";
        return 0;
    }
    bool two = false;
    if (look_at_tokens(store, config, arena, letter, ret_proof, &two, error) < 0)
        return -1;
    int64_t ids[PLAYERS_AT_ADDRESS_MAX];
    int count = players_by_address(store, letter->from, ids, error);
    if (count < 0)
        return -1;
    int64_t owner = ret_proof->has_answered ? ret_proof->answered.player : 0;
    if (ret_proof->has_answered && owner == 0)
        ret_proof->own = text_equal_nocase(ret_proof->answered.address, letter->from);
    for (int i = 0; i < count; i++)
        if (owner == ids[i])
            ret_proof->own = true;
    if (ret_proof->own && owner != 0) {
        if (name_player(store, ret_proof, owner, error) < 0)
            return -1;
    } else if (count == 1) {
        if (name_player(store, ret_proof, ids[0], error) < 0)
            return -1;
    } else {
        ret_proof->several = count > 1;
    }
    if (!ret_proof->has_answered)
        ret_proof->why = "no token of ours";
    else if (!ret_proof->own)
        ret_proof->why = "a token of ours, but of a letter to another address";
    else if (two)
        ret_proof->why = "tokens of two players";
    else if (dmarc_failed(config, arena, &letter->header))
        ret_proof->why = "DMARC failed";
    else
        ret_proof->class = PROOF_TOKEN;
    return 0;
}
