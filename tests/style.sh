#!/bin/sh
# What can be checked of our own rules is checked here. TAP.
source=${EXEAT_SOURCE:-.}
build=${EXEAT_BUILD:-.}
cd "$source" || exit 1
. tests/tools/tap.sh
files=$(find policy lib store milter relay cli tests -name '*.[ch]' ! -name '*-sql.h' | sort)

if command -v clang-format >/dev/null; then
    # shellcheck disable=SC2086
    report "clang-format has nothing to say" \
        "$(clang-format --dry-run $files 2>&1 | grep 'warning:' | head -n 20)"
else
    skip "clang-format has nothing to say" "clang-format is not installed"
fi

# home HEADER FILE...: only these may include it, tests aside.
home() {
    header=$1
    shift
    found=$(grep -lE "#include *<$header>" policy/* lib/* store/* milter/* relay/* cli/* 2>/dev/null)
    for file in $found; do
        case " $* " in
        *" $file "*) ;;
        *) echo "$file includes $header" ;;
        esac
    done
}
report "gmime lives in lib/mail alone" "$(home 'gmime/gmime\.h' $(ls lib/mail*))"
report "libcurl lives in lib/imap-curl alone" "$(home 'curl/curl\.h' lib/imap-curl.h)"
report "libmilter lives in milter/session alone" "$(home 'libmilter/mfapi\.h' milter/session.c)"
report "sqlite3 lives in store/db alone" "$(home 'sqlite3\.h' $(ls store/db*))"
report "openssl lives in relay/smtp, relay/password and relay/sums alone" \
    "$(home 'openssl/[a-z0-9]*\.h' $(ls relay/smtp* relay/password.c relay/sums.c))"

# arrows FOLDER ALLOWED...: our headers that a folder may include.
arrows() {
    folder=$1
    shift
    allowed=$(echo "$*" | tr ' ' '|')
    grep -nE '#include "' "$folder"/*.[ch] | grep -vE "#include \"($allowed)/" |
        grep -vE -- '-sql\.h"'
}
report "policy knows nobody, so no mail server (D27)" "$(arrows policy policy)"
report "lib knows policy alone" "$(arrows lib lib policy)"
report "store knows lib and policy alone" "$(arrows store store lib policy)"
report "programs do not include each other" "$(arrows milter milter lib policy
arrows relay relay store lib policy
arrows cli cli lib policy)"

# links PROGRAM FORBIDDEN...: shared libraries a program must not need.
links() {
    program=$build/$1
    shift
    needed=$(readelf -d "$program" 2>&1 | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
    [ -n "$needed" ] || echo "$program: nothing could be read"
    for library in $needed; do
        for word in "$@"; do
            case $library in "$word"*) echo "$program needs $library" ;; esac
        done
    done
}
if command -v readelf >/dev/null; then
    report "exeat-milter links no database, no TLS, no IMAP" \
        "$(links exeat-milter libsqlite3 libssl libcrypto libcurl)"
    report "exeat-relay links no MIME parser, no milter, and loads IMAP when it needs it" \
        "$(links exeat-relay libgmime libmilter libcurl)"
    report "exeat links no database, no TLS, no milter, and loads IMAP when it needs it" \
        "$(links exeat libsqlite3 libssl libcrypto libmilter libcurl)"
else
    skip "the programs link what they may" "readelf is not installed"
fi

if command -v mandoc >/dev/null; then
    report "the manual pages are well-formed" \
        "$(mandoc -Tlint -Wstyle man/*.[1578] 2>/dev/null | grep -v 'referenced manual not found')"
else
    skip "the manual pages are well-formed" "mandoc is not installed"
fi
report "every program has its manual page" "$(for page in exeat.1 exeat-milter.8 exeat-relay.8 \
    exeat.conf.5 exeat-policy.5 exeat-agent.7; do [ -s man/$page ] || echo "man/$page is missing"; done)"

# quickstart and check are for the sources.
missing_beside_readme() {
    place=$(mktemp -d) || return
    make -s -C "$1" install-data docdir="$place/doc" DESTDIR="$place/else" >"$place/said" 2>&1 ||
        cat "$place/said"
    for name in $(grep -o '`contrib/[a-z/A-Z.]*' README.md | tr -d '`'); do
        case $name in contrib/ | contrib/quickstart | contrib/check) continue ;; esac
        [ -e "$place/else$place/doc/$name" ] || echo "$name is not installed"
    done
    rm -rf "$place"
}
report "what the README points at is installed with it" "$(missing_beside_readme "$build")"

tap_end
