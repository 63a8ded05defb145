import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { receiver } from '../support/lineage-receiver.ts';
import { configOf, dataFolder, gex, json, runHere, startApi, startGex } from './support.ts';

const UUID = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const HOST = `file://${os.hostname()}`;
const base = (name: string, version: string) => ({
  _producer: expect.stringMatching(/^https:\/\/generic-extractor\/\d/) as unknown,
  _schemaURL: `https://openlineage.io/spec/facets/${version}/${name}.json#/$defs/${name}`,
});

test('START and COMPLETE tell what a run reads and which tables it fills', async () => {
  const api = await startApi(({ url }, response) =>
    json(response, url.pathname.endsWith('/books') ? [{ id: 1, price: 1.5 }] : [{ page: 'a' }]),
  );
  const children = [
    { endpoint: 'books/{id}/pages?key=visible', dataType: 'pages', placeholders: { id: 'id' } },
  ];
  const job = { endpoint: 'v1/books?since=2026', dataType: 'books', types: true, children };
  const folder = dataFolder(configOf(api, [job]));
  const { got, url } = await receiver();
  const ran = await runHere(['run', '--data', folder, '--openlineage', url], {
    env: { GEX_OPENLINEAGE_KEY: 'key of lineage' },
  });
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.stderr).not.toContain('openlineage');
  expect(got.map(({ url: path, authorization }) => [path, authorization])).toEqual([
    ['/api/v1/lineage', 'Bearer key of lineage'],
    ['/api/v1/lineage', 'Bearer key of lineage'],
  ]);
  const [start, complete] = got.map(({ event }) => event);
  const inputs = ['/v1/books', '/books/{id}/pages'].map((name) => ({
    namespace: api.url.slice(0, -1),
    name,
    facets: {},
  }));
  const common = {
    eventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
    producer: expect.stringMatching(/^https:\/\/generic-extractor\/\d/) as unknown,
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: { runId: expect.stringMatching(UUID) as unknown, facets: {} },
    job: {
      namespace: HOST,
      name: folder,
      facets: {
        jobType: {
          ...base('JobTypeJobFacet', '2-0-3'),
          processingType: 'BATCH',
          integration: 'GENERIC_EXTRACTOR',
          jobType: 'JOB',
        },
      },
    },
    inputs,
  };
  expect(start).toEqual({ ...common, eventType: 'START', outputs: [] });
  const output = (
    name: string,
    fields: readonly (readonly [string, string, string?])[],
    { size, from }: { readonly size: number; readonly from: string },
  ) => ({
    namespace: `${HOST}${path.join(folder, 'storage')}`,
    name,
    facets: {
      schema: {
        ...base('SchemaDatasetFacet', '1-1-1'),
        fields: fields.map(([column, type]) => ({ name: column, type })),
      },
      columnLineage: {
        ...base('ColumnLineageDatasetFacet', '1-2-0'),
        fields: Object.fromEntries(
          fields.flatMap(([column, , field]) =>
            field === undefined ? [] : [[column, lineage(from, field)]],
          ),
        ),
      },
    },
    outputFacets: {
      outputStatistics: { ...base('OutputStatisticsOutputDatasetFacet', '1-0-2'), rowCount: 1, size },
    },
  });
  function lineage(name: string, field: string) {
    const transformations = [{ type: 'DIRECT', subtype: 'IDENTITY' }];
    return { inputFields: [{ namespace: api.url.slice(0, -1), name, field, transformations }] };
  }
  expect(complete).toEqual({
    ...common,
    eventType: 'COMPLETE',
    outputs: expect.arrayContaining([
      output(
        'in.c-library.books',
        [
          ['id', 'BIGINT', 'id'],
          ['price', 'DOUBLE', 'price'],
        ],
        { size: '"id","price"\n"1","1.5"\n'.length, from: '/v1/books' },
      ),
      output(
        'in.c-library.pages',
        [
          ['page', 'STRING', 'page'],
          ['parent_id', 'STRING'],
        ],
        { size: '"page","parent_id"\n"a","1"\n'.length, from: '/books/{id}/pages' },
      ),
    ]) as unknown,
  });
  expect(complete?.run.runId).toBe(start?.run.runId);
  expect(got.map(({ text }) => text).join('')).not.toMatch(/visible|key of lineage/);
});

test('columns are led back to the fields they come from, through objects, lists and new names', async () => {
  const book = { id: 1, author: { name: 'A' }, 'a b': 2, tags: ['x'], prices: [{ net: { eur: 1 } }] };
  const job = { dataType: 'books', dataField: 'list', rename: { id: 'number' } };
  const jobs = [
    { endpoint: 'books', ...job },
    { endpoint: 'old/books', ...job },
  ];
  expect(await lineageOf({ list: [book] }, jobs, {})).toEqual({
    books: { number: twice('number'), author_name: twice('author.name'), a_b: twice('a b') },
    books_tags: { data: twice('tags[]') },
    books_prices: { net_eur: twice('prices[].net.eur') },
  });
});

function twice(field: string): string[] {
  return [`/books ${field}`, `/old/books ${field}`];
}

