import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cache, type CacheOptions } from '../../../src/engine/http/cache.ts';
import { fakeEnv, get, never, recordingLog, scripted, temporaryFolder, textOf } from './support.ts';

function setUp(options: Partial<CacheOptions> = {}, ...answers: Parameters<typeof scripted>) {
  const env = fakeEnv();
  const log = recordingLog();
  const folder = join(temporaryFolder(), 'cache');
  const send = scripted(
    ...(answers.length > 0
      ? answers
      : [{ body: 'first', headers: { 'x-a': '1', 'set-cookie': 's=1' } }, { body: 'second' }]),
  );
  const wrapped = cache({ folder, env, log, ...options })(send);
  const run = (url = 'http://h/x?token=abcdef', method = 'GET') =>
    wrapped({ ...get(url, { Authorization: 'Bearer hidden' }), method }, { signal: never });
  return { run, env, log, folder, sent: send.sent };
}

describe('cache', () => {
  test('answers the second time without asking', async () => {
    const { run, sent } = setUp();
    const first = await run();
    const second = await run();
    expect(sent).toHaveLength(1);
    expect(textOf(second)).toBe('first');
    expect(second).toMatchObject({ status: first.status, url: first.url, headers: { 'x-a': '1' } });
  });

  test('keeps bytes as they are', async () => {
    const { run } = setUp({}, { body: '\n{"a":\n"č"}\n' });
    expect(textOf(await run())).toBe(textOf(await run()));
  });

  test('tells URLs apart, and asks again for other methods', async () => {
    const { run, sent } = setUp();
    await run('http://h/a');
    await run('http://h/b');
    await run('http://h/a', 'POST');
    await run('http://h/a', 'POST');
    expect(sent).toHaveLength(4);
  });

  test('keeps for as long as it is told, a week by default', async () => {
    const { run, env, sent } = setUp();
    await run();
    await env.sleep(604_799_000);
    await run();
    expect(sent).toHaveLength(1);
    await env.sleep(1000);
    expect(textOf(await run())).toBe('second');
    const short = setUp({ ttlSeconds: 5 });
    await short.run();
    await short.env.sleep(5000);
    await short.run();
    expect(short.sent).toHaveLength(2);
  });

  test('any status is kept but those that a retry hopes to change', async () => {
    const kept = setUp({ except: [503] }, { status: 404 }, {});
    await kept.run();
    expect((await kept.run()).status).toBe(404);
    const notKept = setUp({ except: [503] }, { status: 503 }, {});
    await notKept.run();
    expect((await notKept.run()).status).toBe(200);
  });

  test('nothing of the request is on disk, no cookie, and nobody else may read it', async () => {
    const { run, folder } = setUp();
    await run();
    const [name = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    const file = join(folder, name);
    expect(readFileSync(file, 'utf8')).not.toMatch(/hidden|abcdef|s=1/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('a damaged file is as if it was not there', async () => {
    const { run, folder, sent } = setUp();
    await run();
    const file = join(folder, readdirSync(folder)[0] ?? '');
    writeFileSync(file, readFileSync(file).subarray(0, -2));
    expect(textOf(await run())).toBe('second');
    writeFileSync(file, 'nonsense');
    await run();
    expect(sent).toHaveLength(3);
  });

  test('a folder that cannot be written is a warning', async () => {
    const blocked = join(temporaryFolder(), 'file');
    writeFileSync(blocked, '');
    const { run, log } = setUp({ folder: join(blocked, 'cache') });
    expect(textOf(await run())).toBe('first');
    expect(log.lines).toMatchObject([{ level: 'warn' }]);
  });
});
