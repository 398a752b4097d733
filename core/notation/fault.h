/* Fault: why what a token says cannot be played. Inside core/notation only. */
#ifndef EPISTLE_CORE_NOTATION_FAULT_H
#define EPISTLE_CORE_NOTATION_FAULT_H

#include "core/notation/shape.h"

/* For a SHAPE_MAN or SHAPE_CASTLING that fits no legal move: sets ret->fault and the squares
 * and pieces that belong to it (notation.h says which); ret->kind is READING_ILLEGAL. */
void fault_find(const Position *position, const Shape *shape, Reading *ret);

#endif
