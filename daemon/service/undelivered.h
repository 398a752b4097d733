/* A notice that did not reach its player: the opponent and the arbiter are told, once (states O4, O5). */
#ifndef EPISTLE_DAEMON_SERVICE_UNDELIVERED_H
#define EPISTLE_DAEMON_SERVICE_UNDELIVERED_H

#include "daemon/service/service.h"
#include "daemon/store/letters_out.h"

/* letter: the notice, in the state before this refusal. words: the server's, shown to the arbiter alone. Letters that are
 * no notice in a game, and refusals after the first, tell nobody. Works inside the caller's transaction. */
int undelivered_tell(Service *service, const LetterOut *letter, const char *words, bool given_up, Error *error);

#endif
