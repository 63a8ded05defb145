#!/usr/bin/env bash
# The manual way of the documentation: prepare, `aws s3 cp`, table, export, `aws s3 cp` of each slice.
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
# Gives the command the credentials of a file: $1 is a JSON document, $2 the place of the credentials in it.
s3() {
  local json=$1 place=$2
  shift 2
  AWS_ACCESS_KEY_ID=$(field "$place.AccessKeyId" <"$json") \
    AWS_SECRET_ACCESS_KEY=$(field "$place.SecretAccessKey" <"$json") \
    AWS_SESSION_TOKEN=$(field "$place.SessionToken" <"$json") \
    AWS_DEFAULT_REGION=$(field region <"$json") AWS_CONFIG_FILE=/dev/null AWS_EC2_METADATA_DISABLED=true \
    "$AWS" --endpoint-url "$STORAGE_S3_URL" s3 "$@"
}

bucket=aws-$(date +%s%N)
node -e 'console.log("id,text"); for (let n = 0; n < 400000; n++) console.log(`${n},"value ${n} of the aws command"`)' >"$work/rows.csv"
call -X POST "$STORAGE_URL/v2/storage/buckets" -d "name=$bucket" >/dev/null
call -X POST "$STORAGE_URL/v2/storage/files/prepare" -d name=rows.csv -d federationToken=1 -d isEncrypted=1 >"$work/file.json"
s3 "$work/file.json" uploadParams.credentials cp --only-show-errors --sse AES256 "$work/rows.csv" \
  "s3://$(field uploadParams.bucket <"$work/file.json")/$(field uploadParams.key <"$work/file.json")"
job=$(call -X POST "$STORAGE_URL/v2/storage/buckets/in.c-$bucket/tables-async" -d name=rows \
  -d "dataFileId=$(field id <"$work/file.json")" | field url)
[ "$(finished "$job" | field results.rowsCount)" = 400000 ]

job=$(call -X POST "$STORAGE_URL/v2/storage/tables/in.c-$bucket.rows/export-async" -d gzip=0 | field url)
exported=$(finished "$job" | field results.file.id)
call "$STORAGE_URL/v2/storage/files/$exported?federationToken=1" >"$work/export.json"
curl -sS --fail "$(field url <"$work/export.json")" | field 'entries.map((entry) => entry.url).join("\n")' |
  while read -r slice; do
    s3 "$work/export.json" credentials cp --only-show-errors "$slice" "$work/slice"
    cat "$work/slice" >>"$work/joined.csv"
  done
tail -n +2 "$work/rows.csv" | sed 's/"//g' >"$work/expected"
sed 's/"//g' "$work/joined.csv" | cmp - "$work/expected"
