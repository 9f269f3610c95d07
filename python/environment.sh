# Sourced: the Python environment $tools with what tests the module, at these versions.
cache=${FERROWAVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ferrowave}
tools=$cache/python-tools
wanted="numpy==2.4.6 pytest==9.2.0 mypy==2.4.1"
if [ "$(cat "$tools/made" 2> /dev/null)" != "$wanted" ]; then
    python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' ||
        { echo "the tests need Python 3.11 or later with venv" >&2; exit 1; }
    python3 -m venv --clear "$tools"
    # shellcheck disable=SC2086 # A list.
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check $wanted
    echo "$wanted" > "$tools/made"
fi
