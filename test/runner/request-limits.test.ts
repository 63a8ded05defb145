import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LimitStart, LimitTrace } from '../../src/engine/http/limit-trace.ts';
import { folderLimits } from '../../src/runner/request-limits.ts';

const HOST = { origin: 'http://h' };

/** Keeps what a run found. @param from the limit before it was cut; absent where it was not */
function ran(folder: string, limit: number, from?: number): LimitStart | undefined {
  const change = { atMs: 5, sent: 9, from: from ?? limit - 1, to: limit, why: '429' };
  // a refusal by chance cuts nothing
  const trace: LimitTrace = { ...HOST, since: '', limit, sent: 20, refused: 1, changes: [change] };
  folderLimits(folder).keep([trace]);
  return folderLimits(folder).startOf(HOST);
}

function dataFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'limits-'));
  mkdirSync(path.join(folder, '.gex'));
  return folder;
}

test('a run begins at three quarters of what was found last, whatever short runs have used since', () => {
  const folder = dataFolder();
  expect(folderLimits(folder).startOf(HOST)).toBeUndefined();
  expect(ran(folder, 2)).toEqual({ limit: 4, wasRefused: false });
  expect(ran(folder, 20)).toEqual({ limit: 15, wasRefused: false });
  expect(ran(folder, 4)).toEqual({ limit: 15, wasRefused: false });
  expect(ran(folder, 10, 20)).toEqual({ limit: 7, wasRefused: true });
  expect(ran(folder, 8)).toEqual({ limit: 7, wasRefused: true });
  expect(ran(folder, 12)).toEqual({ limit: 9, wasRefused: true });
  expect(ran(folder, 1, 4)).toEqual({ limit: 1, wasRefused: true });
});

test('what an earlier version has kept is known, and what is no number is not', () => {
  const folder = dataFolder();
  ran(folder, 20);
  const file = path.join(folder, '.gex/limits.json');
  const kept = JSON.parse(readFileSync(file, 'utf8')) as { salt: string; limits: [object] };
  const starts = [undefined, null, { limit: 'many', wasRefused: true }, { limit: 20 }].map((known) => {
    writeFileSync(file, JSON.stringify({ ...kept, limits: [{ ...kept.limits[0], known }] }));
    return folderLimits(folder).startOf(HOST);
  });
  expect(starts).toEqual([{ limit: 15, wasRefused: true }, undefined, undefined, undefined]);
});
