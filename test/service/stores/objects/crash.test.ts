// @module-tag thorough
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmbedded, textOf } from './support.ts';

test('a process killed in the middle of uploads leaves whole objects only, and all that it acknowledged', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'objects-crash-'));
  const acknowledged = new Map<string, string>();
  for (const lifeMs of [150, 230, 310]) {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'crash.child.ts'), directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => void (output += chunk.toString()));
    // A busy machine writes the first one late.
    while (!/ [a-j]\n/.test(output)) await once(child.stdout, 'data');
    await wait(lifeMs);
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    // The last line may be cut: what it tells was not yet heard.
    for (const line of output.split('\n').slice(0, -1)) {
      const [key = '', letter = ''] = line.split(' ');
      if (letter !== '') acknowledged.set(key, letter);
    }
  }
  expect(acknowledged.size).toBeGreaterThan(0);
  const { store, close } = await startEmbedded({ directory });
  expect(await readdir(path.join(directory, 'staging'))).toEqual([]);
  const found = new Map<string, string>();
  for await (const { key, bytes } of store.list('')) {
    const text = await textOf(await store.read(key));
    expect(text.length).toBe(bytes);
    expect(text).toBe((text[0] ?? '').repeat(bytes));
    found.set(key, text[0] ?? '');
  }
  for (const key of acknowledged.keys()) expect([...found.keys()]).toContain(key);
  await close();
});

test('the secret is made once, and only its owner may read it', async () => {
  const { loadSecret } = await import('../../../../src/service/stores/objects/secret.ts');
  const { systemEnv } = await import('../../../../src/lib/env.ts');
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'secret-')), 'object-keys');
  const secret = await loadSecret(file, systemEnv);
  expect(Buffer.from(await loadSecret(file, systemEnv)).equals(secret)).toBe(true);
  expect((await readFile(file)).length).toBe(32);
  const { stat } = await import('node:fs/promises');
  expect((await stat(file)).mode & 0o077).toBe(0);
});
