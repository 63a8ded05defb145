// @module-tag thorough
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { gexHere, killedWhen, startGex } from '../cli/support.ts';
import { clientOf, type FileBody } from './data/client.ts';
import type { Running } from './harness.ts';
import { serveFolder } from './domain/transfer/serve-folder.ts';

let work: string;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'backup-'));
});
afterAll(async () => {
  await rm(work, { recursive: true, force: true });
});

describe('a backup while the service runs', () => {
  test('is what was true at one moment, whatever is done meanwhile', async () => {
    const api = await serveFolder(join(work, 'busy'));
    const client = clientOf(api);
    await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
    await client.create('in.c-main', 'log', 'id,v\n0,first\n', { primaryKey: 'id' });
    const wide = `id,v\n${Array.from({ length: 30_000 }, (_, i) => `${i},${'x'.repeat(100)}`).join('\n')}\n`;
    await client.create('in.c-main', 'large', wide);
    const config = 'components/ex-generic-v2/configs/c';
    await api.call('POST', 'components/ex-generic-v2/configs', { name: 'c', configurationId: 'c' });

    // A row is in the table before a version of the configuration tells of it; a file before another tells of that.
    const state = { isOver: false, rows: 0, versions: 0, files: 0 };
    const goOn = async (work: () => Promise<void>): Promise<void> => {
      while (!state.isOver) await work();
    };
    const rows = goOn(async () => {
      const file = await client.upload(`id,v\n${state.rows + 1},x\n`);
      const job = await client.run('POST', 'tables/in.c-main.log/import-async', {
        dataFileId: file.id,
        incremental: true,
      });
      expect(job.status).toBe('success');
      state.rows++;
      const configuration = { parameters: { rows: state.rows } };
      expect((await api.call('PUT', config, { configuration })).status).toBe(200);
    });
    const versions = goOn(async () => {
      const configuration = { n: ++state.versions };
      await api.call('POST', `${config}/rows`, { rowId: String(state.versions), configuration });
    });
    const files = goOn(async () => {
      const file = await client.upload(`file ${++state.files}`, { tags: ['kept'] });
      if (state.files % 2 === 0) await api.call('DELETE', `files/${file.id}`);
    });

    const tar = join(work, 'busy.tar');
    const { code, stderr } = await gexHere('storage', 'backup', tar, '--storage', api.dir);
    expect(code, stderr).toBe(0);
    const during = { ...state };
    const second = await gexHere('serve', '--dir', api.dir, '--backup', join(work, 'second.tar'));
    expect(second.code, second.stderr).toBe(0);
    state.isOver = true;
    await Promise.all([rows, versions, files]);
    expect(state.rows).toBeGreaterThan(0);
    expect(await readdir(join(api.dir, 'tables', 'compact'))).toEqual([]);
    await api.stop();

    for (const [name, least] of [
      ['busy', { rows: 0, versions: 0 }],
      ['second', during],
    ] as const) {
      const dir = join(work, `${name}-restored`);
      const restored = await gexHere('storage', 'restore', join(work, `${name}.tar`), '--to', dir);
      expect(restored.code, restored.stderr).toBe(0);
      await check(await serveFolder(dir, api.token), least);
    }
  });
});

async function check(
  api: Running,
  least: { readonly rows: number; readonly versions: number },
): Promise<void> {
  const client = clientOf(api);
  // Work that was under way when the backup was taken is completed.
  const jobs = async () => (await api.call('GET', 'jobs?limit=500')).body as { status: string }[];
  await expect.poll(async () => (await jobs()).every(({ status }) => status === 'success')).toBe(true);

  const detail = (await api.call('GET', 'components/ex-generic-v2/configs/c')).body as {
    version: number;
    configuration: { parameters?: { rows: number } };
    rows: { id: string; configuration: { n: number } }[];
  };
  const told = detail.configuration.parameters?.rows ?? 0;
  const ids = (await client.rowsOf('in.c-main.log')).split('\n').slice(0, -1);
  expect(ids.map((line) => Number(/"(\d+)"/.exec(line)?.[1]))).toEqual(ids.map((_, i) => i));
  expect(ids.length - 1).toBeGreaterThanOrEqual(Math.max(told, least.rows));
  expect(ids.length - 1).toBeLessThanOrEqual(told + 1);
  const table = (await api.call('GET', 'tables/in.c-main.log')).body as { rowsCount: number };
  expect(table.rowsCount).toBe(ids.length);
  expect((await client.rowsOf('in.c-main.large')).length).toBeGreaterThan(3_000_000);

  expect(detail.rows.map(({ configuration }) => configuration.n).toSorted((a, b) => a - b)).toEqual(
    detail.rows.map((_, i) => i + 1),
  );
  expect(detail.rows.length).toBeGreaterThanOrEqual(least.versions - 1);
  const versions = (await api.call('GET', 'components/ex-generic-v2/configs/c/versions?limit=5000')).body;
  expect((versions as { version: number }[]).map(({ version }) => version)).toEqual(
    Array.from({ length: detail.version }, (_, i) => detail.version - i),
  );

  const kept = (await api.call('GET', 'files?limit=1000&tags[]=kept')).body as { id: number }[];
  const contents: string[] = [];
  for (const { id } of kept) {
    const { body } = await client.call<FileBody>('GET', `files/${id}?federationToken=1`);
    const reply = await fetch(body.url);
    if (reply.status === 200) contents.push(await reply.text());
  }
  // One that was made and not uploaded yet, and one that was being deleted, have no bytes at that moment.
  expect(kept.length - contents.length).toBeLessThanOrEqual(1);
  for (const content of contents) expect(content).toMatch(/^file \d+$/);
  await api.stop();
}

