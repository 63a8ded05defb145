import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORM, startService, type Reply, type Running } from './harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService();
});
afterAll(async () => {
  await api.stop();
});

type Body = Record<string, unknown>;
const get = async (path: string): Promise<Reply> => await api.call('GET', path);
const post = async (path: string, body: unknown = {}, headers = {}): Promise<Reply> =>
  await api.call('POST', path, body, headers);

describe('branches', () => {
  test('the default branch comes first and has an empty list as its creator', async () => {
    expect(((await get('dev-branches')).body as Body[])[0]).toMatchObject({
      name: 'Main',
      isDefault: true,
      creatorToken: [],
    });
  });

  test('a branch starts with a copy of the configurations and is independent from then on', async () => {
    const configs = 'components/wr-db/configs';
    await post(configs, { name: 'W', configurationId: 'w', configuration: { a: {} }, state: { main: 1 } });
    await post(`${configs}/w/rows`, { rowId: 'r', name: 'R', state: { main: 2 } });
    await post(`${configs}/w/metadata`, { metadata: [{ key: 'KBC.folder', value: 'one' }] });
    const created = await post('dev-branches', { name: 'Feature' });
    expect(created.status).toBe(202);
    const job = created.body as { url: string; results: { id: number } };
    expect(created.body).toMatchObject({
      operationName: 'devBranchCreate',
      status: 'success',
      results: { name: 'Feature' },
    });
    expect((await get(new URL(job.url).pathname)).body).toEqual(created.body);

    const branch = `branch/${job.results.id}/${configs}/w`;
    expect((await get(branch)).body).toMatchObject({
      version: 1,
      state: {},
      configuration: { a: {} },
      changeDescription: 'Copied from default branch configuration "W" (w) version 2',
      rows: [
        {
          version: 1,
          state: {},
          changeDescription: 'Copied from default branch configuration row "R" (r) version 1',
        },
      ],
    });
    expect((await get(`${branch}/metadata`)).body).toMatchObject([{ key: 'KBC.folder', value: 'one' }]);
    await post(`${branch}/metadata`, { metadata: [{ key: 'KBC.folder', value: 'two' }] });
    expect((await get(`${configs}/w/metadata`)).body).toMatchObject([{ value: 'one' }]);
    await api.call('PUT', branch, { name: 'W in the branch' });
    expect((await get(`${configs}/w`)).body).toMatchObject({ name: 'W', version: 2 });
    expect((await api.call('PUT', `${branch}/rows/r`, { state: {} })).status).toBe(400);

    await api.call('PUT', `${configs}/w`, { configuration: { b: [] } });
    expect((await post(`${branch}/reset-to-default`)).status).toBe(204);
    expect((await get(branch)).body).toMatchObject({
      name: 'W',
      version: 3,
      configuration: { b: [] },
      rows: [{ id: 'r' }],
    });
    expect((await post(`${configs}/w/reset-to-default`)).body).toMatchObject({
      error: 'Reset to default branch is not implemented for default branch',
    });

    await api.call('DELETE', branch);
    expect((await api.call('DELETE', branch)).body).toMatchObject({
      code: 'storage.components.cannotDeleteConfiguration',
      error: 'Deleting configuration from trash is not allowed in development branches.',
    });
    const deleted = await api.call('DELETE', `dev-branches/${job.results.id}`);
    expect(deleted.status).toBe(202);
    expect((await get(new URL((deleted.body as { url: string }).url).pathname)).body).toMatchObject({
      operationName: 'devBranchDelete',
      status: 'success',
    });
    expect((await get(branch)).status).toBe(404);
    expect((await get(`${configs}/w`)).status).toBe(200);
  });

  test('clients that prefix every path with a branch reach all of them', async () => {
    const made = await post('branch/default/dev-branches', { name: 'Prefixed' });
    const { id } = (made.body as { results: { id: number } }).results;
    expect((await get(`branch/${id}/dev-branches/`)).body).toEqual((await get('dev-branches')).body);
    expect((await get(`branch/${id}/global-search?query=none`)).body).toMatchObject({ all: 0 });
  });

  test('names are unique, and the default branch stays', async () => {
    await post('dev-branches', { name: 'Twice' });
    expect((await post('dev-branches', { name: 'Twice' })).body).toMatchObject({
      code: 'devBranch.duplicateName',
      error: 'There already is a branch with name "Twice"',
    });
    expect((await api.call('DELETE', 'dev-branches/default')).body).toMatchObject({
      error: 'Cannot delete Main branch',
    });
    const renamed = await api.call('PUT', 'dev-branches/default', { name: 'Other' });
    expect(renamed.body).toMatchObject({ error: 'You can not update default branch name.' });
    expect((await api.call('PUT', 'dev-branches/default', { description: 'x' })).body).toMatchObject({
      description: 'x',
    });
    expect((await get('dev-branches/12345')).body).toMatchObject({
      error: 'Branch id:"12345" was not found.',
    });
  });
});

