#!/usr/bin/env bash
# The worked requests with nothing but curl: the importer, a table, an export, its slices by signed addresses.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
call() { curl -sS --fail-with-body -H "X-StorageApi-Token: $STORAGE_TOKEN" "$@"; }
field() { node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).$1"; }
finished() {
  local job
  while job=$(call "$1") && [[ $(field status <<<"$job") =~ ^(waiting|processing)$ ]]; do sleep 0.2; done
  echo "$job"
}

printf 'id,name\n1,"a ""quoted"" one"\n2,"two\nlines"\n' >"$work/rows.csv"
call -X POST "$STORAGE_URL/v2/storage/buckets" -d name=curl -d stage=in >/dev/null
file=$(call -F "data=@$work/rows.csv" -F 'tags[]=curl' "$STORAGE_URL/upload-file" | field id)
job=$(call -X POST "$STORAGE_URL/v2/storage/branch/default/buckets/in.c-curl/tables-async" \
  --data-urlencode "dataFileId=$file" --data-urlencode 'name=rows' --data-urlencode 'delimiter=,' \
  --data-urlencode 'enclosure="' | field url)
[ "$(finished "$job" | field status)" = success ]

job=$(call -X POST "$STORAGE_URL/v2/storage/tables/in.c-curl.rows/export-async" -d gzip=0 | field url)
exported=$(finished "$job" | field results.file.id)
call "$STORAGE_URL/v2/storage/files/$exported?federationToken=1" >"$work/file.json"
curl -sS --fail "$(field url <"$work/file.json")" | field 'entries.length' | grep -qx 1

configuration='{"parameters":{"api":{"baseUrl":"https://example.com/"},"empty":{},"list":[]}}'
configs=$STORAGE_URL/v2/storage/components/ex-generic-v2/configs
call -X POST "$configs" -d name=Curl -d configurationId=curl >/dev/null
call -X PUT "$configs/curl" --data-urlencode "configuration=$configuration" | field version | grep -qx 2
call "$configs/curl" | field 'configuration.parameters.list.length' | grep -qx 0
call "$STORAGE_URL/v2/storage/tables/in.c-curl.rows/data-preview" | head -1 | grep -qx '"id","name"'
