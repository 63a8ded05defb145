"""What a manifest says of its streams, and the moment at which they are read."""

import json
import os
import re
from datetime import datetime, timedelta, timezone

NOW = datetime(2024, 7, 1, 12, 30, 0, 250000, tzinfo=timezone.utc)
START = NOW.replace(microsecond=0) - timedelta(days=42)
# each run is later than the one before, at another time of its day
LATER = [timedelta(), timedelta(days=3, hours=14, minutes=7, seconds=5), timedelta(days=33, hours=-9)]
FORMATS = ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"]


def walk(node):
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def chains(template, name):
    """The paths that a template reads of a variable: response.a, response['a'].get('b')."""
    step = r"(?:\.get\(\s*['\"]([^'\"]+)['\"][^()]*(?:\{\}|\(\))?[^()]*\)|\.(\w+)|\[\s*['\"]([^'\"]+)['\"]\s*\]|\[(\d+)\])"
    found = []
    for match in re.finditer(rf"(?<![\w.'\"]){name}({step}+)", template):
        path = []
        for get, dot, sub, at in re.findall(step, match.group(1)):
            key = get or sub or dot or int(at)
            if dot and dot in ("get", "items", "keys", "values", "split", "strip", "replace", "lower", "upper"):
                break
            path.append(key)
        if path and tuple(path) not in found:
            found.append(tuple(path))
    return found


def put(target, path, value):
    """Sets a value at a path, unless something else than an object stands in the way."""
    for at, key in enumerate(path[:-1]):
        if isinstance(target, dict):
            target = target.setdefault(key, [{}] if isinstance(path[at + 1], int) else {})
        elif isinstance(target, list) and isinstance(key, int) and key < len(target):
            target = target[key]
        else:
            return
    if isinstance(target, dict):
        target[path[-1]] = value
    elif isinstance(target, list) and isinstance(path[-1], int) and path[-1] < len(target):
        target[path[-1]] = value


class Known:
    """Streams of a manifest by their names, parents included."""

    def __init__(self, manifest, package, config):
        self.config = config
        self.package = package
        self.streams = {}
        self.keys = {}
        for node in walk(manifest):
            if node.get("type") == "DeclarativeStream" and isinstance(node.get("name"), str):
                self.streams.setdefault(node["name"], node)
            if node.get("type") == "ParentStreamConfig" and isinstance(node.get("stream"), dict):
                name = node["stream"].get("name")
                paths = [re.split(r"[./]", str(node.get("parent_key", "id")))] + list(node.get("extra_fields") or [])
                self.keys.setdefault(name, []).extend(paths)
        self.schemas = {}

    def stream(self, name):
        return self.streams.get(name, {})

    def schema(self, name):
        if name not in self.schemas:
            self.schemas[name] = self._schema(name)
        return self.schemas[name]

    def _schema(self, name):
        loaders = self.stream(name).get("schema_loader") or {}
        for loader in loaders if isinstance(loaders, list) else [loaders]:
            if loader.get("type") == "InlineSchemaLoader":
                return loader.get("schema") or {}
        file = os.path.join(self.package, "schemas", f"{name}.json")
        if not os.path.exists(file):
            return {}
        schema = json.load(open(file))
        return json.loads(json.dumps(schema), object_hook=lambda node: self._shared(node))

    def _shared(self, node):
        ref = node.get("$ref", "")
        file = os.path.join(self.package, "schemas", "shared", ref)
        return json.load(open(file)) if ref.endswith(".json") and os.path.exists(file) else node
