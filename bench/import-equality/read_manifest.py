"""Reads streams of a connector with the Airbyte CDK, twice, over answers that are made up of what the manifest asks for.

python read_manifest.py MANIFEST OUT BASE ODD RARE RUNS

OUT gets settings.json; then each line of the input is the name of a stream in JSON, whose runs are written to runs.json:
[{"exchanges", "records", "error", "notes"}]. The line "ready" says that a file is there. Nothing goes over the network: the
answers take the place of the adapter of requests. BASE is the address that all others begin with, and ODD the share of cells
with a value of another type than the schema says. RARE is the share of answers that are an error, empty or without a list, and
of rows whose keys and times are unusual. Each of the RUNS, three at most, is later than the one before.
"""

import copy
import inspect
import json
import logging
import os
import signal
import sys
import time

import yaml
from airbyte_cdk.models import (
    AirbyteStateMessage,
    AirbyteStateType,
    AirbyteStream,
    AirbyteStreamState,
    ConfiguredAirbyteCatalog,
    ConfiguredAirbyteStream,
    DestinationSyncMode,
    StreamDescriptor,
    SyncMode,
    Type,
)
from airbyte_cdk.sources.declarative.auth.token_provider import SessionTokenProvider
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource
from airbyte_cdk.sources.declarative.retrievers.simple_retriever import SimpleRetriever
from airbyte_cdk.sources.declarative.schema.json_file_schema_loader import JsonFileSchemaLoader
from airbyte_cdk.sources.streams.http.http_client import HttpClient
from answers import Answers, TooMuch
from freezegun import freeze_time
from manifest import LATER, NOW, Known, walk
from requests.adapters import HTTPAdapter
from settings import hints, setting

real_sleep = time.sleep


def patch(answers):
    fetch = SimpleRetriever._fetch_next_page

    initialise = SimpleRetriever.__post_init__

    def initialising(self, *args, **more):
        self.run_of_answers = answers.runs
        initialise(self, *args, **more)

    SimpleRetriever.__post_init__ = initialising

    takes = inspect.signature(fetch)

    def fetching(self, *args, **more):
        given = takes.bind(self, *args, **more).arguments
        # threads of a run that was given up go on for a while, with parents that were not asked yet
        if self.run_of_answers != answers.runs:
            raise TooMuch("another run")
        before = getattr(answers.local, "context", None)
        answers.local.context = (self, given["stream_slice"], given.get("next_page_token"))
        try:
            return fetch(self, *args, **more)
        finally:
            answers.local.context = before

    SimpleRetriever._fetch_next_page = fetching
    send = HttpClient._send

    def sending(self, request, *args, **more):
        context = getattr(answers.local, "context", None)
        own = context and getattr(context[0].requester, "_http_client", self)
        answers.local.url = request.url if own is self else None
        return send(self, request, *args, **more)

    HttpClient._send = sending
    # answers that are kept are those of one run
    HttpClient.cache_filename = property(lambda self: f"{self._name}-{answers.runs}.sqlite")
    refresh = SessionTokenProvider._refresh

    def refreshing(self):
        before = getattr(answers.local, "context", None)
        url = getattr(answers.local, "url", None)
        answers.local.context = None
        try:
            return refresh(self)
        finally:
            answers.local.context = before
            answers.local.url = url

    SessionTokenProvider._refresh = refreshing
    schema = JsonFileSchemaLoader.get_json_schema

    def found_schema(self):
        try:
            return schema(self)
        except OSError:
            return {}

    JsonFileSchemaLoader.get_json_schema = found_schema
    HTTPAdapter.send = lambda self, request, **more: answers.send(request, **more)
    time.sleep = lambda seconds: real_sleep(min(seconds, 0.002))


def read(manifest, stream, config, state):
    """Records and the last state of a run."""
    name = stream["name"]
    mode = SyncMode.incremental if stream.get("incremental_sync") or "partition_router" in stream.get("retriever", {}) else SyncMode.full_refresh
    configured = ConfiguredAirbyteStream(
        stream=AirbyteStream(name=name, json_schema={}, supported_sync_modes=[SyncMode.full_refresh, SyncMode.incremental]),
        sync_mode=mode,
        destination_sync_mode=DestinationSyncMode.append,
    )
    catalog = ConfiguredAirbyteCatalog(streams=[configured])
    whole = {**manifest, "streams": [copy.deepcopy(stream)], "definitions": {}, "check": {"type": "CheckStream", "stream_names": [name]}}
    source = ConcurrentDeclarativeSource(catalog=catalog, config=config, state=state, source_config=whole)
    records, last, error = [], None, None
    try:
        for message in source.read(logging.getLogger("airbyte"), config, catalog, state):
            if message.type == Type.RECORD:
                records.append(json.loads(json.dumps(message.record.data, default=str)))
            elif message.type == Type.STATE:
                last = message.state
            elif message.type == Type.TRACE and message.trace.error:
                told = message.trace.error
                error = "; ".join(filter(None, [error, told.internal_message or told.message, (told.stack_trace or "").strip()[-300:]]))
    except Exception as caught:
        text = f"{type(caught).__name__}: {getattr(caught, 'internal_message', '') or caught}"
        error = "; ".join(dict.fromkeys(filter(None, [text, *causes(caught), error])))
    return records, last, error


