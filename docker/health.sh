#!/bin/sh
# With an address: the service there answers. Without one, the image is in order when the command starts and the data
# folder can be used.
set -eu
app=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
if [ "$#" -gt 0 ]; then
  exec node -e '
    const [address] = process.argv.slice(1);
    fetch(address, { signal: AbortSignal.timeout(5000) })
      .then(({ ok, status }) => ok || Promise.reject(new Error(`it answers with status ${status}`)))
      .catch((error) => {
        console.error(`${address} is not in order: ${error.cause?.message ?? error.message}`);
        process.exitCode = 1;
      });
  ' "$1"
fi
data=${KBC_DATADIR:-/data}
node "$app/bin/gex.js" --version >/dev/null
if [ ! -r "$data" ] || [ ! -w "$data" ]; then
  echo "The data folder $data cannot be read and written by user $(id -u)." >&2
  exit 1
fi
