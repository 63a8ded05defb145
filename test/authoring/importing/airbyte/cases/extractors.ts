import { stream, times, type Part, type TwoRuns } from '../../support/two-runs.ts';

const both = (...lines: readonly string[]): TwoRuns['asks'] => [lines, lines];

const extractedBy = (name: string, more: Part = {}): Part => ({
  extractor: { type: 'CustomRecordExtractor', class_name: `source_shop.components.${name}`, ...more },
});

const IMPORTS = `
import requests
from datetime import datetime
from typing import List
from airbyte_cdk.sources.declarative.extractors import DpathExtractor
from airbyte_cdk.sources.declarative.extractors.record_extractor import RecordExtractor
`;

/** Extractors of Python that choose among rows, and give them to other functions. */
export const EXTRACTOR_CASES: readonly TwoRuns[] = [
  {
    name: 'items of lists in each record that code chooses by their own fields',
    stream: stream('items', '/items', { selector: extractedBy('Chosen'), ...times() }),
    code: `${IMPORTS}
class Chosen(RecordExtractor):
    def extract_records(self, response):
        try:
            shops = response.json().get("shops") or []
        except requests.exceptions.JSONDecodeError:
            shops = []
        found = []
        for shop in shops:
            for item in shop.get("items", []):
                if item.get("kind") == "book" and not item.get("lost"):
                    for name in ["city", "owner"]:
                        item[name] = shop.get(name)
                    if not isinstance(item.get("from"), dict):
                        item["from"] = None
                    found.append(item)
        return found
`,
    outcome: 'equal rows, other columns',
    api: () => ({
      shops: [
        {
          city: 'Brno',
          items: [
            { id: 1, at: '2024-06-29', kind: 'book', from: 'a' },
            { id: 2, at: '2024-06-30', kind: 'map' },
            { id: 3, at: '2024-06-30', kind: 'book', lost: true },
          ],
        },
        {
          items: [
            { id: 4, at: '2024-06-20', kind: 'book', lost: false },
            { id: 5, at: '2024-06-30' },
          ],
        },
        {},
      ],
    }),
    asks: [['GET /items?since=2024-01-01'], ['GET /items?since=2024-06-29']],
    ids: [
      ['1', '4'],
      ['1', '4'],
    ],
  },
  {
    name: 'rows at a path whose keys code replaces one by one',
    stream: stream('items', '/items', {
      selector: extractedBy('Replaced', { field_path: ['shop', 'items'] }),
    }),
    code: `${IMPORTS}
import dpath.util
from dataclasses import InitVar, dataclass
from typing import Any, Mapping
from airbyte_cdk.sources.declarative.interpolation import InterpolatedString

@dataclass
class Replaced(RecordExtractor):
    field_path: List[str]
    config: Mapping[str, Any]
    parameters: InitVar[Mapping[str, Any]]

    def __post_init__(self, parameters):
        for index in range(len(self.field_path)):
            if isinstance(self.field_path[index], str):
                self.field_path[index] = InterpolatedString.create(self.field_path[index], parameters=parameters)

    def extract_records(self, response):
        body = response.json()
        if len(self.field_path) == 0:
            found = body
        else:
            path = [path.eval(self.config) for path in self.field_path]
            if "*" in path:
                found = dpath.util.values(body, path)
            else:
                found = dpath.util.get(body, path, default=[])
        if isinstance(found, list):
            return found
        return [found] if found else []
`,
    api: () => ({ shop: { items: [{ id: 1 }, { id: 2 }] } }),
    asks: both('GET /items'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'rows that code skips, and rows that it keeps for want of a field',
    stream: stream('items', '/items', { selector: extractedBy('Skipping', { field_path: ['items'] }) }),
    code: `${IMPORTS}
class Skipping(DpathExtractor):
    def extract_records(self, response):
        for item in super().extract_records(response):
            if "hidden" in item:
                continue
            if item.get("end") is None:
                yield item
            elif item["end"] == "soon":
                yield item
`,
    settings: {},
    api: () => ({
      items: [
        { id: 1, hidden: 1 },
        { id: 2 },
        { id: 3, end: null },
        { id: 4, end: 'soon' },
        { id: 5, end: 'late' },
      ],
    }),
    asks: both('GET /items'),
    ids: [
      ['2', '3', '4'],
      ['2', '3', '4'],
    ],
  },
  {
    name: 'rows that functions of the file change',
    stream: stream('items', '/items', {
      selector: {
        ...extractedBy('Changed'),
        record_filter: { condition: "{{ record['id'] != 3 }}" },
      },
      ...times(),
    }),
    code: `${IMPORTS}
RESERVED = ["group"]

def with_days(record, key="span", props=["start", "end"]):
    """Writes the days of a span one by one."""
    span = record.get(key)
    for prop in props:
        for part in ["year", "month"]:
            record.update(**{f"{prop}.{part}": span.get(prop).get(part)})
    for name in [key, "start.year", "start.month", "end.year", "end.month"]:
        if name in record:
            record.pop(name)
    return record

def with_rules(record):
    def unnested(rules):
        for name, value in rules.items():
            values = []
            if isinstance(value, List):
                if len(value) > 0:
                    values = value
            elif isinstance(value, dict):
                values.append(value)
            yield {"name": name, "values": values}

    made = {"all": []}
    for rule in unnested(record.get("rules").get("all")):
        made["all"].append(rule)
    record["rules"] = made
    return record

def renamed(record, names=[]):
    for name in names:
        if name in record:
            record[f"_{name}"] = record[name]
            record.pop(name)
    return record

def changed(records):
    for record in records:
        if "span" in record:
            record = with_days(record)
        if "rules" in record:
            record = with_rules(record)
        if "words" in record:
            record["text"] = ",".join(record.get("words", []))
        record = renamed(record, RESERVED)
        yield record

class Changed(RecordExtractor):
    def _times(self, record):
        for name in ["made", "sold"]:
            if record.get(name) is not None:
                record[name] = datetime.fromisoformat(record[name]).strftime("%d.%m.%Y")
        return record

    def extract_records(self, response):
        for record in changed(response.json().get("items")):
            yield self._times(record)
`,
    outcome: 'equal rows, other columns',
    api: () => ({
      items: [
        { id: 1, at: '2024-06-29', group: 'a', words: ['a', 'b'], made: '2024-01-02' },
        { id: 2, at: '2024-06-20', span: { start: { year: 2024, month: 1 }, end: { year: 2024, month: 2 } } },
        { id: 3, at: '2024-06-30', rules: { all: { a: ['x'], b: { c: 1 } } } },
      ],
    }),
    asks: [['GET /items?since=2024-01-01'], ['GET /items?since=2024-06-29']],
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'the state in a field that a function of the file changes',
    stream: stream('items', '/items', { selector: extractedBy('Moved'), ...times() }),
    code: `${IMPORTS}
def moved(record):
    record["at"] = record.get("times").get("at")
    return record

class Moved(RecordExtractor):
    def extract_records(self, response):
        yield from [moved(record) for record in response.json()["items"]]
`,
    outcome: 'more rows',
    api: () => ({ items: [{ id: 1, times: { at: '2024-06-29' } }] }),
    asks: both('GET /items?since=2024-01-01'),
    ids: [['1'], ['1']],
  },
  {
    name: 'records that get parts of others from the same answer',
    stream: stream('items', '/items', { selector: extractedBy('Joined', { field_path: ['data'] }) }),
    code: `${IMPORTS}
import dpath

class Joined(DpathExtractor):
    def extract_records(self, response):
        paths = [path.eval(self.config) for path in self._field_path]
        records = self.at(response, paths)
        others = list(self.at(response, ["included"]))
        yield from self.joined(records, others)

    @staticmethod
    def joined(records, others):
        for record in records:
            links = record.get("links", {})
            for other in others:
                kind = other["type"]
                linked = links.get(kind, {}).get("data", {}).get("id")
                if other["id"] == linked:
                    links[kind]["data"].update(other.get("attributes", {}))
            yield record

    def at(self, response, paths=None):
        try:
            body = response.json()
        except Exception as error:
            raise Exception(f"no JSON: {error}")
        if not paths:
            found = body
        else:
            path = "/".join(paths)
            if "*" in path:
                found = dpath.values(body, path)
            else:
                found = dpath.get(body, path, default=[])
        if isinstance(found, list):
            yield from found
        elif found:
            yield found
        else:
            yield from []
`,
    settings: {},
    outcome: 'equal rows, other columns',
    api: () => ({
      data: [{ id: 1, links: { shop: { data: { id: 7 } } } }, { id: 2 }],
      included: [{ id: 7, type: 'shop', attributes: { city: 'Brno' } }],
    }),
    asks: both('GET /items'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'rows in lists under keys, of which code leaves one out',
    stream: stream('items', '/items', {
      selector: extractedBy('Versions', { field_path: ['results'], entity: 'of', others: ['shop'] }),
      ...times(),
    }),
    code: `${IMPORTS}
from dataclasses import dataclass, field, InitVar
from typing import Any, Mapping, Optional, Union
import dpath
from airbyte_cdk.sources.declarative.decoders import Decoder, JsonDecoder
from airbyte_cdk.sources.declarative.interpolation.interpolated_string import InterpolatedString

@dataclass
class Versions(RecordExtractor):
    field_path: List[Union[InterpolatedString, str]]
    entity: str
    others: Optional[List[str]]
    config: Mapping[str, Any]
    parameters: InitVar[Mapping[str, Any]]
    decoder: Decoder = field(default_factory=lambda: JsonDecoder(parameters={}))

    def __post_init__(self, parameters):
        self._field_path = [InterpolatedString.create(path, parameters=parameters) for path in self.field_path]
        for index in range(len(self.field_path)):
            if isinstance(self.field_path[index], str):
                self._field_path[index] = InterpolatedString.create(self.field_path[index], parameters=parameters)

    def extract_records(self, response):
        for body in self.decoder.decode(response):
            found = []
            path = [path.eval(self.config) for path in self._field_path]
            if "*" in path:
                extracted = dpath.values(body, path)
            else:
                extracted = dpath.get(body, path, default=[])
            if isinstance(extracted, list):
                found = extracted
            elif extracted:
                raise ValueError("no list")
            for record in found:
                history = record.get("history")
                of = record.get("id")
                more = {name: record.get(name) for name in self.others} if self.others else {}
                if history:
                    for name, versions in history.items():
                        if name == "touched":
                            continue
                        for version in versions:
                            version["name"] = name
                            version[self.entity] = of
                            yield version | more
`,
    outcome: 'equal rows, other columns',
    api: () => ({
      results: [
        {
          id: 1,
          shop: 7,
          history: {
            price: [
              { id: 11, at: '2024-06-20' },
              { id: 12, at: '2024-06-21' },
            ],
            touched: [{ id: 13, at: '2024-06-30' }],
          },
        },
        { id: 2, history: { stock: [{ id: 21, at: '2024-06-22' }] } },
        { id: 3, history: {} },
        { id: 4 },
      ],
    }),
    asks: [['GET /items?since=2024-01-01'], ['GET /items?since=2024-06-22']],
    ids: [
      ['11', '12', '21'],
      ['11', '12', '21'],
    ],
  },
  {
    name: 'objects in the items of another extractor, or the items themselves',
    stream: stream('items', '/items', {
      selector: extractedBy('Inner', { field_path: ['rows'], inner_field: 'data' }),
      ...times(),
    }),
    code: `${IMPORTS}
from dataclasses import InitVar, dataclass, field
from typing import Any, Mapping
from airbyte_cdk.sources.declarative.decoders import Decoder, JsonDecoder

@dataclass
class Inner(RecordExtractor):
    field_path: List[str]
    inner_field: str
    config: Mapping[str, Any]
    parameters: InitVar[Mapping[str, Any]]
    decoder: Decoder = field(default_factory=lambda: JsonDecoder(parameters={}))

    def __post_init__(self, parameters):
        self._extractor = DpathExtractor(
            field_path=self.field_path, config=self.config, parameters=parameters, decoder=self.decoder
        )

    def extract_records(self, response):
        records = self._extractor.extract_records(response)
        return [record.get(self.inner_field) or record for record in records]
`,
    outcome: 'equal rows, other columns',
    api: () => ({
      rows: [
        { id: 1, data: { id: 1, at: '2024-06-20' } },
        { id: 2, data: null, at: '2024-06-22' },
      ],
    }),
    asks: [['GET /items?since=2024-01-01'], ['GET /items?since=2024-06-22']],
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'items that code makes objects of, with fields under names that the answer has',
    stream: stream('items', '/items', { selector: extractedBy('Flat'), ...times() }),
    code: `${IMPORTS}
class Flat(RecordExtractor):
    def extract_records(self, response):
        found = []
        for element in response.json().get("data") or []:
            related = dict()
            for kind, relation in element.get("relationships", {}).items():
                if relation.get("data"):
                    data = relation.get("data", [])
                    if isinstance(data, dict):
                        data = [data]
                    related[f"{kind}"] = [one.get("id") for one in data]
            found.append({**element.get("attributes"), **{"id": element["id"], **related}})
        return found
`,
    outcome: 'more rows',
    api: () => ({
      data: [
        { id: 1, attributes: { at: '2024-06-20' }, relationships: { owner: { data: { id: 5 } } } },
        { id: 2, attributes: { at: '2024-06-21' } },
      ],
    }),
    asks: both('GET /items?since=2024-01-01'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'rows whose times a function that is not understood writes in another form, and a filter by such a time',
    stream: stream('items', '/items', {
      selector: {
        ...extractedBy('Dated'),
        record_filter: { condition: "{{ record['at'] >= stream_interval['start_time'] }}" },
      },
      ...times(),
    }),
    code: `${IMPORTS}
import re
from datetime import datetime, timedelta, timezone

class Dates:
    @staticmethod
    def read(value):
        match = re.search("[(](.*)[)]", value)
        if not match:
            try:
                return datetime.strptime(value)
            except Exception:
                return None
        seconds, = match.groups()
        return datetime.fromtimestamp(int(seconds), tz=timezone.utc) + timedelta(hours=0)

    @staticmethod
    def convert(of):
        if isinstance(of, dict):
            for key, value in of.items():
                if isinstance(value, str):
                    time = Dates.read(value)
                    if time:
                        of[key] = time.strftime("%Y-%m-%d")
                elif isinstance(value, (dict, list)):
                    Dates.convert(value)
        elif isinstance(of, list):
            for index in range(len(of)):
                Dates.convert(of[index])

class Dated(RecordExtractor):
    def extract_records(self, response):
        found = response.json()["rows"]
        Dates.convert(found)
        return found
`,
    outcome: 'more rows',
    api: () => ({
      rows: [
        { id: 1, at: '(1700000000)' },
        { id: 2, at: '(1719000000)' },
      ],
    }),
    asks: both('GET /items?since=2024-01-01'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'an object of a class for each item',
    stream: stream('items', '/items', { selector: extractedBy('Modelled') }),
    code: `${IMPORTS}
from source_shop.models import Item

class Modelled(RecordExtractor):
    def extract_records(self, response):
        return [Item(**item).dict(exclude_unset=True) for item in response.json()["rows"]]
`,
    outcome: 'equal rows, other columns',
    api: () => ({ rows: [{ id: 1 }, { id: 2 }] }),
    asks: both('GET /items'),
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
  {
    name: 'objects in the items of a list',
    stream: stream('items', '/items', { selector: extractedBy('Attributes'), ...times() }),
    code: `${IMPORTS}
class Attributes(RecordExtractor):
    def extract_records(self, response):
        for row in response.json()["rows"]:
            yield row["attributes"]
`,
    api: () => ({ rows: [{ attributes: { id: 1, at: '2024-06-20' } }, { attributes: { id: 2 } }] }),
    asks: [['GET /items?since=2024-01-01'], ['GET /items?since=2024-06-20']],
    ids: [
      ['1', '2'],
      ['1', '2'],
    ],
  },
];
