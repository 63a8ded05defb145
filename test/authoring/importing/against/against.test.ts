import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { compareTables } from '../../../../src/authoring/importing/against/compare-tables.ts';
import { openTable, type OpenedTable } from '../../../../src/authoring/importing/against/table-file.ts';
import type { ImportReport, StreamReport } from '../../../../src/authoring/importing/report.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { gexHere, json, startApi, type Api, type Ended } from '../../../cli/support.ts';

const FOLDER = mkdtempSync(path.join(os.tmpdir(), 'gex-import-against-'));

const USERS = [1, 2, 3, 4, 5].map((id) => ({
  id,
  // names of these tables are over 64 characters, and cut
  rules: {
    countries_that_are_approved_or_denied_for_sign_in: { approved: [`A${id}`, 'B'], denied: [`C${id}`] },
  },
  name: `User ${id}`,
  createdAt: `2026-01-0${id}T10:00:00Z`,
  price: 1.5,
  tags: id === 2 ? [] : [{ name: `t${id}` }, { name: 'x' }],
}));
type User = (typeof USERS)[number];

let api: Api;
beforeAll(async () => {
  api = await startApi(({ url }, response) => {
    if (url.pathname === '/users') json(response, USERS);
    else if (url.pathname === '/pets') json(response, [{ id: 7, kind: 'cat' }]);
    else json(response, { message: 'There is nothing here' }, 404);
  });
});

function streamOf(name: string): string {
  return `
  - type: DeclarativeStream
    name: ${name}
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester: { type: HttpRequester, url_base: '${api.url}', path: /${name}, http_method: GET }
      record_selector: { type: RecordSelector, extractor: { type: DpathExtractor, field_path: [] } }`;
}

function manifest(): string {
  const file = path.join(FOLDER, 'manifest.yaml');
  writeFileSync(
    file,
    `version: 5.0.0
type: DeclarativeSource
check: { type: CheckStream, stream_names: [users] }
streams:${streamOf('users')}${streamOf('pets')}
`,
  );
  return file;
}

function records(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = path.join(FOLDER, `${name}-records`);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), content);
  }
  return folder;
}

function messages(stream: string, rows: readonly unknown[]): string {
  return rows
    .map((data) => `${JSON.stringify({ type: 'RECORD', record: { stream, data, emitted_at: 1 } })}\n`)
    .join('');
}

function lines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function tableOf(name: string, main: string, list: string): Promise<OpenedTable> {
  const folder = records(name, { rows: `name,tags\n${main}`, rows_tags: `data,JSON_parentId\n${list}` });
  const opened = await openTable(folder, 'rows');
  if (opened === undefined) throw new Error('the table is there');
  return opened;
}

async function against(
  folder: string,
  ...options: readonly string[]
): Promise<Ended & { readonly users: StreamReport; readonly pets: StreamReport }> {
  const ended = await gexHere('import', 'airbyte', manifest(), '--against', folder, '--json', ...options);
  const { streams } = JSON.parse(ended.stdout) as ImportReport;
  const [users, pets] = streams;
  if (users === undefined || pets === undefined) throw new Error('two streams are imported');
  return { ...ended, users, pets };
}

