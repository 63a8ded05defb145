"""Reads a table of a lake over and over with an unmodified DuckDB, until its input ends.

Prints a line as soon as it has read once, and one with the number of reads and those that were wrong: each load adds
rows whose numbers have the sum 0, so every read of one version sees 0, and no fewer rows than the one before.
"""
import json, select, sys
import duckdb

given = json.loads(sys.argv[1])
lake = duckdb.connect()
for name in ("ducklake", "postgres_scanner", "httpfs"):
    lake.execute(f"LOAD '{given['extensions']}/{name}.duckdb_extension'")
lake.execute(
    f"CREATE SECRET (TYPE s3, KEY_ID '{given['key']}', SECRET '{given['secret']}', REGION 'us-east-1', "
    f"ENDPOINT '{given['endpoint']}', USE_SSL false, URL_STYLE 'path')"
)
lake.execute(f"ATTACH 'ducklake:postgres:{given['catalogue']}' AS lake (METADATA_SCHEMA 'gex_lake', READ_ONLY)")
reads = wrong = before = 0
kinds = ""
while True:
    rows, total, kinds = lake.execute(
        f"SELECT count(*), coalesce(sum(n), 0), max(typeof(n)) FROM lake.{given['table']}"
    ).fetchone()
    wrong += total != 0 or rows < before
    reads, before = reads + 1, rows
    if reads == 1:
        print("reading", flush=True)
    if select.select([sys.stdin], [], [], 0)[0]:
        break
print(json.dumps({"duckdb": duckdb.__version__, "reads": reads, "wrong": wrong, "rows": before, "type": kinds}))
