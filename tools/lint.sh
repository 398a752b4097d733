#!/bin/bash
# The rules of the house that a script can see; each part prints what breaks it. `tools/lint.sh PART …` runs some of them.
set -uo pipefail
cd "$(dirname "$0")/.."
B=${B:-build}
CC=${CC:-gcc}
INCLUDES=(-std=c17 -D_GNU_SOURCE -I.)
mapfile -t sources < <(find core daemon tests -name '*.c' | sort)
mapfile -t headers < <(find core daemon tests -name '*.h' | sort)
mapfile -t product < <(find core daemon -name '*.[ch]' | sort)

# search PATTERN FILE …: in code alone; comments and literals are blanked, so that words in them are no findings.
search() {
    perl -0777 -ne '
        BEGIN { $pattern = shift }
        s{/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27}{ my $t = $&; $t =~ s/[^\n]/ /g; $t }gse;
        my $line = 0;
        for (split /\n/) { $line++; print "$ARGV:$line:$_\n" if /$pattern/ }' "$@"
}

part_banned() { # functions with a better one in core/base/str.h or POSIX
    search '(?<![A-Za-z0-9_>.])(strcpy|strcat|strncat|stpcpy|sprintf|vsprintf|strtok|atoi|atol|atof|sscanf|gets|localtime|gmtime|ctime|asctime|tmpnam|mktemp|alloca)\s*\(' "${sources[@]}" "${headers[@]}"
    search '(?<![A-Za-z0-9_>.])(system|popen)\s*\(' "${product[@]}"
}
part_world() { # the clock, chance and waiting belong to the world (DESIGN decision 5); a monotonic clock for time limits does not
    local files=()
    mapfile -t files < <(printf '%s\n' "${product[@]}" | grep -v '/world_real\.c$')
    search '(?<![A-Za-z0-9_>.])((time|rand|srand|drand48|arc4random|getrandom|randombytes\w*|gettimeofday|sleep|usleep|nanosleep)\s*\(|random\s*\(\s*\)|clock_gettime\s*\((?!\s*CLOCK_MONOTONIC))' "${files[@]}"
}
part_length() {
    awk 'FNR == 1 { if (name != "" && lines > 800) print name ": " lines " lines, 800 at most"; name = FILENAME } { lines = FNR }
         END { if (lines > 800) print name ": " lines " lines, 800 at most" }' "${sources[@]}" "${headers[@]}"
}
part_layout() { # tabs, blanks at line ends, over-long lines
    grep -nHP '\t' "${sources[@]}" "${headers[@]}" | sed 's/$/  ← a tab/'
    grep -nHP '\s$' "${sources[@]}" "${headers[@]}" | sed 's/$/  ← a blank at the end/'
    local file
    for file in "${sources[@]}" "${headers[@]}"; do
        [ -z "$(tail -c1 "$file")" ] || echo "$file: no line end at the end"
    done
    # a line may be longer for a literal that is better not broken
    perl -CSD -ne 'chomp; my $n = length; s/"(?:\\.|[^"\\])*"/""/g; print "$ARGV:$.: $n columns, 160 at most\n" if length > 160 || $n > 240; close ARGV if eof' \
        "${sources[@]}" "${headers[@]}"
}
part_layers() { # core: event → game → notation → chess → base; daemon → core; nobody → tests
    perl -ne '
        BEGIN { %rank = (base => 0, chess => 1, notation => 2, game => 3, event => 4);
        }
        close ARGV if eof; # and so begin to count lines anew
        next unless /^\s*#\s*include\s*["<]((?:core|daemon|tests)\/[^">]+)/;
        my ($to, $from) = ($1, $ARGV);
        my ($fa, $fb) = split m{/}, $from; my ($ta, $tb) = split m{/}, $to;
        my $bad = $ta eq "tests" && $fa ne "tests"
            || $fa eq "core" && ($ta ne "core" || $rank{$tb} > $rank{$fb})
            || $fa eq "daemon" && $ta eq "daemon" && $tb eq "verbs" && $fb ne "verbs" && $from ne "daemon/main.c";
        print "$from: $to is above it\n" if $bad;' "${product[@]}"
    grep -nHE '#\s*include\s*<(sqlite3|curl|libetpan|unicode|cairo|cmark|sodium|jansson|ini|seccomp|time|sys/|unistd|fcntl)' core/*/*.[ch]
}
part_core() { # core links with libc alone and asks it for no file, clock or chance
    local out
    out=$(mktemp -d)
    echo 'int main(void) { return 0; }' >"$out/main.c"
    "$CC" -pie -fPIE -nodefaultlibs -o "$out/core" "$out/main.c" -Wl,--whole-archive "$B/libcore.a" -Wl,--no-whole-archive -lc -lgcc 2>&1
    # what is wanted from outside, but for libc's pure functions, memory and what compilers put in by themselves
    comm -23 <(nm -u "$B/libcore.a" | awk 'NF == 2 { print $2 }' | sort -u) <(nm --defined-only "$B/libcore.a" | awk 'NF == 3 { print $3 }' | sort -u) |
        grep -vE '^((__)?(mem|str|bcmp|v?snprintf)[a-z]*(_chk)?|malloc|calloc|realloc|free|qsort|bsearch)$' |
        grep -vE '^(__stack_chk_fail|__cpu_(model|indicator_init)|_GLOBAL_OFFSET_TABLE_|__(asan|ubsan|gcov|sanitizer|tsan)_.*)$' |
        sed 's/$/: core must not call this/'
    rm -rf "$out"
}
part_headers() { # each compiles alone
    local file
    for file in "${headers[@]}"; do
        "$CC" "${INCLUDES[@]}" -Wall -Wextra -fsyntax-only -x c "$file" 2>&1 | grep -v 'pragma once'
    done
}
part_manuals() {
    local pages=()
    mapfile -t pages < <(find docs -name '*.[1578]' | sort)
    [ ${#pages[@]} -eq 0 ] || mandoc -Tlint -Wwarning "${pages[@]}"
}
part_paths() { # no path of somebody's machine
    git grep -nE '(^|[^A-Za-z0-9_.-])/(wor[k]|far[m]|roo[t]|hom[e])/' -- . ':!tests/data' ':!tests/fuzz/corpus'
}
part_tidy() {
    printf '%s\n' "${product[@]}" | grep '\.c$' |
        xargs -P "$(nproc)" -n 4 bash -c 'clang-tidy --quiet "$@" -- -std=c17 -D_GNU_SOURCE -I. 2>/dev/null' tidy | grep -E 'warning:|error:'
}
part_cppcheck() {
    cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem \
        --suppress=internalAstError '-Djson_array_foreach(a,i,v)=for (;;)' '-Djson_object_foreach(o,k,v)=for (;;)' \
        -D_GNU_SOURCE -I. -j "$(nproc)" --template='{file}:{line}: {id}: {message}' core daemon 2>&1
}

parts=(banned world length layout layers core headers manuals paths cppcheck tidy)
[ $# -gt 0 ] && parts=("$@")
failed=0
for part in "${parts[@]}"; do
    found=$("part_$part")
    if [ -n "$found" ]; then
        printf '== %s\n%s\n' "$part" "$found"
        failed=1
    fi
done
[ $failed = 0 ] && echo "lint: ${#parts[@]} parts, nothing found"
exit $failed
