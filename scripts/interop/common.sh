# Shared by the scripts of this folder: source it.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# python_at FOLDER REQUIREMENTS: a virtual environment with these packages, made once.
python_at() {
  if [ ! -x "$1/bin/python" ] || ! cmp -s "$2" "$1/requirements.txt"; then
    rm -rf "$1"
    python3 -m venv "$1" || { echo "python3 has no venv: install python3-venv" >&2; return 1; }
    "$1/bin/pip" install --quiet --disable-pip-version-check --requirement "$2"
    install -m 644 "$2" "$1/requirements.txt"
  fi
}

# node_at FOLDER PACKAGE_JSON: the same for npm.
node_at() {
  if [ ! -d "$1/node_modules" ] || ! cmp -s "$2" "$1/package.json.done"; then
    rm -rf "$1"
    mkdir -p "$1"
    install -m 644 "$2" "$1/package.json"
    npm install --prefix "$1" --silent --no-audit --no-fund --no-package-lock
    install -m 644 "$2" "$1/package.json.done"
  fi
}

build_sut() {
  build_examples sut
}

# build_examples BIN…
build_examples() {
  # shellcheck disable=SC2046
  cargo build --quiet --package portcullis-examples $(printf -- '--bin %s ' "$@") --all-features
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

server_pid=
# start_server PORT COMMAND…: sets `base` to its address when it shows a card there.
start_server() {
  base=http://127.0.0.1:$1
  shift
  "$@" &
  server_pid=$!
  for _ in $(seq 150); do
    if python3 -c "import urllib.request as u; u.urlopen('$base/.well-known/agent-card.json')" 2>/dev/null; then
      return 0
    fi
    kill -0 "$server_pid" 2>/dev/null || { echo "the server ended: $*" >&2; return 1; }
    sleep 0.1
  done
  echo "the server did not answer at $base: $*" >&2
  return 1
}

# start_sut NAME=VALUE…
start_sut() {
  local port
  port=$(free_port)
  start_server "$port" env SUT_HTTP_PORT="$port" SUT_GRPC_PORT=0 "$@" "$target/debug/sut"
}

stop_server() {
  [ -z "$server_pid" ] || { kill "$server_pid" 2>/dev/null && wait "$server_pid" 2>/dev/null || true; }
  server_pid=
}
trap stop_server EXIT
