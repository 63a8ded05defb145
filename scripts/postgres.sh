#!/usr/bin/env bash
# A PostgreSQL server in a folder of its own, for tests.
#
#   scripts/postgres.sh start FOLDER PORT [--durable]   makes the folder when it is missing, and starts; prints its URL
#   scripts/postgres.sh stop FOLDER [smart|fast|immediate]
#   scripts/postgres.sh standby FOLDER PORT PRIMARY_PORT   copies a running server and starts the copy as its standby
#   scripts/postgres.sh promote FOLDER                     makes the standby a server of its own
#   scripts/postgres.sh programs FOLDER                    fails where the programs are missing
#
# The programs are those of the distribution, or of PG_BIN. Everyone on this machine may connect as gex without a
# password. Without --durable nothing waits for the disk: fast, and lost with the machine.
set -euo pipefail

main() {
  local verb=${1:-} folder=${2:-}
  [ -n "$folder" ] || usage
  case $verb in
    start) start "$folder" "${3:-}" "${4:-}" ;;
    programs) [ -x "$(bin)/initdb" ] ;;
    standby) standby "$folder" "${3:-}" "${4:-}" ;;
    promote) as_user "$(bin)/pg_ctl" promote -D "$folder/data" -w >/dev/null ;;
    stop) as_user "$(bin)/pg_ctl" stop -D "$folder/data" -m "${3:-fast}" -w >/dev/null ;;
    *) usage ;;
  esac
}

usage() {
  sed -n '3,11p' "$0" | sed 's/^# \{0,1\}//' >&2
  exit 1
}

start() {
  local folder=$1 port=$2 durable=$3
  [ -n "$port" ] || usage
  mkdir -p "$folder"
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$folder"; fi
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
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$folder"; fi
  as_user "$(bin)/pg_basebackup" -d "host=127.0.0.1 port=$primary user=gex application_name=standby" \
    -D "$folder/data" -R -c fast --no-sync
  start "$folder" "$port" ''
}

# The server refuses to run as root.
as_user() {
  if [ "$(id -u)" -eq 0 ]; then
    (cd / && exec setpriv --reuid=postgres --regid=postgres --init-groups "$@")
  else
    "$@"
  fi
}

bin() {
  local found=${PG_BIN:-}
  [ -n "$found" ] || found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$found" ] || found=$(dirname "$(command -v initdb)")
  echo "$found"
}

main "$@"
