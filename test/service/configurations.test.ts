import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  anyNumber,
  anyText,
  containing,
  matching,
  FORM,
  startService,
  type Reply,
  type Running,
} from './harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService();
});
afterAll(async () => {
  await api.stop();
});

const all = 'components/ex-generic-v2/configs';
let number = 0;
let id = '';
let config = '';
beforeEach(async () => {
  id = `c${++number}`;
  config = `${all}/${id}`;
  await api.call('POST', all, { name: 'Main', configurationId: id, configuration: { n: 1 } });
});

type Body = Record<string, unknown>;
const get = async (path = config): Promise<Body> => (await api.call('GET', path)).body as Body;
const put = async (path: string, body: unknown): Promise<Reply> => await api.call('PUT', path, body);
const post = async (path: string, body: unknown = {}): Promise<Reply> => await api.call('POST', path, body);
const versions = async (path = config): Promise<Body[]> =>
  (await api.call('GET', `${path}/versions`)).body as Body[];
const texts = async (path = config): Promise<unknown[]> =>
  (await versions(path)).map((version) => version['changeDescription']);

const order = async (): Promise<string[]> => ((await get())['rows'] as { id: string }[]).map((row) => row.id);

test('an id may have a backslash in it', async () => {
  const answer = await post(all, { name: 'Odd', configurationId: `${id}\\odd` });
  expect(answer.body).toMatchObject({ id: `${id}\\odd` });
  expect(await get(`${all}/${id}%5Codd`)).toMatchObject({ name: 'Odd' });
  expect((await api.call('DELETE', `${all}/${id}%5Codd`)).status).toBe(204);
});

test('rows that the service names have digits, and are listed in the order in which they were made', async () => {
  const ids: unknown[] = [];
  for (let n = 0; n < 12; n++)
    ids.push(((await post(`${config}/rows`, { name: String(n) })).body as Body)['id']);
  for (const row of ids) expect(row).toMatch(/^\d+$/);
  expect(await order()).toEqual(ids);
});

test('a change for a version that is no longer the current one is refused, and tells which is', async () => {
  expect((await put(config, { configuration: { n: 2 }, ifVersion: 1 })).body).toMatchObject({ version: 2 });
  const late = await put(config, { configuration: { n: 3 }, ifVersion: 1 });
  expect(late).toMatchObject({
    status: 412,
    body: { code: 'storage.components.versionChanged', params: { version: 2 } },
  });
  expect(await get()).toMatchObject({ version: 2, configuration: { n: 2 } });
  await post(`${config}/rows`, { rowId: 'a', name: 'A' });
  expect((await put(`${config}/rows/a`, { name: 'B', ifVersion: 1 })).status).toBe(200);
  expect(await put(`${config}/rows/a`, { name: 'C', ifVersion: 1 })).toMatchObject({
    status: 412,
    body: { params: { version: 2 } },
  });
  expect((await put(config, { name: 'Other', ifVersion: 'x' })).status).toBe(400);
});

test('an update of a row without its id is refused', async () => {
  for (const path of [`${config}/rows/`, `${config}/rows`])
    expect(await put(path, { name: 'x' })).toMatchObject({
      status: 400,
      body: { code: 'storage.components.validation' },
    });
});

test('text of a text that holds JSON is a state', async () => {
  const twice = JSON.stringify('{"a":1}');
  expect((await put(`${config}/state`, { state: twice })).body).toMatchObject({ state: { a: 1 } });
  expect(
    (await put(`${config}/state`, { state: JSON.stringify('{}'), description: 'x' })).body,
  ).toMatchObject({
    error: 'Invalid parameters - description: This field was not expected.',
  });
  await post(`${config}/rows`, { rowId: 'r' });
  expect((await put(`${config}/rows/r/state`, { state: twice })).body).toMatchObject({ state: { a: 1 } });
  expect((await put(`${config}/state`, { state: '"text"' })).status).toBe(400);
});