def text_of(value):
    """JSON with its numbers as they are, such as 2.0."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def too_long(*_):
    raise TooMuch("more than 60 seconds of a processor")


def causes(error):
    while error.__cause__ is not None:
        error = error.__cause__
        yield f"{type(error).__name__}: {error}"


def main():
    file, out, base, odd, rare, count = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGPROF, too_long)
    package = os.path.dirname(os.path.abspath(file))
    sys.path.insert(0, os.path.dirname(package))
    manifest = yaml.load(open(file), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    spec = ((manifest.get("spec") or {}).get("connection_specification")) or {}
    hints(manifest, base)
    config = setting({**spec, "type": "object"}, "")
    own = os.path.join(out, "own-settings.json")
    if os.path.exists(own):
        config.update(json.load(open(own)))
    with open(os.path.join(out, "settings.json"), "w") as sink:
        json.dump(config, sink)
    print("ready", flush=True)
    ConcurrentDeclarativeSource._validate_source = lambda self: None  # what only an older version takes
    source = ConcurrentDeclarativeSource(config=config, source_config=copy.deepcopy(manifest))
    resolved = source.resolved_manifest
    config = source._config
    known = Known(resolved, package, config)
    known.manifest = resolved
    answers = Answers(known, float(odd), float(rare))
    os.environ["REQUEST_CACHE_PATH"] = out
    patch(answers)
    bare = {k: v for k, v in resolved.items() if k not in ("dynamic_streams", "streams", "definitions", "metadata", "stream_groups")}
    found = {each.get("name"): each for each in resolved.get("streams", [])}
    for condition in [each for each in resolved.get("streams", []) if each.get("type") == "ConditionalStreams"]:
        found.update({each["name"]: each for each in condition["streams"]})
    for line in sys.stdin:
        name = json.loads(line)
        stream = found.get(name)
        runs, state, mine = [], None, copy.deepcopy(config)
        answers.notes = set()
        answers.plans = {}
        for later in LATER[: int(count)]:
            if stream is None:
                runs.append({"exchanges": [], "records": [], "error": "no such stream"})
                break
            if any(node.get("type") == "AsyncRetriever" for node in walk(stream)):
                runs.append({"exchanges": [], "records": [], "error": "asynchronous"})
                break
            now = NOW + later
            answers.reset(name, now)
            signal.setitimer(signal.ITIMER_PROF, 60)
            try:
                with freeze_time(now, ignore=["queue", "threading", "concurrent", "selectors"]):
                    records, last, error = read(bare, stream, mine, state)
            except Exception as caught:
                records, last, error = [], None, f"{type(caught).__name__}: {caught}"
            signal.setitimer(signal.ITIMER_PROF, 0)
            exchanges = list(answers.exchanges)
            runs.append({"now": int(now.timestamp() * 1000), "exchanges": exchanges, "records": records, "error": error, "notes": sorted(answers.notes)})
            runs[-1]["texts"] = [{k: text_of(v) for k, v in record.items() if isinstance(v, (dict, list))} for record in records]
            # later runs of such a stream, or of what is below one, ask an API that has the same rows elsewhere
            if any(node.get("type") == "StateDelegatingStream" for node in walk(stream)):
                break
            if error is not None or last is None:
                if error is not None:
                    break
                state = None
                continue
            state = [
                AirbyteStateMessage(
                    type=AirbyteStateType.STREAM,
                    stream=AirbyteStreamState(
                        stream_descriptor=StreamDescriptor(name=name), stream_state=last.stream.stream_state
                    ),
                )
            ]
            runs[-1]["state"] = json.loads(json.dumps(vars(last.stream.stream_state), default=str))
        with open(os.path.join(out, "runs.json"), "w") as sink:
            json.dump(runs, sink, default=str)
        print("ready", flush=True)


try:
    main()
except Exception as failure:
    print("; ".join(dict.fromkeys([f"{type(failure).__name__}: {failure}"[:500], *causes(failure)]))[:1500], file=sys.stderr)
    sys.exit(1)
