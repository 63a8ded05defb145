#!/bin/sh
# The image is in order when the command starts and the data folder can be used.
set -eu
app=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
data=${KBC_DATADIR:-/data}
node "$app/bin/gex.js" --version >/dev/null
if [ ! -r "$data" ] || [ ! -w "$data" ]; then
  echo "The data folder $data cannot be read and written by user $(id -u)." >&2
  exit 1
fi