async function rowOf(include: string): Promise<Body> {
  const components = (await api.call('GET', `components?include=${include}`)).body as Body[];
  const found = components.flatMap((component) => component['configurations'] as (Body & { rows: Body[] })[]);
  return found.find((item) => item['id'] === id)?.rows[0] ?? {};
}

test('the components show of rows what was asked for', async () => {
  await post(`${config}/rows`, { rowId: 'r', configuration: { of: 'row' }, state: { s: 1 } });
  const bare = await rowOf('rows');
  expect(bare).toMatchObject({ id: 'r', version: 1 });
  expect(bare).not.toHaveProperty('configuration');
  expect(bare).not.toHaveProperty('state');
  expect(await rowOf('rows,configuration')).toMatchObject({ configuration: { of: 'row' } });
  expect(await rowOf('rows,configuration')).not.toHaveProperty('state');
  expect(await rowOf('rows,state')).toMatchObject({ state: { s: 1 } });
  expect(await rowOf('configuration,rows,state')).toMatchObject({
    configuration: { of: 'row' },
    state: { s: 1 },
  });
});

describe('versions of a configuration', () => {
  test('1: creation is version 1 with a text', async () => {
    expect(await get()).toEqual({
      id,
      name: 'Main',
      description: '',
      created: matching(/\+0000$/),
      creatorToken: { id: anyNumber, description: 'Master token' },
      version: 1,
      changeDescription: 'Configuration created',
      isDisabled: false,
      isDeleted: false,
      configuration: { n: 1 },
      rowsSortOrder: [],
      rows: [],
      state: {},
      currentVersion: {
        created: anyText,
        creatorToken: { id: anyNumber, description: 'Master token' },
        changeDescription: 'Configuration created',
        versionIdentifier: matching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      },
    });
  });

  test('2: an update changes what is given; a text counts for its version only', async () => {
    await put(config, { description: 'd', changeDescription: 'because' });
    await put(config, { configuration: { n: 2 } });
    expect(await get()).toMatchObject({
      version: 3,
      name: 'Main',
      description: 'd',
      configuration: { n: 2 },
    });
    expect(await texts()).toEqual(['Configuration updated', 'because', 'Configuration created']);
  });

  test('2: what changes nothing makes no version', async () => {
    const before = await get();
    for (const body of [
      {},
      { name: 'Main' },
      { configuration: { n: 1 } },
      { isDisabled: false },
      { rowsSortOrder: [] },
    ]) {
      const answer = await put(config, { ...body, changeDescription: 'nothing' });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(before);
    }
    await put(config, { configuration: '{"n": 1.0}' });
    expect(await get()).toMatchObject({ version: 2 });
  });

  test('3: a state makes no version, wherever it is sent, and {} resets it', async () => {
    await put(config, { state: { a: [] } });
    expect(await get()).toMatchObject({ version: 1, state: { a: [] } });
    const { currentVersion } = await get();
    await put(`${config}/state`, { state: '{"b":1}' });
    expect(await get()).toMatchObject({ version: 1, state: { b: 1 }, currentVersion });
    await put(config, { name: 'Other', state: {} });
    expect(await get()).toMatchObject({ version: 2, state: {} });
    const version = await get(`${config}/versions/2`);
    expect(version).toMatchObject({ name: 'Other', configuration: { n: 1 } });
    expect(version).not.toHaveProperty('state');
  });

  test('4: every change of a row is a version of the configuration with the same text', async () => {
    await post(`${config}/rows`, { rowId: 7, name: 'R', configuration: { r: [] } });
    await put(`${config}/rows/7`, { description: 'x' });
    await put(`${config}/rows/7`, { isDisabled: true, changeDescription: 'off' });
    await api.call('DELETE', `${config}/rows/7`);
    expect(await texts()).toEqual([
      'Row 7 deleted',
      'off',
      'Row 7 changed',
      'Row 7 added',
      'Configuration created',
    ]);
    expect(await get()).toMatchObject({ version: 5, rows: [] });
    expect(await get(`${config}/versions/4`)).toMatchObject({
      rows: [{ id: '7', version: 3, isDisabled: true, description: 'x', configuration: { r: [] } }],
    });
  });

  test('5: a row update that changes nothing, or the state only, makes no version', async () => {
    await post(`${config}/rows`, { rowId: 'r', name: 'R', configuration: {} });
    await put(`${config}/rows/r`, {});
    await put(`${config}/rows/r`, { name: 'R' });
    await put(`${config}/rows/r`, { configuration: {} });
    await put(`${config}/rows/r`, { state: { s: 1 } });
    await put(`${config}/rows/r/state`, { state: { s: 2 } });
    expect(await get(`${config}/rows/r`)).toMatchObject({ version: 1, state: { s: 2 } });
    expect(await get()).toMatchObject({ version: 2 });
  });

  test('5: the first update of a row that was made without a configuration counts, whatever it says', async () => {
    await post(`${config}/rows`, { rowId: 'r', name: 'R' });
    await put(`${config}/rows/r`, {});
    expect(await get(`${config}/rows/r`)).toMatchObject({ version: 1, configuration: {} });
    await put(`${config}/rows/r`, { name: 'R' });
    await put(`${config}/rows/r`, { name: 'R' });
    expect(await get(`${config}/rows/r`)).toMatchObject({ version: 2, configuration: {} });
    await post(`${config}/rows`, { rowId: 's' });
    // An empty array of PHP, as JSON and as a form: it is as empty as it was.
    await put(`${config}/rows/s`, { configuration: [] });
    await api.call('PUT', `${config}/rows/s`, 'configuration=%5B%5D', FORM);
    expect(await get(`${config}/rows/s`)).toMatchObject({ version: 1, configuration: {} });
    await put(`${config}/rows/s`, { configuration: {} });
    expect(await get(`${config}/rows/s`)).toMatchObject({ version: 2 });
    expect(await get(`${config}/rows/s/versions/1`)).toMatchObject({ configuration: {} });
  });

  test('6: a row id that comes back continues its versions', async () => {
    await post(`${config}/rows`, { rowId: 'r', name: 'first', state: { old: 1 } });
    await api.call('DELETE', `${config}/rows/r`);
    expect((await api.call('GET', `${config}/rows/r`)).body).toMatchObject({
      code: 'notFound',
      error: 'Row r not found',
    });
    const again = await post(`${config}/rows`, { rowId: 'r', name: 'second' });
    expect(again.body).toMatchObject({ version: 2, name: 'second', state: {} });
    expect((await texts()).slice(0, 3)).toEqual(['Row r added', 'Row r deleted', 'Row r added']);
    expect(await texts(`${config}/rows/r`)).toEqual(['Row r added', 'Row r added']);
  });

  test('7: a rollback brings back root, rows and order, and keeps the states', async () => {
    await post(`${config}/rows`, { rowId: 'a', name: 'A', state: { of: 'a' } });
    await post(`${config}/rows`, { rowId: 'b', name: 'B' });
    await put(config, { rowsSortOrder: ['b', 'a'] });
    const target = await get();
    await api.call('DELETE', `${config}/rows/a`);
    await put(`${config}/rows/b`, { name: 'B2' });
    await post(`${config}/rows`, { rowId: 'c' });
    await put(config, { name: 'Changed', isDisabled: true, configuration: { n: 9 }, state: { kept: true } });
    const answer = await post(`${config}/versions/4/rollback`);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ version: '9' });
    const after = await get();
    expect(after).toMatchObject({
      version: 9,
      name: 'Main',
      isDisabled: false,
      configuration: target['configuration'],
      rowsSortOrder: ['b', 'a'],
      state: { kept: true },
      changeDescription: 'Rollback to version 4',
      rows: [
        {
          id: 'b',
          name: 'B',
          version: 3,
          changeDescription: 'Rollback to version 1 (via configuration rollback to version 4)',
        },
        { id: 'a', name: 'A', version: 2, state: { of: 'a' } },
      ],
    });
    await post(`${config}/versions/1/rollback`, { changeDescription: 'start over' });
    expect(await get()).toMatchObject({
      version: 10,
      rows: [],
      rowsSortOrder: [],
      changeDescription: 'start over',
    });
  });

  test('7: a rollback gives every row a version, also one that is as it was', async () => {
    const { versionIdentifier } = (await post(`${config}/rows`, { rowId: 'a', name: 'A' })).body as Body;
    await put(config, { name: 'Changed' });
    await post(`${config}/versions/2/rollback`);
    expect(await get()).toMatchObject({
      version: 4,
      name: 'Main',
      rows: [
        {
          id: 'a',
          version: 2,
          versionIdentifier,
          changeDescription: 'Rollback to version 1 (via configuration rollback to version 2)',
        },
      ],
    });
  });

  test('8: a row goes back alone', async () => {
    const first = (await post(`${config}/rows`, { rowId: 'r', name: 'one' })).body as Body;
    await put(`${config}/rows/r`, { name: 'two' });
    const answer = await post(`${config}/rows/r/versions/1/rollback`);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      id: 'r',
      name: 'one',
      version: 3,
      versionIdentifier: first['versionIdentifier'],
      changeDescription: 'Rollback to version 1',
    });
    expect(await get()).toMatchObject({ version: 4, changeDescription: 'Row r version 1 rollback' });
  });

  test('9: a copy is a new configuration with the rows, their states and no state of its own', async () => {
    await post(`${config}/rows`, { rowId: 'r', name: 'R', state: { row: 1 } });
    await put(config, {
      rowsSortOrder: ['r'],
      isDisabled: true,
      description: 'copied unless one is given',
      state: { root: 1 },
    });
    const answer = await post(`${config}/versions/3/create`, { name: 'Copy' });
    expect(answer.status).toBe(201);
    const copy = answer.body as { id: string };
    expect(copy).toEqual({ id: matching(/^[0-9A-Z]{26}$/) });
    const text = `Copied from configuration "Main" (${id}) version 3`;
    expect(await get(`${all}/${copy.id}`)).toMatchObject({
      name: 'Copy',
      description: 'copied unless one is given',
      version: 1,
      isDisabled: true,
      rowsSortOrder: ['r'],
      state: {},
      configuration: { n: 1 },
      changeDescription: text,
      rows: [{ id: 'r', version: 1, state: { row: 1 }, changeDescription: text }],
    });
    for (const [description, expected] of [
      [null, 'copied unless one is given'],
      ['own', 'own'],
    ] as const) {
      const other = (await post(`${config}/versions/3/create`, { name: 'Copy', description })).body as Body;
      expect(await get(`${all}/${String(other['id'])}`)).toMatchObject({ description: expected });
    }
    expect((await post(`${config}/versions/3/create`, {})).status).toBe(400);
  });

  test('10: a row is copied, here or into another configuration', async () => {
    await post(`${config}/rows`, { rowId: 'r', name: 'R', state: { row: 1 }, configuration: { x: {} } });
    const answer = await post(`${config}/rows/r/versions/1/create`);
    expect(answer.status).toBe(201);
    const copy = answer.body as { id: string };
    const origin = `"Main" (${id}) row r version 1`;
    expect(copy).toMatchObject({
      id: matching(/^\d+$/),
      name: 'R',
      version: 1,
      state: {},
      configuration: { x: {} },
      changeDescription: `Copied from configuration ${origin}`,
    });
    expect(await get()).toMatchObject({
      version: 3,
      changeDescription: `Row ${copy.id} copied from configuration ${origin}`,
    });
    await post(all, { name: 'Target', configurationId: `${id}-target` });
    await post(`${config}/rows/r/versions/1/create`, { targetConfigId: `${id}-target` });
    expect(await get(`${all}/${id}-target`)).toMatchObject({ version: 2, rows: [{ name: 'R' }] });
  });

  test('11 and 12: deleted is in the trash, 404 elsewhere, and comes back with its rows', async () => {
    await post(`${config}/rows`, { rowId: 'r' });
    expect((await post(`${config}/restore`)).status).toBe(404);
    expect((await api.call('DELETE', config)).status).toBe(204);
    for (const path of [
      config,
      `${config}/rows`,
      `${config}/rows/r`,
      `${config}/versions`,
      `${config}/metadata`,
    ]) {
      expect((await api.call('GET', path)).body).toMatchObject({
        code: 'notFound',
        error: `Configuration ${id} not found`,
      });
    }
    expect((await put(config, { name: 'x' })).status).toBe(404);
    const trash = (await api.call('GET', `${all}?isDeleted=true`)).body as Body[];
    expect(trash.find((item) => item['id'] === id)).toMatchObject({
      isDeleted: true,
      version: 3,
      changeDescription: 'Configuration deleted',
    });
    expect((await post(`${config}/restore`)).body).toMatchObject({
      isDeleted: false,
      version: 4,
      changeDescription: 'Configuration restored',
      rows: [{ id: 'r' }],
    });
    expect((await versions())[1]).toMatchObject({ version: 3, isDeleted: true });
  });

  test('11: deleting twice purges; the id starts at version 1 again', async () => {
    await api.call('DELETE', config);
    expect((await api.call('DELETE', config)).status).toBe(204);
    expect((await api.call('DELETE', config)).status).toBe(404);
    expect((await post(`${config}/restore`)).status).toBe(404);
    expect((await post(all, { name: 'New', configurationId: id })).body).toMatchObject({ version: 1 });
  });

  test('13: the id of a deleted configuration is revived without rows, its versions go on', async () => {
    await post(`${config}/rows`, { rowId: 'r' });
    await api.call('DELETE', config);
    const answer = await post(all, { name: 'Revived', configurationId: id });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      version: 4,
      rows: [],
      state: {},
      configuration: {},
      changeDescription: 'Configuration created',
    });
  });

  test('what a version was made with is its own: order, rows, whether it was disabled', async () => {
    for (const rowId of ['a', 'b']) await post(`${config}/rows`, { rowId, configuration: { of: rowId } });
    await put(config, { rowsSortOrder: ['b', 'a'], isDisabled: true });
    await put(`${config}/rows/a`, { configuration: {} });
    await put(config, { rowsSortOrder: ['a', 'b'], isDisabled: false });
    expect(await get(`${config}/versions/4`)).toMatchObject({
      isDisabled: true,
      rowsSortOrder: ['b', 'a'],
      rows: [
        { id: 'b', configuration: { of: 'b' } },
        { id: 'a', version: 1, configuration: { of: 'a' } },
      ],
    });
    await api.call('DELETE', config);
    await post(`${config}/restore`);
    expect(await get()).toMatchObject({ isDisabled: false, rowsSortOrder: ['a', 'b'] });
  });

  test('when a configuration or a row was made never changes', { tags: 'thorough' }, async () => {
    const { created } = (await post(`${config}/rows`, { rowId: 'r' })).body as Body;
    const first = (await get())['created'];
    await new Promise((resolve) => setTimeout(resolve, 1100)); // times are in seconds
    await api.call('DELETE', `${config}/rows/r`);
    await post(`${config}/versions/2/rollback`);
    expect(await get()).toMatchObject({ created: first, rows: [{ id: 'r', created, version: 2 }] });
    await api.call('DELETE', config);
    const revived = await post(all, { name: 'New', configurationId: id });
    expect(revived.body).toMatchObject({ created: first });
    expect((await post(`${config}/rows`, { rowId: 'r' })).body).toMatchObject({ created, version: 3 });
  });

  test('a text of the client stands for every text of a rollback, and for that of a copy', async () => {
    await post(`${config}/rows`, { rowId: 'r', name: 'one' });
    await put(`${config}/rows/r`, { name: 'two' });
    const note = { changeDescription: 'because' };
    await post(`${config}/versions/2/rollback`, note);
    expect(await get()).toMatchObject({ changeDescription: 'because', rows: [note] });
    const copy = (await post(`${config}/versions/2/create`, { name: 'Copy', ...note })).body as Body;
    expect(await get(`${all}/${String(copy['id'])}`)).toMatchObject({
      ...note,
      rows: [{ changeDescription: 'because' }],
    });
    await post(`${config}/rows/r/versions/1/create`, note);
    expect(await get()).toMatchObject(note);
    await put(config, { name: 'Next' });
    expect(await get()).toMatchObject({ changeDescription: 'Configuration updated' });
  });

  test('the list of versions has parts, limit and offset', async () => {
    await put(config, { name: 'Second' });
    await put(config, { name: 'Third' });
    const list = async (query: string): Promise<Body[]> =>
      (await api.call('GET', `${config}/versions?${query}`)).body as Body[];
    expect((await list('limit=1&offset=1')).map((item) => item['name'])).toEqual(['Second']);
    expect((await list('include=configuration,state'))[0]).toMatchObject({
      version: 3,
      configuration: { n: 1 },
    });
    expect((await list('include=configuration'))[0]).not.toHaveProperty('name');
    expect((await list('include='))[0]).toMatchObject({ name: 'Third', description: '' });
    expect((await api.call('GET', `${config}/versions?include=rows`)).status).toBe(400);
    expect((await api.call('GET', `${config}/versions/99`)).body).toMatchObject({
      error: 'Version 99 not found',
    });
    expect((await api.call('GET', `${config}/versions/x`)).status).toBe(404);
  });

  test('every version has an identifier of its own', async () => {
    for (let n = 2; n < 10; n++) await put(config, { configuration: { n } });
    const identifiers = (await versions()).map((version) => version['versionIdentifier']);
    expect(new Set(identifiers).size).toBe(9);
  });

  test('updates from many clients at once lose no version and leave no gap', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => await put(config, { configuration: { client: n } })),
    );
    const numbers = answers
      .map((answer) => (answer.body as { version: number }).version)
      .sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, n) => n + 2));
  });
});

