"""Answers in place of the network, with rows and what the paginator of a stream looks for beside them."""

import copy
import inspect
import itertools
import json
import re
import threading
from io import BytesIO
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import requests
import urllib3
from airbyte_cdk.sources.declarative.datetime.datetime_parser import DatetimeParser
from manifest import NOW, chains, put, walk
from requests.adapters import HTTPAdapter
from rows import Rows, seeded

ROWS = 2
PAGES = 3
MOST_REQUESTS = 1500


class TooMuch(Exception):
    """A stream asks for more than is worth while."""


class Answers:
    """Answers in place of the network: to a retriever what its selector and its paginator look for, to logins a token."""

    def __init__(self, known, odd, rare):
        self.known = known
        self.rare = rare
        self.rows = Rows(known, odd, rare)
        self.local = threading.local()
        self.plans = {}
        self.calms = {}
        self.notes = set()
        self.reset(None)

    def reset(self, main, now=NOW):
        self.main = main
        self.rows.now = now
        self.runs = getattr(self, "runs", 0) + 1
        self.exchanges = []
        self.pages = {}
        self.answered = {}
        self.failing = {}
        self.lock = threading.RLock()

    def send(self, request, **_):
        with self.lock:
            if len(self.exchanges) >= MOST_REQUESTS:
                raise TooMuch(f"more than {MOST_REQUESTS} requests")
            context = getattr(self.local, "context", None)
            if context is not None and context[0].run_of_answers != self.runs:
                raise TooMuch("another run")
            # a login within the request of a retriever has another address
            status = 200
            if context is None or getattr(self.local, "url", None) != request.url:
                headers, body = {}, self.login()
            else:
                key = json.dumps([request.method, request.url, dict(request.headers), str(request.body)], default=str)
                failure = self.failure(request, key, context[0])
                if failure is not None:
                    status, headers, body = failure
                else:
                    if key not in self.answered:
                        self.answered[key] = self.answer(request, *context)
                    headers, body = self.answered[key]
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers = {"Content-Type": "application/json", **headers}
            sent = request.body
            self.exchanges.append(
                {
                    "method": request.method,
                    "url": request.url,
                    "headers": {k: str(v) if not isinstance(v, bytes) else v.decode() for k, v in request.headers.items()},
                    "body": sent.decode() if isinstance(sent, bytes) else sent or "",
                    "answer": {"status": status, "headers": headers, "body": body.decode()},
                    "stream": context[0].name if context and getattr(self.local, "url", None) == request.url else None,
                }
            )
            return response_of(request, headers, body, status)

    def failure(self, request, key, retriever):
        """An error that is left out, or one that passes with the next request; none where the stream would end."""
        rng = seeded(key, "failure")
        if not self.rare or rng.random() >= self.rare:
            return None
        if key not in self.failing:
            handler = getattr(getattr(retriever.requester, "_http_client", None), "_error_handler", None)
            told = json.dumps((self.known.stream(retriever.name).get("retriever", {}).get("requester") or {}).get("error_handler") or {})
            words = re.findall(r'"error_message_contains": "([^"]+)"', told)
            statuses = [int(code) for code in re.findall(r"\b[45]\d\d\b", told)] + [404, 403, 429, 503, 500]
            bodies = [{}, *({"error": word} for word in words), *({"message": word} for word in words), *({"errors": [{"message": word}]} for word in words)]
            tried = [(status, body) for status in statuses for body in bodies] + [(200, body) for body in bodies[1:]]
            rng.shuffle(tried)
            self.failing[key] = []
            for status, body in tried:
                try:
                    seen = handler.interpret_response(response_of(request, {}, json.dumps(body).encode(), status))
                except Exception:
                    continue
                if seen.response_action.name == "IGNORE":
                    self.failing[key] = [(status, {}, body)] * 1000
                elif seen.response_action.name in ("RETRY", "RATE_LIMITED"):
                    self.failing[key] = [(status, {}, body)]
                else:
                    continue
                break
        return self.failing[key].pop() if self.failing[key] else None

    def login(self):
        token = {"access_token": "token-1", "refresh_token": "refresh-2", "token": "token-1", "expires_in": 36000, "id": "session-1"}
        for node in walk(self.known.manifest):
            if node.get("type") == "SessionTokenAuthenticator":
                put(token, node["session_token_path"], "session-1")
            if node.get("type") == "OAuthAuthenticator":
                put(token, [node.get("access_token_name") or "access_token"], "token-1")
                put(token, [node.get("expires_in_name") or "expires_in"], token["expires_in"])
            if node.get("type") == "TokenQuota":
                for key, value in (("remaining_path", 5000), ("limit_path", 5000), ("reset_path", int(NOW.timestamp()) + 3600)):
                    if node.get(key):
                        put(token, node[key], value)
        return token

    def answer(self, request, retriever, stream_slice, token):
        name = retriever.name
        place = (name, json.dumps(stream_slice, sort_keys=True, default=str))
        initial = initial_token(retriever)
        page = 1 if token == initial else self.pages.get(place, 0) + 1
        self.pages[place] = page
        seed = [request.method, request.url, sorted(dict(request.headers).items()), str(request.body), page]
        is_main = name == self.main and not self.known.keys.get(name)
        pages = PAGES if is_main else 2
        plan = self.plan(retriever, request, stream_slice)
        more, size = plan["more"], plan["size"]
        is_last = page >= pages or more is None
        window = self.window(name, stream_slice)
        unusual = seeded([name, request.url, str(request.body)], "unusual").random() if self.rare else 1
        # the last page is full, and another one follows it
        last_size = size if plan["counts"] and self.rare and unusual < 0.5 else max(1, size - 1)
        count = 0 if page > pages else (size if not is_last else last_size) if size > ROWS or plan["counts"] else ROWS
        self.lacking = None
        if page == 1 and unusual < self.rare:
            count, is_last = 0, True
            self.lacking = ["empty", "null", "none"][int(unusual * 1e6) % 3]
        rows = self.rows.rows(name, count, seed, window, (page - 1) * size, pages * size)
        self.whole = (pages, (page - 1) * size, (pages - 1) * size + max(1, size - 1))
        return self.body(retriever, request, rows, plan["end"] if is_last else more, page)

    def window(self, name, stream_slice):
        sync = self.known.stream(name).get("incremental_sync") or {}
        cursor_slice = dict(getattr(stream_slice, "cursor_slice", None) or {})
        if sync.get("type") != "DatetimeBasedCursor" or not cursor_slice:
            return None
        values = []
        for field, default in (("partition_field_start", "start_time"), ("partition_field_end", "end_time")):
            value = cursor_slice.get(sync.get(field) or default)
            for form in [sync.get("datetime_format")] + list(sync.get("cursor_datetime_formats") or []):
                try:
                    values.append(DatetimeParser().parse(value, form))
                    break
                except Exception:
                    continue
        sends = any(sync.get(key) for key in ("start_time_option", "end_time_option")) or "stream_slice" in json.dumps(
            (self.known.stream(name).get("retriever") or {}).get("requester") or {}
        ) or "stream_interval" in json.dumps((self.known.stream(name).get("retriever") or {}).get("requester") or {})
        return (values[0], max(values[1], values[0])) if len(values) == 2 and sends else None

    def body(self, retriever, request, rows, chosen, page):
        """The answer with rows at their place and what the paginator reads beside them."""
        headers = {}
        content = self.placed(retriever, rows)
        for (where, path), value in (chosen or {}).items():
            value = made(value, request, page, self.whole)
            if value is ABSENT:
                continue
            if where == "headers":
                if path[0].lower() == "link":
                    # parts of a link that are no address, such as cursor="abc", stand beside it
                    link, *parts = headers.pop("Link", "").split("; ")
                    relation = f'rel="{path[1] if len(path) > 1 else "next"}"'
                    part = [f'{path[2]}="{value}"'] if len(path) > 2 and path[2] != "url" else []
                    headers["Link"] = "; ".join([f'<{made("URL", request, page, self.whole)}>', *(parts or [relation]), *part]) if value else ""
                else:
                    headers[str(path[0])] = str(value)
            elif isinstance(content, dict) and not overlaps(path, self.steps(retriever)):
                put(content, list(path), value)
        headers = {k: v for k, v in headers.items() if v != ""}
        steps = self.steps(retriever)
        if not rows and isinstance(content, dict) and steps and "*" not in steps and getattr(self, "lacking", None) in ("null", "none"):
            put(content, steps, None)
            if self.lacking == "none" and len(steps) == 1:
                content.pop(steps[0])
        if isinstance(content, dict):
            for path, value in self.calm(retriever, request, headers, content).items():
                put(content, list(path), value)
        decoder = type(getattr(retriever.record_selector.extractor, "decoder", None)).__name__
        if "Jsonl" in decoder:
            return headers, "\n".join(json.dumps(row) for row in rows).encode()
        return headers, content

    def calm(self, retriever, request, headers, content):
        """Values beside the rows by which the error handler sees no error."""
        if retriever.name in self.calms:
            return self.calms[retriever.name]
        requester = self.known.stream(retriever.name).get("retriever", {}).get("requester") or {}
        text = json.dumps(requester.get("error_handler") or {}).replace('\\"', '"')
        paths = [path for path in chains(text, "response") if path[0] not in content][:2]
        found = {}
        handler = getattr(getattr(retriever.requester, "_http_client", None), "_error_handler", None)
        for values in itertools.product([ABSENT, 0, "0", 200, "OK", "success", True, False, []], repeat=len(paths)):
            tried = copy.deepcopy(content)
            found = {path: value for path, value in zip(paths, values) if value is not ABSENT}
            for path, value in found.items():
                put(tried, list(path), value)
            try:
                seen = handler.interpret_response(response_of(request, headers, json.dumps(tried).encode()))
            except Exception:
                continue
            if seen.response_action.name == "SUCCESS":
                break
        self.calms[retriever.name] = found
        return found

    def steps(self, retriever):
        """The path of the rows, as far as it is known."""
        extractor = retriever.record_selector.extractor
        path = getattr(extractor, "_field_path", None) or getattr(extractor, "field_path", None) or []
        path = path if isinstance(path, list) else []
        return [part.eval(self.known.config) if hasattr(part, "eval") else part for part in path]

    def placed(self, retriever, rows):
        extractor = retriever.record_selector.extractor
        steps = self.steps(retriever)
        if not steps:
            if type(extractor).__name__ != "DpathExtractor":
                return self.guessed(retriever, extractor, rows)
            # an object with a list inside is taken as one row: a list is the common answer
            return rows if not self.wants_object(retriever) else rows[0] if rows else {}
        content = {}
        if "*" in steps:
            at = steps.index("*")
            inner = steps[at + 1 :]
            if not inner:
                items = {f"k{i}": row for i, row in enumerate(rows)} if len(rows) % 2 else rows
            else:
                items = []
                for row in rows:
                    item = {"id": len(items)}
                    put(item, ["0" if s == "*" else s for s in inner], row)
                    items.append(item)
            if at == 0:
                return items
            put(content, steps[:at], items)
            return content
        put(content, steps, rows)
        return content

    def wants_object(self, retriever):
        pager = getattr(retriever._paginator, "pagination_strategy", None)
        templates = [str(getattr(getattr(pager, n, None), "string", "")) for n in ("_cursor_value", "cursor_value")]
        return any(chains(t, "response") for t in templates)

    def guessed(self, retriever, extractor, rows):
        """For an extractor of the connector's own: the first of some answers in which it finds rows."""
        try:
            source = inspect.getsource(type(extractor))
        except Exception:
            source = ""
        words = list(dict.fromkeys(re.findall(r"['\"](\w+)['\"]", source)))[:12]
        candidates = [{w: rows} for w in words] + [rows, {"data": rows}, {"results": rows}, rows[0]]
        candidates += [{a: {b: rows}} for a in words for b in words if a != b]
        candidates += [{a: [{b: rows}]} for a in words for b in words if a != b]
        second = None
        for candidate in candidates:
            try:
                found = list(extractor.extract_records(response_of(None, {}, json.dumps(candidate).encode())))
                if found == rows:
                    return candidate
                if second is None and found and all(isinstance(row, dict) and row for row in found):
                    second = candidate
            except Exception:
                continue
        if second is not None:
            return second
        self.notes.add("no answer for its extractor")
        return rows

    def plan(self, retriever, request, stream_slice):
        """Finds out by trying what the paginator goes on at, and what it ends at."""
        if retriever.name in self.plans:
            return self.plans[retriever.name]
        pager = getattr(retriever._paginator, "pagination_strategy", None)
        parts = self.known.stream(retriever.name).get("retriever", {}).get("paginator") or {}
        strategy = parts.get("pagination_strategy") or {}
        text = " ".join(str(strategy.get(k) or "") for k in ("cursor_value", "stop_condition"))
        is_path = (parts.get("page_token_option") or {}).get("type") == "RequestPath"
        ends = [("response", p) for p in chains(text, "response")] + [("headers", p) for p in chains(text, "headers")]
        ends = [e for e in ends if not any(o != e and o[1][: len(e[1])] == e[1] and o[0] == e[0] for o in ends)]
        own = {("response", p) for p in chains(str(strategy.get("cursor_value")), "response")}
        own |= {("headers", p) for p in chains(str(strategy.get("cursor_value")), "headers")}
        choices, endings = [], []
        for end in ends[:4]:
            reckoned = re.search(r"[+*-]|\bint\b", re.sub(r"\[['\"][^\]]*\]|\bget\([^)]*\)|\.[\w-]+", "", str(strategy.get("cursor_value"))))
            first = ["BEFORE", "PAGE"] if reckoned else []
            first += ["URL" if is_path else "TOKEN", "URL", "NEXT", "TOKEN"] if end in own else [True, "TOTAL", "PAGES", "PAGE", "NEXT", "TOKEN", "true", "false"]
            choices.append(list(dict.fromkeys([*first, False, None, 0, "PAGE", "TOTAL", "ABSENT"])))
            last = ["BEFORE", "PAGE"] if end in own and reckoned else ["PAGES", "TOTAL", False, None, "ABSENT", 0]
            endings.append(list(dict.fromkeys([*last, *choices[-1]])))
        sizes = {ROWS}
        get_size = getattr(pager, "get_page_size", None)
        size = get_size() if get_size else None
        counts = bool(size)
        sizes = [size or ROWS] + [int(n) for n in re.findall(r"\b\d{1,4}\b", text) if ROWS < int(n) <= 1000]
        plan = {"more": None, "end": {}, "size": size if size and size <= 1000 else ROWS, "counts": counts}
        if pager is not None:
            seed = ["plan", retriever.name]
            for want in ("more", "end"):
                for count in sizes:
                    rows = self.rows.rows(retriever.name, count if want == "more" else max(1, count - 1), seed, None, 0, 9)
                    for combination in itertools.product(*(choices if want == "more" else self.kept(ends, plan["more"], endings))):
                        chosen = dict(zip(ends, combination))
                        if self.goes_on(retriever, request, rows, chosen, 1 if want == "more" else PAGES) == (want == "more"):
                            plan[want] = chosen
                            if want == "more":
                                plan["size"] = count
                                plan["counts"] = counts or count > ROWS
                            break
                    else:
                        continue
                    break
            if plan["more"] is None:
                self.notes.add("one page")
        self.plans[retriever.name] = plan
        return plan

    def kept(self, ends, more, endings):
        """The ways to end, of which the first are those that change nothing: a total is the same on all pages."""
        return [list(dict.fromkeys([(more or {}).get(end, last[0]), *last])) for end, last in zip(ends, endings)]

    def goes_on(self, retriever, request, rows, chosen, page):
        self.whole = (PAGES, (page - 1) * ROWS, PAGES * ROWS - 1)
        headers, content = self.body(retriever, request, rows, chosen, page)
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        answer = response_of(request, headers, content)
        try:
            initial = initial_token(retriever) or {}
            token = retriever._next_page_token(answer, len(rows), rows[-1] if rows else None, initial.get("next_page_token"))
        except Exception:
            return None
        return bool(token)


