import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { leaveFolder, untilLeft } from '../../../../src/service/domain/runs/folders.ts';

test('the next run of a configuration has its folder when the one before has left it, and not sooner', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'folders-'));
  onTestFinished(async () => await rm(parent, { recursive: true, force: true }));
  const folder = path.join(parent, 'run');
  await mkdir(path.join(folder, 'out'), { recursive: true });
  const { promise: gate, resolve: letGo } = Promise.withResolvers<boolean>();
  const left = leaveFolder(folder, async () => await gate);
  const steps: string[] = [];
  const next = untilLeft(folder).then(async () => {
    steps.push(existsSync(folder) ? 'old files' : 'empty');
    await mkdir(path.join(folder, 'new'), { recursive: true });
  });
  letGo(true);
  expect(await left).toBe(true);
  await next;
  expect(steps).toEqual(['empty']);
  expect(existsSync(path.join(folder, 'new'))).toBe(true);

  // The folder stays if another process has ended the run.
  expect(await leaveFolder(folder, async () => await Promise.resolve(false))).toBe(false);
  expect(existsSync(path.join(folder, 'new'))).toBe(true);
});