describe('a backup', () => {
  let source: Running;
  let tar: string;
  let target: string;
  let count = 0;
  beforeAll(async () => {
    source = await serveFolder(join(work, 'quiet'));
    const client = clientOf(source);
    await source.call('POST', 'buckets', { name: 'main', stage: 'in' });
    await client.create('in.c-main', 't', 'id\n1\n');
    await client.upload('bytes', { name: `${'long'.repeat(40)}.txt` });
    tar = join(work, 'quiet.tar');
    expect((await gexHere('storage', 'backup', tar, '--storage', source.dir)).code).toBe(0);
  });
  afterAll(async () => {
    await source.stop();
  });
  beforeEach(() => {
    target = join(work, `quiet-${++count}`);
  });
  const restore = async (file: string) => await gexHere('storage', 'restore', file, '--to', target);

  test('unpacked by tar is the same service, too', async () => {
    await mkdir(target);
    execFileSync('tar', ['-xf', tar, '-C', target]);
    const api = await serveFolder(target, source.token);
    expect((await api.call('GET', 'tables/in.c-main.t/data-preview')).text).toBe('"id"\n"1"\n');
    await api.stop();
  });

  test('that is cut anywhere, or damaged, is recognised, and nothing is restored', async () => {
    const { size } = await stat(tar);
    const whole = await readFile(tar);
    const broken = join(work, 'broken.tar');
    for (const bytes of [0, 100, 512, 5000, Math.floor(size / 2), size - 1024 - 512, size - 1024 - 1100]) {
      await writeFile(broken, whole);
      await truncate(broken, bytes);
      const { code, stderr } = await restore(broken);
      expect([bytes, code, stderr]).toEqual([
        bytes,
        1,
        expect.stringContaining('The backup is cut, damaged, or none'),
      ]);
      expect(await readdir(target)).not.toContain('meta.sqlite');
    }
    await writeFile(broken, whole);
    const file = await open(broken, 'r+');
    await file.write(Buffer.from('X'), 0, 1, Math.floor(size / 2));
    await file.close();
    expect((await restore(broken)).stderr).toContain('its check sum is another one');
    await writeFile(broken, 'no tar file at all'.repeat(100));
    expect((await restore(broken)).stderr).toContain('no tar file');
    expect((await restore(join(work, 'nothing.tar'))).stderr).toContain('The backup cannot be read: ENOENT');
    // The remains of those attempts are no obstacle.
    expect((await restore(tar)).code).toBe(0);
    const api = await serveFolder(target, source.token);
    expect((await api.call('GET', 'tables/in.c-main.t/data-preview')).text).toBe('"id"\n"1"\n');
    await api.stop();
  });

  test('is restored into nothing but an empty folder, and again after a kill', async () => {
    expect((await gexHere('storage', 'restore', tar, '--to', source.dir)).stderr).toContain('is held by');
    await mkdir(target);
    await writeFile(join(target, 'notes.txt'), '');
    expect((await restore(tar)).stderr).toContain('The folder is not empty: it has notes.txt');
    await rm(join(target, 'notes.txt'));
    const child = startGex(['storage', 'restore', tar, '--to', target]);
    await killedWhen(child, async () => (await readdir(target)).includes('.restoring'));
    if (!(await readdir(target)).includes('meta.sqlite')) expect((await restore(tar)).code).toBe(0);
    expect(await readdir(target)).toEqual(expect.arrayContaining(['meta.sqlite', 'objects', 'tables']));
  });

  test('is asked for with a master token alone', async () => {
    const { body } = await source.call('POST', 'tokens', { description: 'x', bucketPermissions: {} });
    const { token } = body as { token: string };
    const reply = await source.call('POST', '/folder/snapshots', undefined, { 'X-StorageApi-Token': token });
    expect(reply.status).toBe(403);
  });
});