describe('order of rows', () => {
  beforeEach(async () => {
    for (const rowId of ['b', 'a']) await post(`${config}/rows`, { rowId });
  });

  test('by id until it is set; then as set, new rows last, deleted ones left out', async () => {
    expect(await order()).toEqual(['a', 'b']);
    await api.call('PUT', config, 'rowsSortOrder[]=b&rowsSortOrder[]=a', FORM);
    expect(await order()).toEqual(['b', 'a']);
    await post(`${config}/rows`, { rowId: '0' });
    expect(await get()).toMatchObject({ rowsSortOrder: ['b', 'a', '0'] });
    await api.call('DELETE', `${config}/rows/a`);
    expect(await get()).toMatchObject({ rowsSortOrder: ['b', '0'] });
    expect(await order()).toEqual(['b', '0']);
    expect(((await api.call('GET', `${config}/rows`)).body as Body[]).map((row) => row['id'])).toEqual([
      'b',
      '0',
    ]);
  });

  test.each([
    [['a'], 'validation.invalidRowSortOrder'],
    [['a', 'a', 'b'], 'validation.invalidRowSortOrder'],
    [['a', 'b', 'c'], 'storage.components.validation'],
  ])('%j does not name every row once', async (rowsSortOrder, code) => {
    const answer = await put(config, { rowsSortOrder });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code });
    expect(await get()).toMatchObject({ version: 3 });
  });
});

