"""Reads the mock API with the Airbyte CDK into a file of its messages: python read_cdk.py URL FOLDER [counted|children]"""

import json
import os
import resource
import sys

from airbyte_cdk.entrypoint import AirbyteEntrypoint
from airbyte_cdk.models import (
    AirbyteStream,
    ConfiguredAirbyteCatalog,
    ConfiguredAirbyteCatalogSerializer,
    ConfiguredAirbyteStream,
    DestinationSyncMode,
    SyncMode,
)
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource

url, folder, *how = sys.argv[1:]
base, path = url.rsplit("/", 1)


def stream(name, retriever):
    schema = {"type": "InlineSchemaLoader", "schema": {"type": "object", "additionalProperties": True}}
    return {"type": "DeclarativeStream", "name": name, "primary_key": [], "schema_loader": schema, "retriever": retriever}


def retriever(path, extractor, **more):
    return {
        "type": "SimpleRetriever",
        "requester": {"type": "HttpRequester", "url_base": base, "path": path, "http_method": "GET"},
        "record_selector": {"type": "RecordSelector", "extractor": {"type": "DpathExtractor", "field_path": extractor}},
        **more,
    }


orders = stream(
    "orders",
    retriever(
        f"/{path}",
        ["data"],
        paginator={
            "type": "DefaultPaginator",
            "page_token_option": {
                "type": "RequestOption",
                "inject_into": "request_parameter",
                "field_name": "page" if "counted" in how else "after",
            },
            "pagination_strategy": {"type": "PageIncrement", "start_from_page": 1, "inject_on_first_request": True}
            if "counted" in how
            else {
                "type": "CursorPagination",
                "cursor_value": "{{ response.get('paging', {}).get('next') }}",
                "stop_condition": "{{ not response.get('paging', {}).get('next') }}",
            },
        },
    ),
)
streams = [orders]
if "children" in how:
    router = {
        "type": "SubstreamPartitionRouter",
        "parent_stream_configs": [
            {"type": "ParentStreamConfig", "parent_key": "id", "partition_field": "order", "stream": orders}
        ],
    }
    child = retriever(f"/{path}/{{{{ stream_partition.order }}}}/parcels", [], partition_router=router)
    streams.append(stream("parcels", child))

manifest = {
    "version": "6.0.0",
    "type": "DeclarativeSource",
    "check": {"type": "CheckStream", "stream_names": ["orders"]},
    "spec": {"type": "Spec", "connection_specification": {"type": "object", "properties": {}}},
    "streams": streams,
    # as many as the others have requests at once
    **({"concurrency_level": {"type": "ConcurrencyLevel", "default_concurrency": 16}} if how else {}),
}
catalog = ConfiguredAirbyteCatalog(
    streams=[
        ConfiguredAirbyteStream(
            stream=AirbyteStream(name=each["name"], json_schema={}, supported_sync_modes=[SyncMode.full_refresh]),
            sync_mode=SyncMode.full_refresh,
            destination_sync_mode=DestinationSyncMode.overwrite,
        )
        for each in streams
    ]
)
os.makedirs(folder, exist_ok=True)
files = {"config": {}, "catalog": ConfiguredAirbyteCatalogSerializer.dump(catalog)}
for name, content in files.items():
    with open(f"{folder}/{name}.json", "w") as file:
        json.dump(content, file)
source = ConcurrentDeclarativeSource(catalog=catalog, config={}, state=None, source_config=manifest)
args = AirbyteEntrypoint.parse_args(
    ["read", "--config", f"{folder}/config.json", "--catalog", f"{folder}/catalog.json"]
)
with open(f"{folder}/messages.jsonl", "w") as out:
    for message in AirbyteEntrypoint(source).run(args):
        out.write(f"{message}\n")

usage = resource.getrusage(resource.RUSAGE_SELF)
print("USAGE", usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
