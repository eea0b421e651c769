# What a test in shell tells (TAP). To be sourced; tap_end is the last thing it does.
tap_number=0
tap_failed=0

# report NAME COMPLAINTS: passes when there are none.
report() {
    tap_number=$((tap_number + 1))
    if [ -z "$2" ]; then
        echo "ok $tap_number - $1"
    else
        tap_failed=1
        echo "not ok $tap_number - $1"
        echo "$2" | sed 's/^/# /'
    fi
}

# skip NAME REASON
skip() {
    tap_number=$((tap_number + 1))
    echo "ok $tap_number - $1 # SKIP $2"
}

tap_end() {
    echo "1..$tap_number"
    exit $tap_failed
}
