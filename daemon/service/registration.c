/* Registration: a stranger's `register NAME`, our confirm letter to the address it came from, his `confirm`. */
#include "daemon/service/settling.h"

#include "daemon/service/registration.h"
#include "daemon/service/views.h"

#include <stdio.h>
#include <string.h>

static json_t *name_field(const char *name) {
    return json_pack("{s:s}", "name", name);
}

static int refuse_name(Settling *settling, Verb verb, const char *code, const char *name, Error *error) {
    return settling_outcome(settling, verb, OUTCOME_REFUSED, code, name_field(name), error);
}

/* A player named "resign" could sign his letters with nothing else. */
static bool is_command(Settling *settling, const char *name) {
    CommandContext context = { .language = settling->service->config->language };
    CommandReading reading;
    return !command_read(settling->arena, name, &context, &reading) || reading.count > 0 ||
           text_equal_nocase(name, settling->service->config->name);
}

int do_register(Settling *settling, const Command *command, Error *error) {
    char name[PLAYER_NAME_MAX];
    int64_t other = 0, id = 0;
    if (settling->proof.known)
        return refuse_name(settling, command->verb, "already-registered", settling->proof.player.name, error);
    if (settling->service->config->registration != REGISTRATION_OPEN)
        return refuse_name(settling, command->verb, "registration-closed", command->argument, error);
    char address[ADDRESS_MAX];
    if (!player_name_clean(command->argument, name) || is_command(settling, name) || !address_clean(settling->read->from, address))
        return refuse_name(settling, command->verb, "name-bad", command->argument, error);
    int found = player_by_name(settling->store, name, &other, error);
    if (found != 0)
        return found < 0 ? -1 : refuse_name(settling, command->verb, "name-taken", name, error);
    if (registration_add(settling->store, address, name, settling->now, &id, error) < 0)
        return -1;
    char subject[48];
    snprintf(subject, sizeof subject, "registration %lld", (long long)id);
    if (timer_set(settling->store, subject, "expiry", settling->now + (Instant)REGISTRATION_HOURS * 3600, error) < 0)
        return -1;
    settling->scope = "registration";
    settling->ask = id;
    json_t *fields = name_field(name);
    json_object_set_new(fields, "hours", json_integer(REGISTRATION_HOURS));
    return settling_outcome(settling, command->verb, OUTCOME_ASKED, "registration-asked", fields, error);
}

int confirm_registration(Settling *settling, const Command *command, Error *error) {
    RegistrationRow row;
    int found = registration_get(settling->store, settling->proof.answered.ask, &row, error);
    if (found < 0)
        return -1;
    if (settling->proof.known)
        return refuse_name(settling, command->verb, "already-registered", settling->proof.player.name, error);
    if (found == 0 || strcmp(row.state, "open") != 0)
        return settling_outcome(settling, command->verb, OUTCOME_REFUSED, "registration-gone", name_field(found == 0 ? "" : row.name), error);
    const Config *config = settling->service->config;
    int64_t id = 0;
    int added = player_add(settling->store, row.name, row.address, config->language, config->timezone, settling->now, &id, error);
    if (added < 0)
        return -1;
    if (registration_finish(settling->store, row.id, added == 1 ? "done" : "expired", id, error) < 0)
        return -1;
    if (added == 0)
        return refuse_name(settling, command->verb, "name-taken", row.name, error);
    if (player_get(settling->store, id, &settling->proof.player, error) < 0)
        return -1;
    settling->proof.known = true;
    return settling_outcome(settling, command->verb, OUTCOME_DONE, "registered", name_field(row.name), error);
}
