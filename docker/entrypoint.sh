#!/bin/sh
# The container's entrypoint. Without arguments it is the component: it runs the config.json of KBC_DATADIR, or of
# /data, and exits with 0, 1 (the configuration or the API) or 2 (this program). With arguments it is the command:
# `docker run … validate --data /data`. KBC_TOKEN_FILE names a file with the token of the storage, such as a secret; so do
# GEX_DATABASE_URL_FILE, GEX_S3_ACCESS_KEY_FILE and GEX_S3_SECRET_KEY_FILE with what a service needs.
set -eu
app=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
umask 022
for name in KBC_TOKEN GEX_DATABASE_URL GEX_S3_ACCESS_KEY GEX_S3_SECRET_KEY; do
  eval "file=\${${name}_FILE:-}"
  [ -n "$file" ] || continue
  if [ ! -r "$file" ]; then
    echo "The file $file of ${name}_FILE cannot be read by user $(id -u)." >&2
    exit 1
  fi
  eval "$name=\$(cat -- \"\$file\")"
  export "${name?}"
done
if [ "$#" -eq 0 ]; then
  exec node "$app/bin/component.js"
fi
exec node "$app/bin/gex.js" "$@"
