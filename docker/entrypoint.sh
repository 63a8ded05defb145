#!/bin/sh
# The container's entrypoint. Without arguments it is the component: it runs the config.json of KBC_DATADIR, or of
# /data, and exits with 0, 1 (the configuration or the API) or 2 (this program). With arguments it is the command:
# `docker run … validate --data /data`. KBC_TOKEN_FILE names a file with the token of the storage, such as a secret.
set -eu
app=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
umask 022
if [ -n "${KBC_TOKEN_FILE:-}" ]; then
  if [ ! -r "$KBC_TOKEN_FILE" ]; then
    echo "The file $KBC_TOKEN_FILE of KBC_TOKEN_FILE cannot be read by user $(id -u)." >&2
    exit 1
  fi
  KBC_TOKEN=$(cat -- "$KBC_TOKEN_FILE")
  export KBC_TOKEN
fi
if [ "$#" -eq 0 ]; then
  exec node "$app/bin/component.js"
fi
exec node "$app/bin/gex.js" "$@"