describe('metadata', () => {
  test('of a configuration: set, overwritten with its id kept, deleted, and found by it', async () => {
    await post('components/transformation/configs', { name: 'M', configurationId: 'm' });
    const path = 'branch/default/components/transformation/configs/m/metadata';
    const form =
      'metadata[0][key]=KBC.folder&metadata[0][value]=one&metadata[1][key]=b&metadata[1][value]=two';
    const set = await post(path, form, FORM);
    expect(set.status).toBe(201);
    const [first] = set.body as Body[];
    expect(set.body).toMatchObject([
      { key: 'KBC.folder', value: 'one' },
      { key: 'b', value: 'two' },
    ]);
    const again = await post(path, { metadata: [{ key: 'KBC.folder', value: 'changed' }] });
    expect(again.body).toMatchObject([{ id: first?.['id'], value: 'changed' }, { key: 'b' }]);
    const search = 'branch/default/search/component-configurations?componentId=transformation';
    expect((await get(`${search}&metadataKeys[]=KBC.folder&include=filteredMetadata`)).body).toMatchObject([
      {
        idComponent: 'transformation',
        configurationId: 'm',
        metadata: [{ key: 'KBC.folder', value: 'changed' }],
      },
    ]);
    expect((await get(`${search}&metadataKeys[]=none`)).body).toEqual([]);
    expect((await api.call('DELETE', `${path}/${String(first?.['id'])}`)).status).toBe(204);
    expect((await api.call('DELETE', `${path}/${String(first?.['id'])}`)).body).toMatchObject({
      code: 'storage.metadata.notFound',
      error: 'The supplied metadata ID was not found',
    });
    expect((await get(path)).body).toMatchObject([{ key: 'b' }]);
  });

  test('of a branch', async () => {
    await post('branch/default/metadata', { metadata: [{ key: 'k', value: 'v' }] });
    expect((await get('branch/default/metadata')).body).toMatchObject([{ key: 'k', value: 'v' }]);
    expect((await get('metadata')).status).toBe(404);
  });

  test.each([
    [{ metadata: 'text' }, 'storage.metadata.invalidParameter'],
    [{}, 'storage.metadata.invalidParameter'],
    [{ metadata: ['text'] }, 'storage.metadata.invalidStructure'],
    [{ metadata: [{ key: 'a' }] }, 'storage.metadata.invalidStructure'],
    [{ metadata: [{ key: '', value: 'x' }] }, 'storage.metadata.invalidKey'],
    [{ metadata: [{ key: '50%', value: 'x' }] }, 'storage.metadata.invalidKey'],
    [{ metadata: [{ key: 'k'.repeat(256), value: 'x' }] }, 'storage.metadata.invalidKey'],
  ])('%j is refused', async (body, code) => {
    const answer = await post('branch/default/metadata', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code });
  });

  test('of buckets and tables that do not exist', async () => {
    expect((await get('buckets/in.c-none/metadata')).body).toMatchObject({
      code: 'storage.buckets.notFound',
    });
    expect((await get('tables/in.c-none.t/metadata')).body).toMatchObject({
      code: 'storage.buckets.notFound',
    });
  });
});

describe('search, tickets and names', () => {
  test('global search sees a new name at once, whatever its case', async () => {
    await post('components/keboola.orchestrator/configs', {
      name: 'Žluťoučký kůň',
      configurationId: 'horse',
    });
    const { body } = await get(`global-search?query=${encodeURIComponent('ŽLUŤ')}`);
    expect(body).toMatchObject({
      all: 1,
      items: [{ id: 'horse', type: 'flow' }],
      byType: { total: 1, flow: 1 },
      byProject: { '1': 'My project' },
    });
    await api.call('DELETE', 'components/keboola.orchestrator/configs/horse');
    expect((await get('global-search?query=horse')).body).toMatchObject({ all: 0 });
    expect((await get('global-search')).status).toBe(400);
  });

  test('tickets are numbers as text, and only go up', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(((await post('tickets')).body as { id: string }).id);
    expect(ids).toEqual(ids.map((id) => String(Number(id))));
    expect(ids.map(Number)).toEqual([...new Set(ids.map(Number))].sort((a, b) => a - b));
  });

  test('names are made fit or refused', async () => {
    const display = await post('webalize/display-name', { displayName: 'Môj 1$ obľúbený bucket $' });
    expect(display.body).toEqual({ displayName: 'Moj-1-oblubeny-bucket' });
    const columns = await post('webalize/column-names', { columnNames: ['currency €', 'CTID'] });
    expect(columns.body).toEqual({ columnNames: ['currency_EUR', 'CTID'] });
    expect((await post('validate/column-names', { columnNames: ['ok'] })).status).toBe(204);
    const wrong = await post('validate/column-names', { columnNames: ['ok', 'not ok', '_x', ''] });
    expect(wrong.status).toBe(422);
    expect(wrong.body).toMatchObject({
      errors: [
        {
          key: 'columnNames[1]',
          message:
            "'not ok' contains not allowed characters. Only alphanumeric characters and underscores are allowed.",
        },
        {
          key: 'columnNames[2]',
          message: "'_x' contains not allowed characters. Cannot start with underscore.",
        },
        { key: 'columnNames[3]', message: 'This value should not be blank.' },
      ],
    });
    const long = '_'.repeat(150_000);
    expect((await post('webalize/column-names', { columnNames: [`a${long}b`] })).status).toBe(400);
    expect((await post('webalize/display-name', { displayName: long })).status).toBe(400);
    expect((await post('webalize/display-name', { displayName: '-----' })).status).toBe(422);
  });
});
