import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ImportReport } from '../../../../src/authoring/importing/report.ts';
import { dataFolder, filesOf, json, runHere } from '../../../cli/support.ts';

const ROWS = [
  { id: 1, name: 'one', n: null, on: true, o: { a: 1 }, tags: ['x'], at: '2024-01-01T00:00:00Z' },
  { id: 2, name: 'two', n: 0, on: false, o: { a: 2 }, tags: [], at: '2024-01-02T00:00:00Z', m: 5 },
  { id: 3, name: '3', n: 7, on: true, o: { a: 3 }, tags: ['y'], at: '2024-01-03T00:00:00Z', m: null },
];
let seen: string[] = [];
let base = '';
const server = createServer((request, response) => {
  seen.push(`${request.url}${request.headers.authorization === undefined ? '' : ' with a login'}`);
  if (request.url === '/links') response.setHeader('Link', `<${base}links?p=2>; rel="next"`);
  if (request.url === '/links?p=2') response.setHeader('Link', `<${base}links?p=3>; rel="Next"`);
  if (request.url?.startsWith('/total') === true) {
    const isFirst = request.url.includes('page=1');
    return json(response, { total: 9, items: isFirst ? ROWS.map(({ id, at }) => ({ id, at })) : [] });
  }
  return json(response, /^\/rows(?:\?|$)/.test(request.url ?? '') ? ROWS : [{ asked: request.url }]);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Taken {
  readonly folder: string;
  readonly report: ImportReport;
}

/** @param steps of the resource `rows` */
async function taken(
  steps: string,
  { before = '', after = '', more = '', endpoint = '', client = '' } = {},
): Promise<Taken> {
  const folder = dataFolder();
  const file = path.join(folder, 'shop.py');
  writeFileSync(
    file,
    `${before}
source = rest_api_source({
    "client": {"base_url": "${base}", "paginator": "single_page", ${client}},
    "resource_defaults": {"endpoint": {"data_selector": "$"}},
    "resources": [{"name": "rows", "endpoint": {"path": "rows", ${endpoint}}, "processing_steps": [${steps}]}, ${more}],
})
${after}
`,
  );
  const { code, stderr } = await runHere(['import', 'dlt', file, '--out', path.join(folder, 'out')]);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  const report = JSON.parse(
    readFileSync(path.join(folder, 'out', 'import-report.json'), 'utf8'),
  ) as ImportReport;
  return { folder: path.join(folder, 'out'), report };
}

const outcomes = ({ report }: Taken): readonly string[] => report.streams.map(({ outcome }) => outcome);

/** The rows of all tables, by their names. */
async function tablesOf({ folder }: Taken): Promise<Record<string, Record<string, string>[]>> {
  seen = [];
  const { code, stderr } = await runHere(['run', '--data', folder, '--storage', 'none']);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return Object.fromEntries(
    Object.entries(filesOf(folder))
      .filter(([name]) => /out\/tables\/[^.]+\.\w+$/.test(name) && !name.includes('out.previous'))
      .map(([name, csv]) => [
        name.split('.').at(-1) ?? '',
        parse<Record<string, string>>(csv, { columns: true }),
      ]),
  );
}

/** The ids are those that the library keeps with the same lambda. */
describe('filters', () => {
  test.each<[string, number[]]>([
    ['r["id"] > 1', [2, 3]],
    ['1 < r["id"] <= 2', [2]],
    ['r["name"] >= "one"', [1, 2]],
    ['r["name"] == "3"', [3]],
    ['r["id"] == "3"', []],
    ['r["name"] == 3', []],
    ['r["id"] != 2', [1, 3]],
    ['r["on"] == True', [1, 3]],
    ['r["on"] is False', [2]],
    ['r["n"] == 0', [2]],
    ['r["on"] == 1', [1, 3]],
    ['r["id"] in (1, 3)', [1, 3]],
    ['r["name"] not in {"one", "two"}', [3]],
    ['r["n"]', [3]],
    ['not r["n"]', [1, 2]],
    ['r["tags"]', [1, 3]],
    ['r["on"] and r["id"] > 1', [3]],
    ['r["id"] == 1 or not r["on"]', [1, 2]],
    ['r["n"] is None', [1]],
    ['r["n"] is not None', [2, 3]],
    ['r.get("m") is None', [1, 3]],
    ['r.get("m", 5) == 5', [1, 2]],
    ['r.get("o", {}).get("a", 0) > 2', [3]],
    ['r["o"]["a"] < 3', [1, 2]],
    ['"m" in r', [2, 3]],
    ['"x" in r["tags"]', [1]],
    ['r["name"].startswith("t")', [2]],
    ['r["name"].upper() == "ONE"', [1]],
    ['len(r["tags"]) == 0', [2]],
    ['r["id"] > LEAST', [3]],
    ['r["id"] > 1 if r["on"] else False', [3]],
    ['True', [1, 2, 3]],
  ])('lambda r: %s', async (condition, ids) => {
    const imported = await taken(`{"filter": lambda r: ${condition}}`, { before: 'LEAST = 2' });
    expect(outcomes(imported)).toEqual(['exact']);
    const { rows = [] } = await tablesOf(imported);
    expect(rows.map(({ id }) => Number(id))).toEqual(ids);
  });

  test('a function of the file, with branches and names of its own', async () => {
    const imported = await taken('{"filter": wanted}', {
      before: `
def wanted(row: dict) -> bool:
    """Leaves out what is off."""
    number = row["id"]
    if not row["on"]:
        return False
    return number != 1
`,
    });
    expect(outcomes(imported)).toEqual(['exact']);
    expect((await tablesOf(imported))['rows']?.map(({ id }) => id)).toEqual(['3']);
  });

  test('children are asked for below the rows that are kept', async () => {
    const imported = await taken('{"filter": lambda r: r["id"] > 1}', {
      more: '{"name": "kids", "endpoint": "kids/{resources.rows.id}/all"}',
    });
    expect(outcomes(imported)).toEqual(['exact', 'equal rows, other columns']);
    await tablesOf(imported);
    expect(seen).toEqual(['/rows', '/kids/2/all', '/kids/3/all']);
  });

  test('with a state the level says that rows that are left out move it', async () => {
    const imported = await taken('{"filter": lambda r: r["id"] < 3}', {
      endpoint:
        '"incremental": {"cursor_path": "at", "initial_value": "2024-01-01T00:00:00Z", "start_param": "s"}',
    });
    expect(outcomes(imported)).toEqual(['other rows']);
    expect((await tablesOf(imported))['rows']?.map(({ id }) => id)).toEqual(['1', '2']);
  });
});

describe('maps', () => {
  const plain = { id: '1', name: 'one', n: '', on: 'true', o_a: '1', at: '2024-01-01T00:00:00Z' };
  test.each<[string, Record<string, string>]>([
    ['{**r, "z": 1}', { ...plain, z: '1' }],
    ['r | {"z": r["o"]["a"]}', { ...plain, z: '1' }],
    ['dict(r, z="a")', { ...plain, z: 'a' }],
    ['{**r, "name": "fixed"}', { ...plain, name: 'fixed' }],
    ['{**r, "z": r["name"] + "!"}', { ...plain, z: 'one!' }],
    ["{**r, \"z\": f\"{r['name']}/{r['id']}/{r['n']}\"}", { ...plain, z: 'one/1/None' }],
    ['{**r, "z": r.get("m", "none")}', { ...plain, z: 'none' }],
    ['{**r, "z": "yes" if r["on"] else "no"}', { ...plain, z: 'yes' }],
    ['{**r, "z": r["id"] > 1}', { ...plain, z: 'false' }],
    ['{**r, "z": r["n"] or 9}', { ...plain, z: '9' }],
    ['{**r, "z": str(r["on"]).lower()}', { ...plain, z: 'true' }],
    ['{"key": r["id"], "label": r["name"]}', { key: '1', label: 'one' }],
    ['{k: r[k] for k in ("id", "name")}', { id: '1', name: 'one' }],
    ['{k: v for k, v in r.items() if k in ["id"]}', { id: '1' }],
  ])('lambda r: %s', async (made, row) => {
    const imported = await taken(`{"map": lambda r: ${made}}`);
    expect(outcomes(imported)).toEqual(['exact']);
    const { rows: [first] = [] } = await tablesOf(imported);
    const { tags: _tags, m: _m, ...found } = first ?? {};
    const isFalse = row['z'] === 'false' && found['z'] === '';
    expect(found).toEqual(isFalse ? { ...row, z: '' } : row);
  });

  test('fields that are taken out', async () => {
    const imported = await taken(
      '{"map": lambda r: {k: v for k, v in r.items() if k not in ("tags", "o", "at")}}',
    );
    expect(Object.keys((await tablesOf(imported))['rows']?.[0] ?? {})).toEqual([
      'id',
      'name',
      'n',
      'on',
      'm',
    ]);
  });

  test('a function that changes its row', async () => {
    const imported = await taken('{"map": changed}, {"filter": lambda r: r["label"] != "two"}', {
      before: `
def changed(record):
    record["label"] = record.pop("name")
    del record["tags"], record["o"]
    record.pop("m", None)
    record.update({"a": 1, "b": "x"})
    if record["on"]:
        record["b"] = "y"
    return record
`,
    });
    expect(outcomes(imported)).toEqual(['exact']);
    expect((await tablesOf(imported))['rows']).toEqual([
      { id: '1', n: '', on: 'true', at: '2024-01-01T00:00:00Z', label: 'one', a: '1', b: 'y' },
      { id: '3', n: '7', on: 'true', at: '2024-01-03T00:00:00Z', label: '3', a: '1', b: 'y' },
    ]);
  });

  test('steps that code adds to one resource', async () => {
    const imported = await taken('', {
      after: `
source.rows.add_filter(lambda r: r["id"] > 1).add_map(lambda r: {"id": r["id"]})
`,
    });
    expect(outcomes(imported)).toEqual(['exact']);
    expect((await tablesOf(imported))['rows']).toEqual([{ id: '2' }, { id: '3' }]);
  });
});

test.each<[string, string, { more?: string; endpoint?: string; before?: string }]>([
  ['{"filter": lambda r: seen_before(r)}', 'No counterpart: a step whose code is not understood', {}],
  ['{"map": lambda r: {**r, "z": r["id"] * 2}}', 'No counterpart: a step whose code is not understood', {}],
  ['{"filter": lambda r: r["id"] % 2}', 'No counterpart: a step whose code is not understood', {}],
  ['{"filter": lambda r: "3" in r["tags"]}', 'No counterpart: a step whose code is not understood', {}],
  ['{"yield_map": lambda r: r["tags"]}', 'No counterpart: a step that is Python code (“yield_map”)', {}],
  ['{"filter": lambda r: False}', 'No counterpart: a filter that keeps no row', {}],
  [
    '{"map": lambda r: {"id": r["id"]}}',
    'No counterpart: a step that changes “at”, the cursor',
    { endpoint: '"incremental": {"cursor_path": "at"}' },
  ],
  [
    '{"map": lambda r: {**r, "id": r["name"]}}',
    'No counterpart: “id” of the parent, which a step of it changes',
    { more: '{"name": "kids", "endpoint": "kids/{resources.rows.id}/all"}' },
  ],
])('%s is told', async (steps, message, options) => {
  const { report } = await taken(steps, options);
  expect(report.streams.flatMap(({ reasons }) => reasons.map((reason) => reason.message))).toContain(message);
});

/** Each is as the library reads it. */
describe('pages', () => {
  test('a relation in another case is no next page', async () => {
    const imported = await taken('', {
      more: '{"name": "links", "endpoint": {"paginator": "header_link"}}',
    });
    expect(outcomes(imported)).toEqual(['exact', 'exact']);
    await tablesOf(imported);
    expect(seen.filter((line) => line.startsWith('/links'))).toEqual(['/links', '/links?p=2']);
  });

  test('a total above the rows holds no state back', async () => {
    const imported = await taken('', {
      more: `{"name": "total", "endpoint": {
        "data_selector": "items", "paginator": {"type": "page_number", "base_page": 1},
        "incremental": {"cursor_path": "at", "initial_value": "2024-01-01T00:00:00Z", "start_param": "s"}}}`,
    });
    await tablesOf(imported);
    const { total } = await tablesOf(imported);
    expect(seen).toContain(`/total?s=${encodeURIComponent('2024-01-03T00:00:00Z')}&page=1`);
    expect(total).toBeUndefined();
  });

  test('rows that are not in a stretch of time start no child', async () => {
    const imported = await taken('', {
      endpoint:
        '"incremental": {"cursor_path": "at", "initial_value": "2024-01-02T00:00:00Z", "end_value": "2024-01-03T00:00:00Z"}',
      more: '{"name": "kids", "endpoint": "kids/{resources.rows.id}/all"}',
    });
    await tablesOf(imported);
    expect(seen).toEqual(['/rows', '/kids/2/all']);
  });

  test('auth of None is no login', async () => {
    const imported = await taken('', {
      client: '"auth": {"type": "http_basic", "username": "u", "password": "p"},',
      more: '{"name": "open", "endpoint": {"auth": None}}',
    });
    await tablesOf(imported);
    expect(seen).toEqual(['/rows with a login', '/open']);
  });
});

/** Each sends what the library sends, in a first run and in a second one. */
describe('convert', () => {
  const later = '2024-01-03T00:00:00Z';
  test.each<[string, string, string, string]>([
    ['lambda x: x[:10]', `"2024-01-01T00:00:00Z"`, '2024-01-01', '2024-01-03'],
    ['lambda value: value.split("T")[0]', `"2024-01-01T00:00:00Z"`, '2024-01-01', '2024-01-03'],
    ['lambda Z: Z.replace("Z", "")', `"2024-01-01T00:00:00Z"`, '2024-01-01T00:00:00', '2024-01-03T00:00:00'],
    ['lambda x: f"x:{x}"', `"${later}"`, `x:${later}`, `x:${later}`],
    ['lambda x: pendulum.parse(x).int_timestamp', `"2024-01-01T00:00:00Z"`, '1704067200', '1704240000'],
    ['plain', `"2024-01-01T00:00:00Z"`, '2024-01-01T00:00:00Z', later],
  ])('%s', async (code, first, sent, sentThen) => {
    const imported = await taken('', {
      before: 'def plain(value):\n    return str(value)',
      endpoint: `"incremental": {"cursor_path": "at", "initial_value": ${first}, "start_param": "s", "convert": ${code}}`,
    });
    expect(outcomes(imported)).toEqual(['exact']);
    await tablesOf(imported);
    expect(seen).toEqual([`/rows?s=${encodeURIComponent(sent)}`]);
    await tablesOf(imported);
    expect(seen).toEqual([`/rows?s=${encodeURIComponent(sentThen)}`]);
  });

  test.each<[string, string]>([
    ['lambda n: n + 1', '/rows?s=2'],
    ['lambda n: pendulum.from_timestamp(n).to_date_string()', '/rows?s=1970-01-01'],
  ])('of numbers: %s', async (code, sent) => {
    const imported = await taken('', {
      endpoint: `"params": {"s": {"type": "incremental", "cursor_path": "id", "initial_value": 1, "convert": ${code}}}`,
    });
    await tablesOf(imported);
    expect(seen).toEqual([sent]);
  });

  test.each(['lambda x: X[:10]', 'lambda x: x.title()', 'lambda x, y: x'])('%s is told', async (code) => {
    const { report } = await taken('', {
      endpoint: `"incremental": {"cursor_path": "at", "initial_value": "2024", "convert": ${code}}`,
    });
    expect(report.streams.flatMap(({ reasons }) => reasons.map((reason) => reason.message))).toEqual([
      'No counterpart: a function that changes the value, which is Python code',
    ]);
  });
});

test.each<[string, string]>([
  ['itself', ''],
  ['by its name', '  '],
])('a source in YAML: %s', async (_name, indent) => {
  const folder = dataFolder();
  const file = path.join(folder, 'shop.yaml');
  const source = `client:
  base_url: ${base}
resources:
  - name: rows
    endpoint: { paginator: single_page, data_selector: $ }
`;
  writeFileSync(
    file,
    indent === '' ? source : `sources:\n  shop:\n    type: rest_api\n${source.replaceAll(/^/gm, '    ')}`,
  );
  const out = path.join(folder, 'out');
  expect((await runHere(['import', 'dlt', file, '--out', out])).code).toBe(0);
  const report = JSON.parse(readFileSync(path.join(out, 'import-report.json'), 'utf8')) as ImportReport;
  expect((await tablesOf({ folder: out, report }))['rows']).toHaveLength(3);
});

describe('tables of one source that are written in two ways', () => {
  test('are those of two rows, and what is above them is asked for in each', async () => {
    const imported = await taken('', {
      more: `{"name": "kids", "write_disposition": "replace", "endpoint": "kids/{resources.rows.id}"},
        {"name": "grand", "write_disposition": "replace", "endpoint": "grand/{resources.kids.asked}"},
        {"name": "others", "endpoint": "others/{resources.rows.id}"}`,
    });
    expect(outcomes(imported)).not.toContain('other rows');
    const { rows, kids, grand, others } = await tablesOf(imported);
    expect([rows, kids, grand, others].map((table) => table?.length)).toEqual([3, 3, 3, 3]);
    expect(seen.filter((line) => line === '/rows')).toHaveLength(2);
    expect(new Set(seen).size).toBe(seen.length - 1);
    const adding = Object.entries(filesOf(imported.folder)).flatMap(([name, text]) =>
      /out\/tables\/[^.]+\.\w+\.manifest$/.test(name) && text.includes('"incremental":true')
        ? [name.split('.').at(-2)]
        : [],
    );
    expect(new Set(adding)).toEqual(new Set(['others', 'rows', 'rows_tags']));
  });

  test('but not below a resource with a state, whose rows replace no table', async () => {
    const imported = await taken('', {
      endpoint: '"incremental": {"cursor_path": "at", "initial_value": "2024-01-02T00:00:00Z"}',
      more: '{"name": "kids", "write_disposition": "replace", "endpoint": "kids/{resources.rows.id}"}',
    });
    const { kids } = await tablesOf(imported);
    expect([outcomes(imported), kids?.length]).toEqual([['exact', 'other rows'], 2]);
  });
});
