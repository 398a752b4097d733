#include "core/chess/attacks.h"

/* Constant expressions of a file f and a rank r, 0–7; no macro within a macro, so that every checker can expand them. */
#define MAIN UINT64_C(0x8040201008040201)
#define ANTI UINT64_C(0x0102040810204080)
#define ALL_LINES(f, r)                                                                                                    \
    { (FILE_A << (f)) & ~(UINT64_C(1) << (8 * (r) + (f))), (RANK_1 << 8 * (r)) & ~(UINT64_C(1) << (8 * (r) + (f))),         \
      (MAIN << ((r) > (f) ? 8 * ((r) - (f)) : 0) >> ((f) > (r) ? 8 * ((f) - (r)) : 0)) & ~(UINT64_C(1) << (8 * (r) + (f))), \
      (ANTI << ((f) + (r) > 7 ? 8 * ((f) + (r) - 7) : 0) >> ((f) + (r) < 7 ? 8 * (7 - (f) - (r)) : 0))                     \
          & ~(UINT64_C(1) << (8 * (r) + (f))) }

const Lines LINES[64] = {
    ALL_LINES(0, 0), ALL_LINES(1, 0), ALL_LINES(2, 0), ALL_LINES(3, 0), ALL_LINES(4, 0), ALL_LINES(5, 0), ALL_LINES(6, 0), ALL_LINES(7, 0),
    ALL_LINES(0, 1), ALL_LINES(1, 1), ALL_LINES(2, 1), ALL_LINES(3, 1), ALL_LINES(4, 1), ALL_LINES(5, 1), ALL_LINES(6, 1), ALL_LINES(7, 1),
    ALL_LINES(0, 2), ALL_LINES(1, 2), ALL_LINES(2, 2), ALL_LINES(3, 2), ALL_LINES(4, 2), ALL_LINES(5, 2), ALL_LINES(6, 2), ALL_LINES(7, 2),
    ALL_LINES(0, 3), ALL_LINES(1, 3), ALL_LINES(2, 3), ALL_LINES(3, 3), ALL_LINES(4, 3), ALL_LINES(5, 3), ALL_LINES(6, 3), ALL_LINES(7, 3),
    ALL_LINES(0, 4), ALL_LINES(1, 4), ALL_LINES(2, 4), ALL_LINES(3, 4), ALL_LINES(4, 4), ALL_LINES(5, 4), ALL_LINES(6, 4), ALL_LINES(7, 4),
    ALL_LINES(0, 5), ALL_LINES(1, 5), ALL_LINES(2, 5), ALL_LINES(3, 5), ALL_LINES(4, 5), ALL_LINES(5, 5), ALL_LINES(6, 5), ALL_LINES(7, 5),
    ALL_LINES(0, 6), ALL_LINES(1, 6), ALL_LINES(2, 6), ALL_LINES(3, 6), ALL_LINES(4, 6), ALL_LINES(5, 6), ALL_LINES(6, 6), ALL_LINES(7, 6),
    ALL_LINES(0, 7), ALL_LINES(1, 7), ALL_LINES(2, 7), ALL_LINES(3, 7), ALL_LINES(4, 7), ALL_LINES(5, 7), ALL_LINES(6, 7), ALL_LINES(7, 7),
};
