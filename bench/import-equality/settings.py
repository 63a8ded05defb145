"""Makes settings of a connector up, by its specification and by what its templates do with them."""

import re

from airbyte_cdk.sources.declarative.datetime.datetime_parser import DatetimeParser
from manifest import FORMATS, START, walk

HINTS = {}


def times_in(form):
    """The start in forms that a format takes."""
    found = []
    for text in [DatetimeParser().format(START, form), "2024-05-20T12:30:00.000Z", "2024-05-20T12:30:00Z", "2024-05-20"]:
        try:
            DatetimeParser().parse(text, form)
            found.append(text)
        except ValueError:
            continue
    return found


def hints(manifest, base):
    """Values that the manifest's own use of a setting asks for: whole addresses, and times in the format of a start."""

    def names(template):
        return re.findall(r"config\b[^}]*?\b(\w+)['\"]?\s*\]?\s*(?:\}\}|\)|\||or\b|,)", str(template))

    def dated(template, form):
        # what goes through a function has the form that this is told, or that of a setting
        told = re.search(r"config[^,()]*,[^,]*,\s*['\"]([^'\"]+)['\"]\s*\)", str(template))
        for name in names(template) if told else []:
            HINTS.setdefault(name, times_in(told.group(1)))
        if form and "config" in str(template) and not re.search(r"(?<!get)\(", str(template)):
            for name in names(template):
                HINTS.setdefault(name, times_in(form))

    for node in walk(manifest):
        for key in ("url_base", "url", "token_refresh_endpoint"):
            match = re.match(r"\s*\{\{\s*config(?:\.|\[['\"])(\w+)['\"]?\]?\s*(?:\||\}\}|\.|\[)", str(node.get(key, "")))
            if match:
                HINTS[match.group(1)] = [f"{base}/api.example"]
        start = node.get("start_datetime")
        if isinstance(start, dict):
            dated(start.get("datetime"), start.get("datetime_format") or node.get("datetime_format"))
        elif start:
            dated(start, node.get("datetime_format"))
        if "datetime" in node and "datetime_format" in node:
            dated(node["datetime"], node["datetime_format"])


def setting(schema, name):
    """A value that a schema of settings allows."""
    for hint in HINTS.get(name, []) if schema.get("type", "string") == "string" else []:
        if re.search(schema.get("pattern") or "", hint):
            return hint
    if "const" in schema:
        return schema["const"]
    if "default" in schema and not (isinstance(schema["default"], dict) and not schema["default"]):
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    options = schema.get("oneOf") or schema.get("anyOf")
    kind = schema.get("type")
    kind = next((k for k in kind if k != "null"), None) if isinstance(kind, list) else kind
    if kind == "object" or "properties" in schema or (options and kind is None):
        made = {}
        if options:
            first = next((o for o in options if o.get("type") != "null"), options[0])
            if "properties" not in first and first.get("type") != "object":
                return setting(first, name)
            made = setting(first, name) or {}
        for key, part in (schema.get("properties") or {}).items():
            required = key in (schema.get("required") or [])
            dated = re.search(r"start|since|from", key, re.I) and part.get("type") != "boolean"
            chosen = part.get("type") == "object" and (part.get("oneOf") or part.get("properties"))
            if required or chosen or "const" in part or "default" in part or dated:
                made[key] = setting(part, key)
        return made
    if kind == "boolean":
        return False
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 2), 2)
    if kind == "array":
        items = schema.get("items") or {}
        if items.get("enum"):
            return items["enum"][:2]
        return [setting({k: v for k, v in items.items()}, name)] if items else ["a"]
    return text_setting(schema, name)


def text_setting(schema, name):
    pattern = schema.get("pattern") or ""
    dated = schema.get("format") in ("date", "date-time") or re.search(r"date|time|since", name, re.I)
    candidates = [START.strftime(f) for f in FORMATS] + [START.strftime("%Y-%m-%dT%H:%M:%S.000Z")] if dated else []
    if schema.get("format") == "date":
        candidates = [START.strftime("%Y-%m-%d")] + candidates
    candidates += [str(e) for e in schema.get("examples") or []] if not dated else []
    candidates += [f"{name.replace('_', '-')}-1", "abc123", "12345", "http://x.example", "me@x.example", "a" * 32]
    for candidate in candidates:
        try:
            if not pattern or re.search(pattern, candidate):
                return candidate
        except re.error:
            return candidate
    return candidates[0]
