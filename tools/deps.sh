#!/bin/bash
# Installs the packages that building (build) or testing, lint and fuzzing (test) need: on Debian and its kin with
# apt-get, as root or through sudo; elsewhere prints what is needed.
set -euo pipefail

build=(make gcc libc6-dev libetpan-dev libcurl4-gnutls-dev libsqlite3-dev libsodium-dev libicu-dev libcmark-dev
    libinih-dev libseccomp-dev libjansson-dev tzdata)
test=(python3 python3-pytest python3-pytest-xdist libcmocka-dev sqlite3 strace valgrind clang libclang-rt-14-dev clang-format clang-tidy
    cppcheck mandoc stockfish git)

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

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
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
as_root apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null
