/* config/epistle.conf.example within the program: `check --init` needs it wherever the program was put. */
#include "daemon/verbs/checks.h"

__asm__(".pushsection .rodata\n"
        ".global first_configuration_\n"
        ".hidden first_configuration_\n"
        "first_configuration_:\n"
        ".incbin \"config/epistle.conf.example\"\n"
        ".byte 0\n"
        ".popsection\n");

extern const char first_configuration_[] __attribute__((visibility("hidden")));

const char *checks_first_configuration(void) {
    return first_configuration_;
}
