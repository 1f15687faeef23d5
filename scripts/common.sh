# Shared by the scripts of this folder: source it, do not run it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
target=${CARGO_TARGET_DIR:-$root/target}
case $target in /*) ;; *) target=$root/$target ;; esac
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}

# step NAME COMMAND…: runs it, says how long it took, stops the script when it fails.
step() {
  local name=$1 began=$SECONDS
  shift
  printf '\n== %s\n' "$name"
  if "$@"; then
    printf '== %s: ok, %d s\n' "$name" $((SECONDS - began))
  else
    printf '== %s: FAILED after %d s\n' "$name" $((SECONDS - began)) >&2
    exit 1
  fi
}

# lacking WHAT: a part cannot run here. In CI that is a failure; elsewhere it is said at the end.
lacks=()
lacking() {
  printf 'LACKING: %s\n' "$1" >&2
  [ "${CI:-}" != true ] || exit 1
  lacks+=("$1")
}

conclude() {
  if [ ${#lacks[@]} -gt 0 ]; then
    printf '\n%s: passed, but these parts did not run:\n' "$1"
    printf '  - %s\n' "${lacks[@]}"
  else
    printf '\n%s: everything passed in %d s\n' "$1" "$SECONDS"
  fi
}

# tests ARGS…: cargo-nextest where it is installed, else the test runner of cargo.
tests() {
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --no-tests=fail "$@"
  else
    cargo test "$@"
  fi
}
