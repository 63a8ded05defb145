import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Running } from './harness.ts';

let running: Running;
beforeAll(async () => (running = await startService()));
afterAll(async () => await running.stop());

const CONFIGS = 'components/ex-generic-v2/configs';

interface Configuration {
  readonly version: number;
  readonly name: string;
  readonly configuration: { readonly n: number };
}

const created = async (id: string): Promise<string> => {
  await running.call('POST', CONFIGS, { configurationId: id, name: id, configuration: { n: -1 } });
  return `${CONFIGS}/${id}`;
};

/** Numbers of versions, the oldest first. */
async function versionsOf(config: string): Promise<number[]> {
  const { body } = await running.call('GET', `${config}/versions?limit=1000`);
  return (body as Configuration[]).map(({ version }) => version).toReversed();
}

test('who is refused among many updates at once undoes none of the others', async () => {
  const config = await created('refused');
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, n) =>
      n % 7 === 3
        ? await running.call('PUT', config, { rowsSortOrder: ['no such row'] })
        : await running.call('PUT', config, { configuration: { n } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(
    Array.from({ length: 30 }, (_, n) => (n % 7 === 3 ? 400 : 200)),
  );
  const changed = answers.filter(({ status }) => status === 200).map(({ body }) => body as Configuration);
  for (const { version, configuration } of changed) {
    const { body } = await running.call('GET', `${config}/versions/${version}`);
    expect((body as Configuration).configuration).toEqual(configuration);
  }
  expect(changed.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(
    (await versionsOf(config)).slice(1),
  );
});

test('each of many clients that go on updating is answered with its own version, also under a key', async () => {
  const config = await created('later');
  const update = async (n: number, key?: string): Promise<number> => {
    const headers = key === undefined ? {} : { 'Idempotency-Key': key };
    const { status, body } = await running.call('PUT', config, { configuration: { n } }, headers);
    expect(status).toBe(200);
    expect((body as Configuration).configuration).toEqual({ n });
    return (body as Configuration).version;
  };
  const versions = await Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      const given: number[] = [];
      for (let n = 0; n < 6; n += 1) {
        const key = n % 3 === 0 ? `later-${client}-${n}` : undefined;
        given.push(await update(client * 100 + n, key));
        // The same again is not done again.
        if (key !== undefined) expect(await update(client * 100 + n, key)).toBe(given.at(-1));
      }
      return given;
    }),
  );
  expect(versions.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, n) => n + 2));
});

test('updates of different kinds at once each keep what the others changed', async () => {
  const config = await created('kinds');
  await running.call('POST', `${config}/rows`, { rowId: 'a', name: 'A' });
  await Promise.all([
    running.call('PUT', config, { configuration: { n: 7 } }),
    running.call('PUT', `${config}/state`, { state: { seen: 1 } }),
    running.call('PUT', config, { name: 'Renamed' }),
    running.call('PUT', config, { isDisabled: true, state: { seen: 2 } }),
  ]);
  const { body } = await running.call('GET', config);
  expect(body).toMatchObject({
    name: 'Renamed',
    version: 5,
    isDisabled: true,
    configuration: { n: 7 },
    rows: [{ id: 'a', name: 'A' }],
  });
  const { seen } = (body as { state: { seen: number } }).state;
  expect([1, 2]).toContain(seen);
});

test('of many who change the version that they have read one does, and the others learn the next one', async () => {
  const config = await created('read');
  const answers = await Promise.all(
    Array.from(
      { length: 12 },
      async (_, n) => await running.call('PUT', config, { configuration: { n }, ifVersion: 1 }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array.from({ length: 11 }, () => 412),
  ]);
  for (const { status, body } of answers)
    if (status === 412)
      expect(body).toMatchObject({ code: 'storage.components.versionChanged', params: { version: 2 } });
  expect(await versionsOf(config)).toEqual([1, 2]);
});

test('each of many versions at once has its own name, order and content, and its event', async () => {
  const config = await created('orders');
  for (const rowId of ['a', 'b', 'c']) await running.call('POST', `${config}/rows`, { rowId, name: rowId });
  const orders = [
    ['c', 'b', 'a'],
    ['b', 'a', 'c'],
  ];
  const asked = Array.from({ length: 12 }, (_, n) => ({
    name: `Named ${n}`,
    ...(n % 3 === 0 ? { rowsSortOrder: orders[(n / 3) % 2] } : {}),
    ...(n % 4 === 0 ? { configuration: { n } } : {}),
    ...(n % 5 === 0 ? { state: { n } } : {}),
  }));
  const answers = await Promise.all(asked.map(async (body) => await running.call('PUT', config, body)));
  let before = (await running.call('GET', `${config}/versions/4`)).body as Record<string, unknown>;
  const shown = answers.map(({ body }) => body as { version: number; name: string });
  const events = (await running.call('GET', 'events?limit=1000')).body as {
    event: string;
    configurationId: string;
    params: { version: number; name: string };
  }[];
  const told = events.filter(
    ({ event, configurationId }) =>
      event === 'storage.componentConfigurationChanged' && configurationId === 'orders',
  );
  for (const { version, name } of shown.toSorted((a, b) => a.version - b.version)) {
    const given = asked.find((one) => one.name === name);
    const expected = {
      version,
      name,
      configuration: given?.configuration ?? before['configuration'],
      rowsSortOrder: given?.rowsSortOrder ?? before['rowsSortOrder'],
    };
    const state = given?.state;
    before = (await running.call('GET', `${config}/versions/${version}`)).body as Record<string, unknown>;
    expect(before).toMatchObject(expected);
    expect(shown.find((one) => one.version === version)).toMatchObject({
      ...expected,
      ...(state === undefined ? {} : { state }),
    });
    expect(told.filter(({ params }) => params.version === version)).toMatchObject([{ params: { name } }]);
  }
  expect(told.map(({ params }) => params.version)).toEqual(Array.from({ length: 12 }, (_, n) => 16 - n));
});
