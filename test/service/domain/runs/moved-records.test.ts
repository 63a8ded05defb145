// @module-tag thorough
import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runnerPart } from '../../../../src/service/start/runner.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import { gexHere, json, startApi } from '../../../cli/support.ts';
import { MAIN } from '../../../support/command.ts';
import type { Running } from '../../harness.ts';
import { createPlaces } from '../transfer/places.ts';
import { serveFolder } from '../transfer/serve-folder.ts';
import { SERVER } from '../../stores/tables/postgres/database.ts';
import { books, worldOf } from './support.ts';

test('what runs asked for, and what came, goes along to other places and into backups', async () => {
  const work = await mkdtemp(path.join(tmpdir(), 'moved-records-'));
  onTestFinished(() => rm(work, { recursive: true, force: true, maxRetries: 5 }));
  const api = await startApi((_request, response) => json(response, [{ id: 1 }, { id: 2 }]));
  const dir = path.join(work, 'source');
  const running = await serveFolder(dir, undefined, {
    parts: [
      dataPart,
      runnerPart({ command: [process.execPath, MAIN], concurrency: 2, pollMs: 100, checkMs: 200 }),
    ],
  });
  const world = worldOf(running);
  await world.configure('good', books(api.url));
  await world.configure('bad', books(`${api.url}no/`, { jobs: [{ endpoint: 'x', dataField: 'none' }] }));
  const runs = [await world.start('good'), await world.start('bad')].map(({ id }) => id);
  for (const id of runs) await world.ended(id);

  const recordsOf = async (by: Running): Promise<string[]> => {
    const answers: string[] = [];
    for (const id of runs)
      for (const what of ['explanation', 'recording']) {
        const { status, text } = await by.call('GET', `runs/${id}/${what}`);
        answers.push(`${id} ${what} ${status} ${createHash('sha256').update(text).digest('hex')}`);
      }
    return answers;
  };
  const wanted = await recordsOf(running);
  expect(wanted.filter((each) => / 200 /.test(each))).toHaveLength(4);
  const isIn = async (folder: string): Promise<void> => {
    const copy = await serveFolder(folder, running.token);
    expect(await recordsOf(copy)).toEqual(wanted);
    await copy.stop();
  };
  const tar = path.join(work, 'running.tar');
  await done('backup', tar, '--storage', dir);
  await running.stop();
  await done('restore', tar, '--to', path.join(work, 'restored'));
  await isIn(path.join(work, 'restored'));

  const moved = path.join(work, 'moved');
  expect(await done('migrate', '--from', dir, '--to', moved)).toMatch(/^objects of runs +4 +/m);
  await isIn(moved);

  if (SERVER === undefined) return;
  const places = createPlaces();
  onTestFinished(async () => await places.drop());
  const place = await places.make();
  const there = await places.gex('migrate', '--from', dir, ...places.named('to', place));
  expect(there.code, there.stderr).toBe(0);
  const key = (await readFile(path.join(dir, 'encryption.key'), 'utf8')).trim();
  const shared = await places.serve(place, key, running.token);
  expect(await recordsOf(shared)).toEqual(wanted);
  const other = path.join(work, 'database.tar');
  const made = await places.gex('backup', other, ...places.named('from', place));
  await shared.stop();
  expect(made.code, made.stderr).toBe(0);
  await done('restore', other, '--to', path.join(work, 'back'));
  await copyFile(path.join(dir, 'encryption.key'), path.join(work, 'back', 'encryption.key'));
  await isIn(path.join(work, 'back'));
}, 120_000);

async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await gexHere('storage', ...args);
  expect(code, stderr).toBe(0);
  return stdout;
}