test('columns of a mapping are led back by it', async () => {
  const mails = {
    type: 'table',
    destination: 'mails',
    tableMapping: { to: { mapping: { destination: 'address' } } },
    parentKey: { destination: 'person' },
  };
  const id = { mapping: { destination: 'id', primaryKey: true } };
  const mappings = { people: { 'user/id': { ...id, delimiter: '/' }, mails } };
  const person = { user: { id: 7 }, mails: [{ to: 'a' }] };
  expect(await lineageOf([person], [{ endpoint: 'people' }], { mappings })).toEqual({
    people: { id: ['/people user.id'] },
    mails: { address: ['/people mails[].to'] },
  });
});

/** Runs jobs over an API that always has the same answer; the inputs and fields behind each column. */
async function lineageOf(
  answer: unknown,
  jobs: readonly unknown[],
  config: object,
): Promise<Record<string, Record<string, string[]>>> {
  const api = await startApi((_, response) => json(response, answer));
  const folder = dataFolder(configOf(api, jobs, { config }));
  const { got, url } = await receiver();
  expect(await runHere(['run', '--data', folder, '--openlineage', url])).toMatchObject({ code: 0 });
  const outputs = got[1]?.event.outputs ?? [];
  return Object.fromEntries(
    outputs.map(({ name, facets }) => [name.slice(name.lastIndexOf('.') + 1), fieldsOf(facets)]),
  );
}

function fieldsOf(facets: Readonly<Record<string, unknown>>): Record<string, string[]> {
  // what it has is compared
  const { fields } = facets['columnLineage'] as {
    readonly fields: Readonly<Record<string, { readonly inputFields: readonly Field[] }>>;
  };
  return Object.fromEntries(
    Object.entries(fields).map(([column, { inputFields }]) => [
      column,
      inputFields.map(({ name, field }) => `${name} ${field}`),
    ]),
  );
}

interface Field {
  readonly name: string;
  readonly field: string;
}

test('a run that fails tells why, with what it was asked for and without secrets', async () => {
  const api = await startApi((_, response) => json(response, { error: 'no' }, 404));
  const authentication = { type: 'bearer', '#token': 's3cret-token' };
  const jobs = [{ endpoint: 'bots/s3cret-token/updates', dataType: 'updates' }];
  const folder = dataFolder(configOf(api, jobs, { api: { authentication } }));
  const { got, url } = await receiver();
  const failed = await runHere(['run', '--data', folder, '--openlineage', `${url}/own?tenant=1`]);
  expect(failed.code).toBe(1);
  expect(got.map(({ url: path, event }) => [path, event.eventType])).toEqual([
    ['/own?tenant=1', 'START'],
    ['/own?tenant=1', 'FAIL'],
  ]);
  const event = got[1]?.event;
  expect(event?.inputs).toEqual([{ namespace: api.url.slice(0, -1), name: '/bots/***/updates', facets: {} }]);
  expect(event?.outputs).toEqual([]);
  expect(event?.run.facets).toEqual({
    errorMessage: {
      ...base('ErrorMessageRunFacet', '1-0-1'),
      message: expect.stringContaining('404') as unknown,
      programmingLanguage: 'TypeScript',
    },
  });
  expect(got.map(({ text }) => text).join('')).not.toContain('s3cret-token');
});

test('a run that is interrupted tells ABORT', async () => {
  const { got, url } = await receiver();
  const reached = Promise.withResolvers<void>();
  const api = await startApi(() => reached.resolve());
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
  const running = startGex(['run', '--storage', 'none', '--data', folder, '--openlineage', url]);
  await reached.promise;
  running.kill('SIGINT');
  expect((await running.ended).code).toBe(130);
  expect(got.map(({ event }) => event.eventType)).toEqual(['START', 'ABORT']);
});

test('tables without a storage are files, with the columns of their types', async () => {
  const api = await startApi((_, response) => json(response, [{ id: 1 }]));
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
  const { got, url } = await receiver();
  const run = ['run', '--storage', 'none', '--data', folder, '--openlineage', url];
  expect((await runHere(run)).code).toBe(0);
  expect((await runHere([...run, '--format', 'jsonl'])).code).toBe(0);
  expect((await runHere([...run, '--limit', '1'])).code).toBe(0); // a trial
  const outputs = got.flatMap(({ event }) => event.outputs);
  const file = path.join(folder, 'out/tables/library.books');
  expect(outputs).toMatchObject([
    { namespace: HOST, name: file, facets: { schema: { fields: [{ name: 'id', type: 'STRING' }] } } },
    { namespace: HOST, name: `${file}.jsonl`, facets: {} },
  ]);
  expect(outputs[1]?.outputFacets?.['outputStatistics']).toMatchObject({ rowCount: 1, size: 11 });
  expect(got).toHaveLength(4);
});

test('a receiver that is gone, refuses or hangs is one warning, and changes nothing of the run', async () => {
  const api = await startApi((_, response) => json(response, [{ id: 1 }]));
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
  const args = ['run', '--storage', 'none', '--data', folder];
  const WARNING = /The receiver of --openlineage could not be told of the run/g;
  const addresses = [
    'http://127.0.0.1:9',
    (await receiver({ status: 401 })).url,
    (await receiver({ hangs: true })).url,
    'no address',
  ];
  for (const url of addresses) {
    const ran = await runHere(args, { env: { GEX_OPENLINEAGE_URL: url, GEX_OPENLINEAGE_KEY: 'key-of-it' } });
    expect([url, ran.code, ran.stderr.match(WARNING)?.length]).toEqual([url, 0, 1]);
    expect(ran.stderr).not.toContain('key-of-it');
  }
  expect((await gex(...args, '--openlineage', 'no address')).stderr).toContain('--openlineage is an address');
});
