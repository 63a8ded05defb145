// @module-tag thorough
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runnerPart } from '../../../../src/service/start/runner.ts';
import { describeRun } from '../../../../src/cli/run-result.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { fileError } from '../../../../src/engine/sink/file-error.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import { json, runHere, startApi } from '../../../cli/support.ts';
import { MAIN } from '../../../support/command.ts';
import { isOnPostgres, metaOf } from '../../database.ts';
import { proxyTo, type Proxy } from '../../platform/database/proxy.ts';
import { share } from '../../platform/database/shared.ts';
import { request } from '../../harness.ts';
import { books, startWorld, worldOf, type ShownRun, type World } from './support.ts';

const AWAY = { code: 'storage.failed', message: 'The storage service answered with 503.', mayPass: true };
/** Often enough for a machine that is late to see it. */
const OFTEN_AWAY = [AWAY, AWAY, AWAY, AWAY, AWAY];
const FULL_MS = 3000;

/**
 * A service whose runs do what the test says: each is the next error, and a success behind the last one.
 * `goesOnWith` has other errors take the place of those that are left.
 */
async function worldWhere(
  ...errors: readonly object[]
): Promise<World & { readonly goesOnWith: (...next: readonly object[]) => void }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'put-off-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [program, left] = [path.join(folder, 'gex.mjs'), path.join(folder, 'left.json')];
  const errorsOf = (next: readonly object[]): void => writeFileSync(left, JSON.stringify(next));
  errorsOf(errors);
  writeFileSync(
    program,
    `import { readFileSync, writeFileSync } from 'node:fs';
    const [error, ...left] = JSON.parse(readFileSync(${JSON.stringify(left)}, 'utf8'));
    writeFileSync(${JSON.stringify(left)}, JSON.stringify(left));
    console.log(JSON.stringify({ rows: [], error }));
    process.exit(error === undefined ? 0 : 2);`,
  );
  const world = await startWorld({ runner: { command: [process.execPath, program], fullMs: FULL_MS } });
  await world.configure('a', books('http://127.0.0.1:1'));
  return { ...world, goesOnWith: (...next) => errorsOf(next) };
}

async function untilPutOff(world: World, id: string): Promise<void> {
  await expect.poll(async () => (await world.log(id)).at(-1)?.message).toMatch(/^The run goes on in/);
}

/** Waits until a run waits for its time, and puts that off for as long as the test may take. */
async function held(world: World, id: string): Promise<ShownRun> {
  const meta = await metaOf(world.dir);
  onTestFinished(async () => await meta.destroy());
  const waiting = meta
    .updateTable('runs')
    .set({ not_before: '2999-01-01T00:00:00.000Z' })
    .where('id', '=', Number(id))
    .where('status', '=', 'waiting')
    .where('not_before', 'is not', null);
  await expect.poll(async () => (await waiting.executeTakeFirst()).numUpdatedRows, { interval: 20 }).toBe(1n);
  return await world.show(id);
}

describe('a run whose storage went away while it was at work', () => {
  test('goes on by itself a little later, and its log says so', async () => {
    const world = await worldWhere(AWAY, AWAY);
    const { id } = await world.start('a');
    expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 3, error: null });
    expect((await world.log(id)).map(({ message }) => message)).toEqual([
      `The run goes on in 1 second, as what it needs is away: ${AWAY.message}`,
      'Attempt 2: the run goes on.',
      `The run goes on in 2 seconds, as what it needs is away: ${AWAY.message}`,
      'Attempt 3: the run goes on.',
    ]);
  });

  test('is left to others for a while when the disk of its runner is full', async () => {
    const full = {
      code: 'output.failed',
      message: '“rows” could not be written: no space.',
      mayPass: true,
    };
    const world = await worldWhere(full);
    const { id } = await world.start('a');
    expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 2, error: null });
    const [putOff, again] = (await world.log(id)).map(({ time }) => Date.parse(time));
    // it could have been taken again after a second
    expect((again ?? 0) - (putOff ?? 0)).toBeGreaterThan(FULL_MS - 1000);
  });

  test('ends at once when it is cancelled while it waits', async () => {
    const world = await worldWhere(...OFTEN_AWAY);
    const { id } = await world.start('a');
    const { attempt } = await held(world, id);
    await world.call('POST', `runs/${id}/cancel`);
    expect(await world.show(id)).toMatchObject({ status: 'cancelled', attempt });
  });

  test('ends as that error when it was the tenth time, and at once of any other one', async () => {
    const world = await worldWhere(...OFTEN_AWAY);
    const { id } = await world.start('a');
    await held(world, id);
    world.goesOnWith(AWAY, { ...AWAY, mayPass: false });
    const meta = await metaOf(world.dir);
    await meta.updateTable('runs').set({ attempt: 11, put_offs: 2, not_before: null }).execute();
    await meta.destroy();
    const error = { code: AWAY.code, message: AWAY.message };
    expect(await world.ended(id)).toMatchObject({ status: 'error', attempt: 12, exitCode: 2, error });
    const { id: other } = await world.start('a');
    expect(await world.ended(other)).toMatchObject({ status: 'error', attempt: 1, error });
  });
});