describe('errors', () => {
  test.each([
    ['configuration', 'nope', 'validation.invalidConfigurationFormat'],
    ['configuration', '7', 'validation.invalidConfigurationFormat'],
    ['configuration', true, 'validation.invalidConfigurationFormat'],
    ['state', '{', 'validation.invalidStateFormat'],
    ['name', '  ', 'storage.components.validation'],
  ])('%s %j', async (field, value, code) => {
    for (const answer of [
      await put(config, { [field]: value }),
      await post(all, { name: 'x', [field]: value }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code, error: containing(field) });
    }
  });

  test('an id that is taken', async () => {
    expect((await post(all, { name: 'x', configurationId: id })).body).toMatchObject({
      code: 'configurationAlreadyExists',
      error: `Configuration ${id} already exists`,
    });
    await post(`${config}/rows`, { rowId: 'r' });
    const row = await post(`${config}/rows`, { rowId: 'r' });
    expect(row.status).toBe(400);
    expect(row.body).toMatchObject({ code: matching(/AlreadyExists$/) });
  });

  test('an update without an id', async () => {
    expect((await put(`${all}/`, { name: 'x' })).status).toBe(400);
  });

  test.each([
    [{ state: {}, description: 'x' }, 'Invalid parameters - description: This field was not expected.'],
    [{}, 'Invalid parameters - state: This field is missing.'],
    [{ state: '' }, 'Invalid parameters - state: This value should not be blank.'],
    [{ state: null }, 'Invalid parameters - state: This value should not be blank.'],
    [{ state: 'nope' }, 'Invalid parameters - state: This value should be valid JSON.'],
  ])('a state of a configuration as %j', async (body, error) => {
    expect((await put(`${config}/state`, body)).body).toMatchObject({
      code: 'storage.components.validation',
      error,
    });
  });

  test.each([
    [
      { state: {}, description: 'x' },
      'storage.componentsRows.validation',
      'Invalid parameters - description: This field was not expected.',
    ],
    [{}, 'validation.invalidStateFormat', 'Invalid state body format: This field is missing.'],
    [
      { state: '' },
      'validation.invalidStateFormat',
      'Invalid state body format: This value should not be blank.',
    ],
    [
      { state: 'nope' },
      'validation.invalidStateFormat',
      'Invalid state body format: This value should be valid JSON.',
    ],
  ])('a state of a row as %j', async (body, code, error) => {
    await post(`${config}/rows`, { rowId: 'r' });
    expect((await put(`${config}/rows/r/state`, body)).body).toMatchObject({ code, error });
  });
});

