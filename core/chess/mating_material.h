/* Material: which men can never mate, whatever the opponent's do (Laws 5.2b, 6.9).
 *
 * True where `side` has by material alone no mate ever: a bare king; king and knight against
 * a king with queens or nothing; king and bishops that all stand on one square colour
 * against a king with rooks, queens, bishops of that colour or nothing. The mate or stalemate
 * that stands on the board is to be asked about before. */
#ifndef EPISTLE_CORE_CHESS_MATING_MATERIAL_H
#define EPISTLE_CORE_CHESS_MATING_MATERIAL_H

#include "core/chess/position.h"

bool mating_material_lacks(const Position *position, Colour side);

#endif
