"""Makes rows up by the schema of a stream and by the fields that its manifest reads; the same rows for the same request."""

import hashlib
import json
import random
import re
from datetime import timedelta

from airbyte_cdk.sources.declarative.datetime.datetime_parser import DatetimeParser
from manifest import FORMATS, NOW, START, chains, put


def seeded(*parts):
    return random.Random(hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).digest())


class Rows:
    def __init__(self, known, odd, rare):
        self.known = known
        self.odd = odd
        self.rare = rare
        self.now = NOW
        self.needs = {}

    def need(self, name):
        """Fields that must be there: (cursor, cursor format, primary key, others), and constants of the filter."""
        if name in self.needs:
            return self.needs[name]
        node = self.known.stream(name)
        sync = node.get("incremental_sync") or {}
        cursor = sync.get("cursor_field")
        formats = list(sync.get("cursor_datetime_formats") or []) + [sync.get("datetime_format") or ""]
        key = node.get("primary_key")
        key = [key] if isinstance(key, str) else list(key or [])
        key = [part if isinstance(part, list) else [part] for part in key]
        others = [list(p) for p in self.known.keys.get(name, [])]
        retriever = {k: v for k, v in (node.get("retriever") or {}).items() if k != "partition_router"}
        text = json.dumps([retriever, node.get("transformations")])
        text = text.replace('\\"', '"')
        others += [list(p) for p in chains(text, "record")] + [list(p) for p in chains(text, "last_record")]
        condition = ((node.get("retriever") or {}).get("record_selector") or {}).get("record_filter") or {}
        condition = str(condition.get("condition", ""))
        constants = [c for c in re.findall(r"'([^']*)'", condition)]
        filtered = {tuple(p) for p in chains(condition, "record")}
        names = {p[-1] for p in filtered}
        constants = [c for c in constants if c not in names and c not in self.known.config]
        self.needs[name] = (cursor, formats, key, others, filtered, constants, sync)
        return self.needs[name]

    def value(self, schema, name, rng, depth=0):
        kinds = schema.get("type") if isinstance(schema, dict) else None
        if not isinstance(schema, dict):
            return "x"
        if schema.get("enum"):
            return rng.choice(schema["enum"])
        options = schema.get("oneOf") or schema.get("anyOf")
        if kinds is None and options:
            option = rng.choice(options)
            return None if option.get("type") == "null" else self.value(option, name, rng, depth)
        kinds = kinds if isinstance(kinds, list) else [kinds or ("object" if "properties" in schema else "string")]
        # null where the schema has it: what a conversion makes of another one says nothing of a real API
        has_null = "null" in kinds or "type" not in schema
        kinds = [k for k in kinds if k != "null"] or ["string"]
        if rng.random() < 0.08 and has_null and kinds[0] not in ("object", "array"):
            return None
        kind = kinds[0] if rng.random() < 0.8 else rng.choice(kinds)
        if self.odd and rng.random() < self.odd:
            kind = rng.choice(["string", "integer", "number", "boolean", "object", "array"])
            schema = {}
        if kind == "boolean":
            return rng.random() < 0.5
        if kind == "integer":
            return rng.choice([0, 1, rng.randrange(1, 10**6), 12345678901])
        if kind == "number":
            return rng.choice([0, 7, 1.5, 2.0, round(rng.random() * 1000, 2), -3.25])
        if kind == "array":
            items = schema.get("items") or {}
            items = items[0] if isinstance(items, list) and items else items
            return [self.value(items if isinstance(items, dict) else {}, name, rng, depth + 1) for _ in range(rng.randrange(3))]
        if kind == "object":
            properties = schema.get("properties") or {}
            if not properties:
                return rng.choice([{}, {"a": 1}, {"b": "two", "c": True}])
            if depth > 3:
                return {}
            return {k: self.value(v, k, rng, depth + 1) for k, v in properties.items() if rng.random() > 0.06}
        if schema.get("format") == "date-time":
            return (NOW - timedelta(minutes=rng.randrange(90000))).strftime("%Y-%m-%dT%H:%M:%SZ")
        if schema.get("format") == "date":
            return (NOW - timedelta(days=rng.randrange(60))).strftime("%Y-%m-%d")
        return rng.choice([f"{name}-{rng.randrange(1000)}", f"Ž {name}, \"{rng.randrange(9)}\"", "", str(rng.randrange(100)), "a\nb", "true"])

    def rows(self, name, count, seed, window, at, total):
        """Rows of one page; `at` is how many came before."""
        schema = self.known.schema(name)
        cursor, formats, key, others, filtered, constants, sync = self.need(name)
        made = []
        for index in range(count):
            rng = seeded(seed, index)
            row = self.value({**schema, "type": "object"}, name, seeded(seed, index, "row"), 0) if schema.get("properties") else {}
            while schema.get("properties") and not isinstance(row, dict) or row is None:
                row = self.value({**schema, "type": "object"}, name, rng, 0)
            for path in others + key:
                self.ensure(row, path, schema, rng)
            for path in key if key else [["id"]]:
                if path != [cursor]:
                    self.ensure(row, path, schema, rng, unique=True)
            for path in self.known.keys.get(name, []):
                self.ensure(row, path, schema, rng, unique=True)
            for path in filtered:
                if constants and rng.random() < 0.6:
                    put(row, list(path), rng.choice(constants))
            if cursor:
                value = self.cursor(sync, formats, rng, window, at + index, total)
                if value is not None:
                    field = re.sub(r"\{\{.*\}\}", "", cursor) or cursor
                    put(row, field.split(".") if "." in field else [field], value)
            if self.rare:
                self.unusual(row, name, seeded(seed, index, "rare"), window)
            if self.rare and made and not window and seeded(seed, index, "again").random() < self.rare / 4:
                for path in self.known.keys.get(name, []):
                    found = at_path(made[-1], path)
                    if found is not None:
                        put(row, list(path), found)
            made.append(row)
        return made

    def unusual(self, row, name, rng, window):
        """Makes a key that children need a number, null or none, and a cursor one that is no time of its window."""
        cursor, formats, key, _, _, _, sync = self.need(name)
        for path in [*self.known.keys.get(name, []), *key]:
            if rng.random() < self.rare and path != [cursor]:
                value = at_path(row, path)
                choice = rng.choice(["number", "null", "none"]) if path not in key else "number"
                if choice == "number":
                    if isinstance(value, str) and "string" not in json.dumps(declared(self.known.schema(name), path).get("type")):
                        put(row, list(path), rng.randrange(10**9))
                elif choice == "null":
                    put(row, list(path), None)
                elif len(path) == 1:
                    row.pop(path[0], None)
        if cursor and cursor in row and rng.random() < self.rare:
            choice = rng.choice(["null", "none", "empty", "old", "new"])
            begin, end = window or (START, self.now)
            form = next((f for f in formats if f), FORMATS[0])
            moment = {"old": begin - timedelta(days=3, hours=5), "new": end + timedelta(days=1, hours=2)}.get(choice)
            if choice == "none":
                row.pop(cursor)
            elif moment is None:
                row[cursor] = None if choice == "null" else ""
            elif sync.get("type") == "DatetimeBasedCursor" and not sync.get("is_data_feed"):
                row[cursor] = written(moment, form)

    def ensure(self, row, path, schema, rng, unique=False):
        part = schema
        for step in path:
            part = ((part or {}).get("properties") or {}).get(step) or {} if isinstance(part, dict) else {}
        found = row
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        if found not in (None, "", {}, []) and not unique:
            return
        kinds = part.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if part.get("enum"):
            value = rng.choice(part["enum"])
        elif "integer" in kinds or "number" in kinds:
            value = rng.randrange(1, 10**9)
        elif "object" in kinds or "array" in kinds or "boolean" in kinds:
            value = self.value({**part, "type": next(k for k in kinds if k in ("object", "array", "boolean"))}, path[-1], rng) or None
        elif part.get("format", "").startswith("date"):
            value = self.value(part, path[-1], rng) or "2024-06-01"
        else:
            value = f"{rng.choice('abcdef')}{rng.randrange(10**9)}"
        if value is not None:
            put(row, list(path), value)

    def cursor(self, sync, formats, rng, window, at, total):
        if sync.get("type") == "IncrementingCountCursor":
            return rng.randrange(1, 1000)
        form = next((f for f in formats if f), FORMATS[0])
        begin, end = window or (START, self.now)
        if sync.get("is_data_feed"):
            when = self.now - timedelta(hours=30 * at + rng.randrange(20))
        elif rng.random() < 0.12 and not window:
            when = begin - timedelta(days=rng.randrange(1, 30))
        else:
            when = begin + (end - begin) * rng.choice([0.0, rng.random(), rng.random(), rng.random()])
        when = when.replace(microsecond=0) if not ("%f" in form or "ms" in form) else when.replace(microsecond=123000)
        return written(when, form)


def written(when, form):
    """A time as a row has it."""
    try:
        value = DatetimeParser().format(when, form)
    except Exception:
        return None
    kinds = "number" if form in ("%s", "%ms", "%s_as_float", "%epoch_microseconds") else "string"
    return (float(value) if "float" in form else int(value)) if kinds == "number" else value


def declared(schema, path):
    for step in path:
        schema = ((schema or {}).get("properties") or {}).get(step) if isinstance(schema, dict) else None
    return schema if isinstance(schema, dict) else {}


def at_path(row, path):
    for step in path:
        row = row.get(step) if isinstance(row, dict) else None
    return row
