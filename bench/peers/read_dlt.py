"""Reads the mock API with dlt's rest_api into CSV files: python read_dlt.py URL FOLDER [counted|children]"""

import os
import resource
import sys

import dlt
from dlt.sources.rest_api import rest_api_source

url, folder, *how = sys.argv[1:]
base, path = url.rsplit("/", 1)

resources = [
    {
        "name": "orders",
        "endpoint": {
            "path": path,
            "data_selector": "data",
            "paginator": {"type": "page_number", "base_page": 1, "page_param": "page", "total_path": None}
            if "counted" in how
            else {"type": "cursor", "cursor_path": "paging.next", "cursor_param": "after"},
        },
    }
]
if "children" in how:
    # as many threads as the others have requests at once
    os.environ["EXTRACT__WORKERS"] = "16"
    resources.append(
        {
            "name": "parcels",
            "parallelized": True,
            "endpoint": {"path": f"{path}/{{resources.orders.id}}/parcels", "paginator": "single_page"},
        }
    )
pipeline = dlt.pipeline(
    pipeline_name="bench",
    pipelines_dir=f"{folder}/work",
    destination=dlt.destinations.filesystem(f"file://{folder}/out"),
    dataset_name="bench",
)
source = rest_api_source({"client": {"base_url": f"{base}/"}, "resources": resources})
pipeline.run(source, loader_file_format="csv")

usage = resource.getrusage(resource.RUSAGE_SELF)
print("USAGE", usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