describe('rows that are compared with those of another tool', () => {
  test('are equal in whatever order they come, with their lists', async () => {
    const log = '{"type":"LOG","log":{"level":"INFO","message":"begun"}}\n';
    const folder = records('equal', {
      'out.jsonl': log + messages('users', USERS.toReversed()) + messages('pets', [{ kind: 'cat', id: 7 }]),
    });
    const { code, users, pets } = await against(folder);
    expect(users.compared).toMatchObject({ result: 'equal', table: { here: 5, there: 5, equal: 5 } });
    expect(pets.compared).toMatchObject({ result: 'equal', table: { equal: 1 } });
    expect([users.outcome, code]).toEqual(['exact', 0]);
  });

  test('are equal with lists whose links and tables differ by the order of names', async () => {
    const turned = USERS.map(({ rules, ...user }) => {
      const { approved, denied } = rules.countries_that_are_approved_or_denied_for_sign_in;
      return { ...user, rules: { countries_that_are_approved_or_denied_for_sign_in: { denied, approved } } };
    });
    const equal = await against(records('turned', { 'users.jsonl': lines(turned) }));
    expect(equal.users.compared).toMatchObject({ result: 'equal', table: { equal: 5 } });
    const [first, ...others] = structuredClone(turned);
    first?.rules.countries_that_are_approved_or_denied_for_sign_in.denied.push('D');
    const other = await against(records('turned-other', { 'users.jsonl': lines([first, ...others]) }));
    expect(other.users.compared).toMatchObject({ result: 'differs', table: { equal: 4 } });
  });

  test('are equal where rows that are the same come twice, with the items of both at one link', async () => {
    const ours = await tableOf('same', 'a,l\na,l\n', 'x,l\ny,l\ny,l\nx,l\ny,l\ny,l\n');
    const equal = async (theirs: OpenedTable): Promise<number> => {
      const scratch = path.join(mkdtempSync(path.join(FOLDER, 'scratch-')), 'rows.sqlite');
      return (await compareTables({ ours, theirs, key: [], scratch })).equal;
    };
    const twoLists = 'x,l1\ny,l1\ny,l1\nx,l2\ny,l2\n';
    expect(await equal(await tableOf('apart', 'a,l1\na,l2\n', `${twoLists}y,l2\n`))).toBe(2);
    expect(await equal(await tableOf('shorter', 'a,l1\na,l2\n', twoLists))).toBe(1);
  });

  test('have fields of their own beside those that a destination adds', async () => {
    const pet = { kind: 'cat', id: 7, _airbyte_raw_id: 'r', _airbyte_extracted_at: 1 };
    const equal = await against(records('added', { 'pets.jsonl': lines([pet]) }));
    expect(equal.pets.compared).toMatchObject({ result: 'equal' });
    const own = await against(records('own', { 'pets.jsonl': lines([{ ...pet, _airbyte_parent_id: 3 }]) }));
    expect(own.pets.compared).toMatchObject({ result: 'other columns' });
  });

  test('are told apart: changed, missing and more, with their places, and the level is lost', async () => {
    const changed = USERS.map((user): User | (User & { score: number }) =>
      user.id === 3 ? { ...user, name: 'Somebody else', tags: [{ name: 'x' }] } : user,
    );
    const there = [{ ...USERS[0], id: 99 }, ...changed.filter(({ id }) => id !== 5)];
    const { code, users, pets } = await against(records('different', { 'users.jsonl': lines(there) }));
    expect(code).toBe(1);
    expect(users).toMatchObject({
      outcome: 'not',
      compared: {
        result: 'differs',
        table: {
          here: 5,
          there: 5,
          equal: 3,
          changed: 1,
          missing: 1,
          more: 1,
          differing: { name: 1, tags: 1 },
          key: ['id'],
        },
      },
    });
    const { examples } = users.compared?.table ?? {};
    expect(examples?.changed).toEqual([
      {
        place: 'users.jsonl:4',
        text: 'name is “Somebody else” there and “User 3” here; tags is a list there and a list here',
      },
    ]);
    expect(examples?.missing[0]).toMatchObject({ place: 'users.jsonl:1' });
    expect(examples?.missing[0]?.text).toContain('id=“99”');
    expect(examples?.more[0]).toMatchObject({ place: 'row 5' });
    expect(pets.compared).toMatchObject({ result: 'not compared' });
  });

  test('may have other columns, and times in another form: those are told, and are no other rows', async () => {
    const there = USERS.map(({ createdAt, ...user }) => ({
      ...user,
      created_at: createdAt.replace('Z', '+00:00'),
      score: 1,
    }));
    const { code, users } = await against(records('columns', { 'users.jsonl': lines(there) }));
    expect(code).toBe(0);
    expect(users).toMatchObject({
      outcome: 'equal rows, other columns',
      compared: {
        result: 'other columns',
        table: {
          equal: 0,
          otherwise: 5,
          renamed: { createdAt: 'created_at' },
          missingColumns: ['score'],
          moreColumns: [],
        },
      },
    });
  });

  test('are read from CSV, from folders of dlt with tables of their lists, and packed', async () => {
    const csv = `id,name,createdAt,price,tags\n${USERS.map(
      ({ id, name, createdAt, tags }) =>
        `${id},${name},${createdAt},1.50,"${JSON.stringify(tags).replaceAll('"', '""')}"\n`,
    ).join('')}`;
    const fromCsv = await against(records('csv', { 'users.csv': csv }));
    expect(fromCsv.users.compared).toMatchObject({ result: 'equal', table: { otherwise: 5 } });
    const main = USERS.map(({ tags: _tags, createdAt, ...user }) => ({
      ...user,
      created_at: createdAt,
      _dlt_id: `d${user.id}`,
      _dlt_load_id: '1',
    }));
    const below = USERS.flatMap(({ id, tags }) =>
      tags.map((tag, index) => ({
        ...tag,
        _dlt_parent_id: `d${id}`,
        _dlt_list_idx: index,
        _dlt_id: `x${id}${index}`,
      })),
    );
    const dlt = records('dlt', {
      'users/1.0.jsonl.gz': gzipSync(lines(main)),
      'users__tags/1.0.jsonl': lines(below.slice(1)),
      '_dlt_loads/1.jsonl': lines([{ load_id: '1' }]),
    });
    const fromDlt = await against(dlt);
    expect(fromDlt.users.compared?.lines).toEqual([
      '5 rows here, 5 there: 5 equal',
      'columns that are called in another way there: createdAt is created_at',
      'users__tags: 8 rows here, 7 there: 7 equal',
      expect.stringMatching(/^users__tags: 1 row here, and not there/),
      expect.stringMatching(/^users__tags: {3}row \d+: name=“/),
    ]);
    expect(fromDlt.users.compared?.result).toBe('differs');
  });

  test('may be those of a run before; nothing is asked for then', async () => {
    const data = path.join(FOLDER, 'data');
    await gexHere('import', 'airbyte', manifest(), '--out', data, '--force');
    await run({ dataFolder: data, log: silentLog });
    const before = api.seen.length;
    const folder = records('before', { 'users.json': JSON.stringify(USERS.slice(0, 4)) });
    const { users, code } = await against(folder, '--tables', data);
    expect(api.seen).toHaveLength(before);
    expect([users.compared?.table?.more, code]).toEqual([1, 1]);
    expect(readFileSync(path.join(data, 'config.json'), 'utf8')).not.toContain('isDisabled');
  });

  test('cannot be had from a folder without any, or with a line that is none', async () => {
    mkdirSync(path.join(FOLDER, 'empty'), { recursive: true });
    const empty = await gexHere('import', 'airbyte', manifest(), '--against', path.join(FOLDER, 'empty'));
    expect(empty.stderr).toContain('There are no records');
    const broken = records('broken', { 'users.jsonl': '{"id": 1}\n[1]\n' });
    const { code, stderr } = await gexHere('import', 'airbyte', manifest(), '--against', broken);
    expect(code).toBe(1);
    expect(stderr).toMatch(/A line is no JSON object.*users\.jsonl.*line 2|users\.jsonl:2/s);
    expect(stderr).toContain("jq -c '.[]'");
  });
});