test('a state may come as multipart, as every body', async () => {
  await post(`${config}/rows`, { rowId: 'r' });
  for (const path of [`${config}/state`, `${config}/rows/r/state`]) {
    const form = new FormData();
    form.set('state', '{"a":{}}');
    const answer = await put(path, form);
    expect([answer.status, answer.body]).toMatchObject([200, { state: { a: {} } }]);
    form.set('description', 'x');
    expect((await put(path, form)).status).toBe(400);
  }
});

test('what lists show is what the details show, rows and their order included', async () => {
  await post(`${config}/rows`, { rowId: 'a', state: { s: 1 } });
  await post(`${config}/rows`, { rowId: 'b', configuration: { r: [] } });
  await put(config, { rowsSortOrder: ['b', 'a'], state: { s: 2 } });
  await post(`${config}/rows`, { rowId: 'gone' });
  await api.call('DELETE', `${config}/rows/gone`);
  const detail = await get();
  const listed = (await api.call('GET', all)).body as Body[];
  expect(listed.find((item) => item['id'] === id)).toEqual(detail);
  const query = 'components?include=configuration,rows,state';
  const [component] = (await api.call('GET', query)).body as { configurations: Body[] }[];
  expect(component?.configurations.find((item) => item['id'] === id)).toEqual(detail);
});

describe('components', () => {
  test('those with configurations, with the parts asked for', async () => {
    const plain = (await api.call('GET', 'components')).body as { id: string; configurations: Body[] }[];
    expect(plain.map((component) => component.id)).toEqual(['ex-generic-v2']);
    const mine = (found: typeof plain): Body | undefined =>
      found[0]?.configurations.find((configuration) => configuration['id'] === id);
    expect(mine(plain)).toMatchObject({ name: 'Main' });
    expect(mine(plain)).not.toHaveProperty('configuration');
    const full = (await api.call('GET', 'components?include=configuration,rows,state')).body as typeof plain;
    expect(mine(full)).toMatchObject({ configuration: { n: 1 }, rows: [], state: {} });
    expect((await api.call('GET', 'components?componentType=writer')).body).toEqual([]);
    expect((await api.call('GET', 'components?componentType=&isDeleted=&include=')).body).toEqual(plain);
    expect((await api.call('GET', 'components?include=rows,invalid')).body).toMatchObject({
      errors: [
        {
          key: 'include',
          message:
            'Invalid include parameters: "invalid". Only following are allowed: configuration, rows, state.',
        },
      ],
    });
  });
});