def initial_token(retriever):
    """What the first page is asked for by; versions differ in how they keep it."""
    own = getattr(retriever, "_get_initial_next_page_token", None)
    if own is not None:
        return own()
    first = retriever._paginator.get_initial_token()
    return {"next_page_token": first} if first is not None else None


ABSENT = object()


def overlaps(path, steps):
    """Tells whether a path is that of the rows, or stands above or below it."""
    count = min(len(path), len(steps))
    return count > 0 and list(path[:count]) == steps[:count]


def made(value, request, page, whole):
    """A value for a name of the plan."""
    if value == "ABSENT" and isinstance(value, str):
        return ABSENT
    if value == "TOKEN":
        return f"tok{page + 1}x{seeded(request.url, str(request.body)).randrange(10**6)}"
    if value == "URL":
        parts = urlsplit(request.url)
        query = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if k != "page_tok"]
        return urlunsplit(parts._replace(query=urlencode([*query, ("page_tok", f"{page + 1}")])))
    return {"NEXT": page + 1, "PAGE": page, "PAGES": whole[0], "BEFORE": whole[1], "TOTAL": whole[2]}.get(value, value) if isinstance(value, str) else value


def response_of(request, headers, body, status=200):
    raw = urllib3.HTTPResponse(body=BytesIO(body), headers=headers, status=status, preload_content=False, reason="OK")
    answer = HTTPAdapter().build_response(request, raw) if request is not None else requests.Response()
    if request is None:
        answer.status_code = 200
        answer._content = body
        answer.headers.update(headers)
    return answer
