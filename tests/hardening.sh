#!/bin/sh
# What the linker, the compiler and the service manager do against an attack, seen in what was
# built. Each look at a program also has to find fault with one built without any of it. TAP.
build=${EXEAT_BUILD:-.}
programs="$build/exeat $build/exeat-milter $build/exeat-relay"
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
. "${EXEAT_SOURCE:-.}/tests/tools/tap.sh"

# Complaints about one program.
place() { readelf -hW "$1" | grep -q 'Type: *DYN' || echo "$1 has a fixed place"; }
relro() { readelf -lW "$1" | grep -q GNU_RELRO || echo "$1: its tables stay writable"; }
now() { readelf -dW "$1" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || echo "$1 binds late"; }
stack() { readelf -lW "$1" | grep GNU_STACK | grep -q 'RW ' || echo "$1: stack to execute"; }
guard() { readelf -sW "$1" | grep -q __stack_chk_fail || echo "$1: unguarded stack"; }
fortify() { readelf -sW "$1" | grep -qE '__[a-z]+_chk' || echo "$1 is not fortified"; }
pages() { readelf -lW "$1" | grep LOAD | grep -q RWE && echo "$1 writes what it executes"; }
rpath() { readelf -dW "$1" | grep -qE 'RPATH|RUNPATH' && echo "$1 has a library path"; }

weak=$folder/weak
echo 'int main(int n, char **v) { char b[64]; return __builtin_snprintf(b, 64, "%s", v[n - 1]); }' \
    >"$folder/weak.c"
${CC:-cc} -o "$weak" "$folder/weak.c" -no-pie -fno-pie -fno-stack-protector -U_FORTIFY_SOURCE \
    -Wl,-z,norelro,-z,lazy,-z,execstack,-rpath,/nowhere 2>"$folder/errors" || weak=
loose=$folder/loose
echo 'void _start(void); void _start(void) {}' >"$folder/loose.c"
${CC:-cc} -o "$loose" "$folder/loose.c" -nostdlib -static -Wl,-N 2>>"$folder/errors" || weak=

# look TITLE CHECK [WEAK]
look() {
    if ! command -v readelf >/dev/null; then
        skip "$1" "readelf is not installed"
        return
    fi
    complaints=$(for program in $programs; do "$2" "$program"; done 2>&1)
    [ -z "$weak" ] || [ -n "$("$2" "${3:-$weak}")" ] ||
        complaints="$complaints this check finds nothing in a program without it"
    report "$1" "$complaints"
}
[ -n "$weak" ] || report "a weak program can be built to compare" "$(cat "$folder/errors")"
look "the programs lie where nobody knows" place
look "their tables are read-only" relro
look "all functions are bound at the start" now
look "the stack is no program" stack
look "no page is written and executed" pages "$loose"
look "no library comes from elsewhere" rpath
look "the stack is guarded" guard
if grep -q '^#define SANITIZED' "$build/config.h"; then
    skip "the C library is fortified" "built with a sanitizer"
else
    look "the C library is fortified" fortify
fi

# Exposure by systemd's own count, from 0 to 10.
# The doctor has to see the machine as the agent's user sees it.
for limit in exeat-milter:19 exeat-relay:19 exeat-doctor:39; do
    unit=${limit%:*}
    title="systemd counts at most ${limit#*:} tenths against $unit"
    if ! command -v systemd-analyze >/dev/null; then
        skip "$title" "systemd-analyze is not installed"
    elif ! [ -f "$build/contrib/systemd/$unit.service" ]; then
        report "$title" "contrib/systemd/$unit.service is not built"
    else
        said=$(systemd-analyze security --no-pager --offline=true "--threshold=${limit#*:}" \
            "$build/contrib/systemd/$unit.service" 2>&1) && said= ||
            said=$(echo "$said" | grep -E '^✗|exposure')
        report "$title" "$said"
    fi
done

tap_end
