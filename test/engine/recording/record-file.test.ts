import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { makeHead } from '../../../src/engine/recording/head.ts';
import { RecordBuffer } from '../../../src/engine/recording/format.ts';
import { RecordFile } from '../../../src/engine/recording/record-file.ts';
import { recordsOf, scan } from '../../../src/engine/recording/scan.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { times } from '../../support/sample.ts';

function fileOfTest(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-recording-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'recording');
}

const head = JSON.stringify(
  makeHead({ row: undefined, configuration: {}, state: {} }, { env: systemEnv, secrets: new Secrets() }),
);
const exchange = (page: number): string =>
  JSON.stringify({ position: [{ job: 'users', index: 0, iteration: 0, page }] });

const note = (text: string): string => JSON.stringify({ of: 0, text });

function written(bodies: readonly Uint8Array[]): string {
  const path = fileOfTest();
  const file = RecordFile.create(path);
  file.write('head', head);
  for (const [i, body] of bodies.entries()) file.write('exchange', exchange(i + 1), body);
  file.close();
  return path;
}

test('records come back as they were written, and nobody else may read the file', () => {
  const large = Buffer.alloc(3_000_000, 'č');
  const path = written([Buffer.from('{"a":1}'), large, new Uint8Array(0)]);
  const file = RecordFile.open(path, 'r');
  const [, ...records] = [file.recordAt(0), ...recordsOf(file, file.recordAt(0)?.end ?? 0)];
  expect(records.map((record) => record?.json)).toEqual([1, 2, 3].map(exchange));
  const bodies = records.map((record) => file.bytes(record?.body.at ?? 0, record?.body.bytes ?? 0));
  expect(bodies.map((body) => body.length)).toEqual([7, large.length, 0]);
  expect(bodies[1]?.equals(large)).toBe(true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  file.close();
});

test('records that wait are written with the next one, whatever their sizes are', () => {
  const path = fileOfTest();
  const file = RecordFile.create(path);
  file.write('head', head);
  const waiting = new RecordBuffer();
  const texts = ['a', 'č'.repeat(3000), 'b'.repeat(2_000_000)];
  const bodies = ['{}', 'x'.repeat(30_000), 'y'.repeat(40_000)].map((text) => Buffer.from(text));
  for (const [i, body] of bodies.entries()) {
    waiting.add('note', note(texts[i] ?? ''));
    const { at } = file.write('exchange', exchange(i), body, waiting);
    expect([file.recordAt(at)?.json, waiting.length]).toEqual([exchange(i), 0]);
  }
  file.close();
  const again = RecordFile.open(path, 'r');
  const records = [...recordsOf(again, again.recordAt(0)?.end ?? 0)];
  expect(records.map(({ json }) => json)).toEqual(texts.flatMap((text, i) => [note(text), exchange(i)]));
  expect(records.every((record) => again.isBodyWhole(record))).toBe(true);
  const found = records
    .map(({ body }) => again.bytes(body.at, body.bytes))
    .filter(({ length }) => length > 0);
  expect(found).toEqual(bodies);
  again.close();
});

test('wherever a recording is cut or a byte of it is changed, what is before is found and the rest is not', () => {
  const sizes = [5, 40, 0, 300];
  const whole = readFileSync(written(sizes.map((size) => Buffer.alloc(size, 'x'))));
  const path = fileOfTest();
  writeFileSync(path, whole);
  const ends: number[] = [];
  const first = RecordFile.open(path, 'r');
  for (let record = first.recordAt(0); record !== undefined; record = first.recordAt(record.end))
    ends.push(record.end);
  first.close();
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.boolean(), (at, isCut) => {
      writeFileSync(path, whole);
      if (isCut) truncateSync(path, at);
      else writeFileSync(path, Buffer.from(whole.map((byte, i) => (i === at ? byte ^ 0x20 : byte))));
      const file = RecordFile.open(path, 'r');
      const found = scan(file);
      file.close();
      const before = ends.filter((end) => end <= at);
      expect(found?.end).toBe(before.at(-1));
      expect(found?.exchanges).toBe(found === undefined ? undefined : before.length - 1);
    }),
    { numRuns: times(300) },
  );
});
