import type { Running } from '../../harness.ts';
import { clientOf } from '../../data/client.ts';

/** Content that was put into a storage, and must be in every copy of it. */
export interface Filled {
  readonly token: string;
  readonly reader: string;
  readonly sliced: number;
  readonly plain: number;
  readonly exported: number;
}

/** A cell of each kind that is easily lost on the way. */
const ODD_ROWS = `id,v\n2,"a ""quoted"",\nline"\n1,\n3,"ž\u{1F600} \\N"\n4,NULL\n5,"\ufeff' ; --"\n`;

/** Something of everything that a service keeps. */
export async function fill(api: Running): Promise<Filled> {
  const client = clientOf(api);
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const reply = await api.call(method, path, body, { 'X-KBC-RunId': '77' });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.body;
  };
  await ask('POST', 'buckets', { name: 'main', stage: 'in', description: 'with ž' });
  await client.create('in.c-main', 'odd', ODD_ROWS, { primaryKey: 'id' });
  const more = await client.upload('id,v,_timestamp\n9,old,2020-05-06 07:08:09.123456\n1,new,\n');
  await client.run('POST', 'tables/in.c-main.odd/import-async', {
    dataFileId: more.id,
    incremental: true,
    useTimestampFromDataFile: true,
  });
  await client.create('in.c-main', 'Empty', 'id\n');
  await client.create('in.c-main', 'wide', `${wide('c')}\n${wide('x')}\n`);
  await ask('POST', 'buckets/in.c-main/table-aliases', {
    sourceTable: 'in.c-main.odd',
    name: 'alias',
    aliasFilter: { column: 'id', operator: 'eq', values: ['2'] },
  });
  await ask('POST', 'tables/in.c-main.odd/metadata', {
    provider: 'test',
    metadata: [{ key: 'k', value: 'ž' }],
  });
  const job = await client.run('POST', 'tables/in.c-main.odd/export-async', { gzip: true });
  const { file } = job.results as { file: { id: number } };
  const { id: sliced } = await client.uploadSliced(['1,a\n', '2,b\n']);
  const plain = await client.upload('plain bytes', { isEncrypted: true, tags: ['b', 'a'] });
  await ask('POST', 'files/prepare', { name: 'never uploaded' });

  const configs = 'components/ex-generic-v2/configs';
  const parameters = { parameters: { '#secret': 'open sesame', empty: {}, list: [] } };
  await ask('POST', configs, { name: 'Shop', configurationId: 'shop', configuration: parameters });
  for (const name of ['first', 'second'])
    await ask('POST', `${configs}/shop/rows`, { rowId: name, name, configuration: { name } });
  await ask('PUT', `${configs}/shop/rows/first`, { configuration: { name: 'changed' }, isDisabled: true });
  await ask('PUT', `${configs}/shop`, { rowsSortOrder: ['second', 'first'], changeDescription: 'sorted' });
  await ask('PUT', `${configs}/shop/state`, { state: { component: { last: '7' } } });
  await ask('PUT', `${configs}/shop/rows/second/state`, { state: { page: 3 } });
  await ask('POST', configs, { name: 'Gone', configurationId: 'gone' });
  await ask('DELETE', `${configs}/gone`);
  await client.run('POST', 'dev-branches', { name: 'development' });
  const reader = (await ask('POST', 'tokens', {
    description: 'reader',
    bucketPermissions: { 'in.c-main': 'read' },
  })) as { id: string; token: string };
  await ask('POST', 'triggers', {
    runWithTokenId: Number(reader.id),
    component: 'orchestrator',
    configurationId: '1',
    coolDownPeriodMinutes: 10,
    tableIds: ['in.c-main.odd'],
  });
  await ask('POST', 'events', { component: 'ex-generic-v2', message: 'Something happened', runId: '77' });
  return { token: api.token, reader: reader.token, sliced, plain: plain.id, exported: file.id };
}

const wide = (cell: string): string => Array.from({ length: 300 }, (_, i) => `${cell}${i}`).join(',');

const READS = [
  'tokens',
  'branch/default/components?include=configuration,rows,state',
  'components/ex-generic-v2/configs/shop',
  'components/ex-generic-v2/configs/shop/versions',
  'components/ex-generic-v2/configs/shop/versions/3',
  'components/ex-generic-v2/configs/shop/rows/first/versions',
  'components/ex-generic-v2/configs?isDeleted=1',
  'buckets?include=metadata',
  'tables?include=buckets,columns,metadata,columnMetadata',
  'tables/in.c-main.odd',
  'tables/in.c-main.Empty',
  'tables/in.c-main.alias/data-preview',
  'tables/in.c-main.wide/data-preview',
  'files?limit=100&showExpired=1',
  'jobs?limit=100',
  'events?limit=100',
  'triggers',
  'dev-branches',
];

/** All that a service answers about what {@link fill} made; two of the same content answer the same. */
export async function answersOf(api: Running, { reader, sliced, plain, exported }: Filled): Promise<unknown> {
  const client = clientOf(api);
  const answers: Record<string, unknown> = {};
  for (const path of READS) {
    const { status, text } = await api.call('GET', path);
    answers[path] = [status, withoutPlace(text, api)];
  }
  const as = { 'X-StorageApi-Token': reader };
  answers['rows'] = await client.rowsOf('in.c-main.odd');
  answers['changed'] = await client.rowsOf('in.c-main.odd', { changedSince: '2021-01-01' });
  answers['alias'] = (await api.call('GET', 'tables/in.c-main.alias/data-preview', undefined, as)).text;
  answers['verified'] = (await api.call('GET', 'tokens/verify', undefined, as)).status;
  answers['sliced'] = await client.download(sliced);
  answers['exported'] = await client.download(exported);
  const { body } = await client.call<{ url: string }>('GET', `files/${plain}?federationToken=1`);
  const download = await fetch(body.url);
  answers['plain'] = [await download.text(), download.headers.get('content-disposition')];
  return answers;
}

/** Signed addresses have the place, and the time, of who answers. */
function withoutPlace(text: string, { addresses }: Running): string {
  return text
    .replaceAll(/https?:[^"]*X-Amz-[^"]*/g, 'SIGNED')
    .replaceAll(addresses.url, 'API')
    .replaceAll(/"(?:uri|exceptionId)":"[^"]*"/g, '""');
}
