#!/bin/sh
# The container's entrypoint. Without arguments it is the component: it runs the config.json of KBC_DATADIR, or of
# /data, and exits with 0, 1 (the configuration or the API) or 2 (this program). With arguments it is the command:
# `docker run … validate --data /data`.
set -eu
app=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
umask 022
if [ "$#" -eq 0 ]; then
  exec node "$app/bin/component.js"
fi
exec node "$app/bin/gex.js" "$@"