test('the command says of its error that the disk was full, which that of another machine may not be', () => {
  const full = Object.assign(new Error('write: no space left on device'), { code: 'ENOSPC' });
  expect(errorOf(full)).toMatchObject({ code: 'output.failed', mayPass: true });
  expect(errorOf(Object.assign(new Error('open'), { code: 'EACCES' }))).not.toHaveProperty('mayPass');
});

test('the command says of its error that the storage was away, and of no other', async () => {
  const api = await startApi((_request, response) => json(response, {}, 404));
  const folder = mkdtempSync(path.join(tmpdir(), 'put-off-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const errorOf = async (config: object, storage: string): Promise<unknown> => {
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify(config));
    const args = ['run', '--json', `--data=${folder}`, `--storage=${storage}`];
    const { stdout } = await runHere(args, { env: { KBC_TOKEN: 'x' } });
    return (JSON.parse(stdout) as { error: unknown }).error;
  };
  const away = await errorOf(books(api.url), 'http://127.0.0.1:1');
  expect(away).toMatchObject({ code: 'storage.unreachable', mayPass: true });
  const failing = await errorOf(books(api.url), 'none');
  expect(failing).toMatchObject({ code: 'http.status' });
  expect(failing).not.toHaveProperty('mayPass');
});

/** The JSON of an error of a file. */
function errorOf(cause: Error): unknown {
  const error = fileError('rows.csv', cause);
  const text = describeRun([], { json: true, secrets: new Secrets(), error });
  return (JSON.parse(text) as { error: unknown }).error;
}

/** One process of several, whose store can be cut off. */
async function worldWithStore(): Promise<{ world: World; proxy: Proxy }> {
  const shared = await share();
  onTestFinished(async () => await shared.stop());
  const { objects } = shared.options;
  if (objects === undefined) throw new Error('There is no store.');
  const proxy = await proxyTo(objects.endpoint ?? '');
  const { addresses } = await shared.start({
    objects: { ...objects, endpoint: proxy.url.replace(/\/$/, ''), idleMs: 150 },
    parts: [
      dataPart,
      runnerPart({ command: [process.execPath, MAIN], concurrency: 2, pollMs: 100, checkMs: 200 }),
    ],
  });
  const token = addresses.masterToken ?? '';
  const call = async (method: string, at: string, body?: unknown, headers?: Record<string, string>) =>
    await request(addresses.url, token, method, at, body, headers);
  return { world: worldOf({ dir: '', token, addresses, call }), proxy };
}

describe.runIf(isOnPostgres)('a run that cannot begin because the object store is away', () => {
  test('waits for it, longer each time, and then loads its tables; one that is cancelled ends', async () => {
    const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
    const { world, proxy } = await worldWithStore();
    for (const name of ['a', 'b']) await world.configure(name, books(api.url));
    await proxy.cut();
    const [{ id }, { id: other }] = [await world.start('a'), await world.start('b')];
    await untilPutOff(world, other);
    await world.call('POST', `runs/${other}/cancel`);
    expect((await world.ended(other)).status).toBe('cancelled');
    const told = async (): Promise<string> => (await world.log(id)).map(({ message }) => message).join('\n');
    await expect.poll(told).toContain('The run goes on in 2 seconds');
    await proxy.mend();
    expect(await world.ended(id)).toMatchObject({ status: 'success', error: null });
    expect(await told()).toMatch(
      /^The run goes on in 1 second, as what it needs is away: The object store cannot be reached\./,
    );
    expect(await world.rows('in.c-library.books')).toEqual(['"1"']);
  });
});
