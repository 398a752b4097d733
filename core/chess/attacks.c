#include "core/chess/attacks.h"

/* Constant expressions of a file f and a rank r, 0–7. */
#define MAIN UINT64_C(0x8040201008040201)
#define ANTI UINT64_C(0x0102040810204080)
#define UP(ranks) ((ranks) > 0 ? 8 * (ranks) : 0)
#define SQUARE(f, r) (UINT64_C(1) << (8 * (r) + (f)))
#define ALL_LINES(f, r)                                                                           \
    { (FILE_A << (f)) & ~SQUARE(f, r), (RANK_1 << 8 * (r)) & ~SQUARE(f, r),                       \
      (MAIN << UP((r) - (f)) >> UP((f) - (r))) & ~SQUARE(f, r),                                   \
      (ANTI << UP((f) + (r) - 7) >> UP(7 - (f) - (r))) & ~SQUARE(f, r) }
#define ROW(r)                                                                                    \
    ALL_LINES(0, r), ALL_LINES(1, r), ALL_LINES(2, r), ALL_LINES(3, r), ALL_LINES(4, r),           \
    ALL_LINES(5, r), ALL_LINES(6, r), ALL_LINES(7, r)

const Lines LINES[64] = { ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7) };
