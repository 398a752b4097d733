/* SLOW: whether the tests run in surroundings ten or more times slower, so that what is long only for the sake of counts may be
 * shorter: AddressSanitizer, or what the Makefile says (valgrind). */
#ifndef EPISTLE_TESTS_UNIT_SLOW_H
#define EPISTLE_TESTS_UNIT_SLOW_H

#if defined(__SANITIZE_ADDRESS__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

#endif
