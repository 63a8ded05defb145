"""The worked requests with boto3: prepare, upload, table, export, slices."""
import csv
import gzip
import io
import json
import os
import time
import urllib.request

import boto3
from botocore.exceptions import ClientError

URL = os.environ["STORAGE_URL"]
S3_URL = os.environ["STORAGE_S3_URL"]
BUCKET = "boto-%d" % os.getpid()  # one for each python, though they may have the same boto3


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    address = path if path.startswith("http") else URL + "/v2/storage/" + path
    request = urllib.request.Request(address, data=data, method=method)
    request.add_header("X-StorageApi-Token", os.environ["STORAGE_TOKEN"])
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as response:
        text = response.read()
    return json.loads(text) if text else None


def finished(job):
    while job["status"] in ("waiting", "processing"):
        time.sleep(0.1)
        job = call("GET", job["url"])
    assert job["status"] == "success", job
    return job


def store(file, credentials):
    return boto3.resource(
        "s3",
        endpoint_url=S3_URL,
        region_name=file["region"],
        aws_access_key_id=credentials["AccessKeyId"],
        aws_secret_access_key=credentials["SecretAccessKey"],
        aws_session_token=credentials["SessionToken"],
    )


rows = [[str(n), 'value "%d"' % n, "line\nend"] for n in range(200_000)]
text = io.StringIO()
writer = csv.writer(text, lineterminator="\n")
writer.writerows([["id", "text", "more"], *rows])
content = text.getvalue().encode()

call("POST", "buckets", {"name": BUCKET})
for name, body in (("plain.csv", content), ("packed.csv.gz", gzip.compress(content, 1))):
    asked = {"name": name, "federationToken": 1, "isEncrypted": True, "sizeBytes": len(body)}
    file = call("POST", "files/prepare", asked)
    params = file["uploadParams"]
    s3 = store(file, params["credentials"])
    extra = {"ServerSideEncryption": params["x-amz-server-side-encryption"], "ACL": params["acl"]}
    # Above 8 MB boto3 sends parts.
    s3.Bucket(params["bucket"]).upload_fileobj(io.BytesIO(body), params["key"], ExtraArgs=extra)
    try:
        s3.Object(params["bucket"], params["key"] + "x").put(Body=b"", **extra)
        raise AssertionError("another key was written")
    except ClientError as error:
        assert error.response["Error"]["Code"] == "AccessDenied", error
    table = name.split(".", 1)[0]
    given = {"name": table, "dataFileId": file["id"], "primaryKey": "id"}
    job = finished(call("POST", "buckets/in.c-%s/tables-async" % BUCKET, given))
    assert job["results"]["rowsCount"] == len(rows), job

    exported = finished(call("POST", "tables/%s/export-async" % job["results"]["id"], {"gzip": True}))
    file = call("GET", "files/%d?federationToken=1" % exported["results"]["file"]["id"])
    s3 = store(file, file["credentials"])
    manifest = json.loads(urllib.request.urlopen(file["url"]).read())
    joined = b""
    for entry in manifest["entries"]:
        bucket, key = entry["url"][len("s3://"):].split("/", 1)
        target = io.BytesIO()
        s3.Bucket(bucket).download_fileobj(key, target)
        joined += target.getvalue()
    found = list(csv.reader(io.StringIO(gzip.decompress(joined).decode())))
    assert sorted(found) == sorted(rows), "the rows differ"
