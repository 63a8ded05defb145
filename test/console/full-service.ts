import { bytesBody, type StorageClient } from '../../src/storage/client/index.ts';
import { json, startApi } from '../cli/support.ts';

const COMPONENT = 'ex-generic-v2';
/** Text that would run, reverse the line, or beep, if it were not shown as text. */
const HOSTILE = '<img src=x onerror=alert(1)> \u202Egnp.exe\u0007';
const LONG =
  'A name that somebody has given with the whole story of where it comes from and what it is for; '.repeat(3);

/** Ids of the content of a filled service. */
export interface Filled {
  readonly runs: Readonly<Record<'doubtful' | 'failing' | 'good', string>>;
  readonly failedJob: number;
  readonly exportJob: number;
  readonly file: number;
  readonly token: string;
  readonly alert: string;
}

/** Something of every kind that the console shows: what went well, what failed, what is long and what is hostile. */
export async function fillService(client: StorageClient): Promise<Filled> {
  const jobs = await fillTables(client);
  await fillSources(client);
  const { id: file } = await client.files.upload(bytesBody('x'.repeat(1_234_567)), {
    name: `${HOSTILE} ${LONG}.csv`,
    tags: ['daily', HOSTILE, LONG],
  });
  const token = await client.tokens.create({
    description: `${HOSTILE} reader`,
    bucketPermissions: { 'in.c-main': 'read', 'out.c-empty': 'write' },
    expiresIn: 90_000,
  });
  const alert = await fillAlerts(client);
  return { runs: await fillRuns(client), ...jobs, file, token: token.id, alert };
}

/** Makes an alert whose receiver is not there, and one that is off. */
async function fillAlerts(client: StorageClient): Promise<string> {
  const { id } = await client.alerts.create({
    name: `Operations ${HOSTILE}`,
    url: 'http://127.0.0.1:9/hook',
    lateMinutes: 1500,
    lateErrorMinutes: 2880,
    columns: [
      { table: 'in.c-main.users', column: 'id', warnMinutes: 60 },
      { table: 'in.c-main.lost', column: 'updated_at', warnMinutes: 60, errorMinutes: 90 },
    ],
    endingDays: 1,
    remindMinutes: 60,
  });
  await client.alerts.create({ name: LONG.slice(0, 255), url: 'mailto:a@example.com', isEnabled: false });
  await client.alerts.test(id);
  return id;
}

async function fillTables(client: StorageClient): Promise<Pick<Filled, 'exportJob' | 'failedJob'>> {
  await client.buckets.create({ name: 'main', stage: 'in' });
  await client.buckets.create({ name: 'empty', stage: 'out' });
  const upload = async (csv: string): Promise<number> =>
    (await client.files.upload(bytesBody(csv), { name: 'rows.csv' })).id;
  const make = async (name: string, csv: string, primaryKey: string[] = []): Promise<void> => {
    await client.tables.create('in.c-main', { name, dataFileId: await upload(csv), primaryKey });
  };
  const rows = Array.from({ length: 200 }, (_, i) => `${i},Name ${i},${i * 1000}.5,"${HOSTILE} ${i}"\n`);
  await make('users', `id,name,amount,text\n${rows.join('')}`, ['id']);
  const long = 'a_column_with_a_name_as_long_as_a_database_takes_it_to_the_end';
  await make('a_table_with_a_name_that_is_as_long_as_anybody_would_ever_give_one', `${long}\n${LONG}\n`);
  await make('shops', 'id,contacts\n1,shops_a\n2,shops_b\n', ['id']);
  await make('shops_contacts', 'kind,JSON_parentId\nmail,shops_a\nfax,shops_b\n');
  await client.tables.profile('in.c-main.users');
  const notes = [
    { key: 'owner', value: HOSTILE },
    { key: 'about', value: LONG },
  ];
  await client.tables.metadata('in.c-main.users').set(notes, 'user');
  const load = await client.tables.startLoad('in.c-main.users', {
    dataFileId: await upload(`id,"${HOSTILE}"\n1,x\n`),
  });
  await client.jobs.wait(load).catch(() => undefined);
  await client.tables.export('in.c-main.users');
  const [last] = await client.jobs.list({ limit: 1 });
  return { failedJob: load.id, exportJob: last?.id ?? 0 };
}

async function fillSources(client: StorageClient): Promise<void> {
  const configs = client.configurations(COMPONENT);
  const parameters = {
    api: {
      baseUrl: 'https://api.example.com/v1/',
      authentication: { type: 'bearer', '#token': 'reader-7-secret' },
      pagination: { method: 'pagenum', pageParam: 'page' },
    },
    config: { outputBucket: 'shop', jobs: [{ endpoint: 'users', dataField: 'data' }] },
  };
  await configs.create({ configurationId: 'shop', name: 'Shop', configuration: { parameters } });
  await configs.update('shop', {
    configuration: { parameters: { ...parameters, api: { baseUrl: 'https://new.example.com/' } } },
    changeDescription: 'Another address',
  });
  await configs.updateState('shop', { time: { previousStart: 7 } });
  for (const rowId of ['users', 'orders']) await configs.rows('shop').create({ rowId, name: `Row ${rowId}` });
  await configs.rows('shop').create({ rowId: 'hostile', name: HOSTILE, description: LONG, isDisabled: true });
  await configs.create({ configurationId: 'hostile', name: HOSTILE, description: LONG, configuration: {} });
  await configs.create({ configurationId: 'gone', name: LONG, configuration: {} });
  await configs.delete('gone');
}

const book = (page: number): unknown => (page <= 2 ? [{ id: page * 2 }, { id: page * 2 + 1 }] : []);

/** Runs configurations over three APIs: one that ends, one that refuses, and one that repeats a page for ever. */
async function fillRuns(client: StorageClient): Promise<Filled['runs']> {
  const [good, failing, doubtful] = await Promise.all([
    lastRunOf(client, 'good', book),
    lastRunOf(client, 'failing', undefined),
    lastRunOf(client, 'doubtful', () => [{ id: 1 }, { id: 2 }]),
  ]);
  const schedule = { cron: '30 6 * * 1-5', timeZone: 'Europe/Prague' };
  await client.configurations(COMPONENT).schedules('good').create(schedule);
  return { good, failing, doubtful };
}

async function lastRunOf(
  client: StorageClient,
  id: string,
  page: ((number: number) => unknown) | undefined,
): Promise<string> {
  const api = await startApi(({ url }, response) =>
    page === undefined
      ? json(response, { error: HOSTILE }, 404)
      : json(response, page(Number(url.searchParams.get('page') ?? 1))),
  );
  await client.configurations(COMPONENT).create({
    configurationId: id,
    name: `Books of ${id}`,
    configuration: {
      parameters: {
        api: { baseUrl: api.url, pagination: { method: 'pagenum', limit: 2 } },
        config: { outputBucket: `library-${id}`, jobs: [{ endpoint: `books?of=${id}`, dataType: 'books' }] },
      },
    },
  });
  let last = '';
  // Two of the good one, to be compared.
  for (let i = id === 'good' ? 0 : 1; i < 2; i++) {
    const run = await client.runs.start({ component: COMPONENT, configuration: id });
    last = run.id;
    for (;;) {
      const { endTime } = await client.runs.detail(run.id);
      if (endTime !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return last;
}
