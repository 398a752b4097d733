#!/bin/bash
# Installs the packages that building (build) or testing, lint and fuzzing (test) need: on Debian and its kin with
# apt-get, as root or through sudo; elsewhere prints what is needed. The tests start mail servers of their own for a
# while: the machine's are neither started nor enabled by this, and one that was there before is left as it is.
set -euo pipefail

build=(make gcc libc6-dev libetpan-dev libcurl4-gnutls-dev libsqlite3-dev libsodium-dev libicu-dev libcmark-dev
    libinih-dev libseccomp-dev libjansson-dev libsystemd-dev ca-certificates tzdata)
test=(python3 python3-pytest python3-pytest-xdist libcmocka-dev sqlite3 strace valgrind clang libclang-rt-14-dev clang-format clang-tidy
    cppcheck mandoc stockfish pgn-extract gcovr git dovecot-imapd dovecot-pop3d dovecot-lmtpd postfix openssl isync systemd)

case "${1-}" in
build) wanted=("${build[@]}") ;;
test) wanted=("${test[@]}") ;;
*) echo "usage: tools/deps.sh build|test" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    printf 'This system has no apt-get. Please install what these Debian packages hold, then go on without this target:\n' >&2
    printf '    %s\n' "${wanted[@]}" >&2
    exit 1
fi

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }
missing=()
for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# Debian has one mail transport agent at a time: postfix would throw out another one with all its settings.
for i in "${!missing[@]}"; do
    [ "${missing[i]}" = postfix ] || continue
    other=$(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' | awk '$1 == "installed" && /mail-transport-agent/ { print $2 }')
    if [ -n "$other" ]; then
        echo "tools/deps.sh: postfix is not installed, as it would replace $other here; tests that need it will fail" >&2
        unset "missing[i]"
    fi
done
missing=(${missing[@]+"${missing[@]}"})
[ ${#missing[@]} -gt 0 ] || exit 0

if ! [ "$(id -u)" = 0 ] && ! command -v sudo >/dev/null; then
    echo "tools/deps.sh: root is needed to install ${missing[*]}: run this target as root" >&2
    exit 1
fi
as_root() { if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"; else sudo DEBIAN_FRONTEND=noninteractive "$@"; fi; }
as_root apt-get update -q </dev/null
# Newer releases have the sanitizers' library under another number.
for i in "${!missing[@]}"; do
    if [ "${missing[i]}" = libclang-rt-14-dev ] && ! apt-cache show libclang-rt-14-dev >/dev/null 2>&1; then
        missing[i]=libclang-rt-dev
    fi
done

# Servers that come with this installation stay down: while it runs by policy-rc.d, where the machine has none of its own, and
# afterwards by being disabled.
servers=()
if [ "$1" = test ]; then
    is_installed dovecot-core || servers+=(dovecot)
    is_installed postfix || servers+=(postfix)
fi
policy=/usr/sbin/policy-rc.d
if [ ${#servers[@]} -gt 0 ] && ! [ -e "$policy" ]; then
    trap 'as_root rm -f "$policy"' EXIT
    pattern=$(printf '|%s*' "${servers[@]}")
    printf '#!/bin/sh\n# Of tools/deps.sh of Epistle, for as long as it installs.\nfor word; do case $word in %s) exit 101 ;; esac; done\nexit 0\n' \
        "${pattern#|}" | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
fi
as_root apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
for server in ${servers[@]+"${servers[@]}"}; do
    [ -e "/etc/init.d/$server" ] || continue # it was not installed after all
    if [ -d /run/systemd/system ]; then
        as_root systemctl -q disable --now "$server.service"
        [ "$server" != dovecot ] || as_root systemctl -q disable --now dovecot.socket 2>/dev/null || true
    else
        as_root "/etc/init.d/$server" stop >/dev/null 2>&1 || true
        as_root update-rc.d "$server" disable >/dev/null
    fi
done
