import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SinkError } from '../../../src/lib/errors.ts';
import { writeFileAtomic } from '../../../src/engine/sink/atomic.ts';
import { publish } from '../../../src/engine/sink/publish.ts';

function folderOfTest(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-publish-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('finished files get their final names, each with its manifest, and nothing else is there', () => {
  const folder = folderOfTest();
  const file = path.join(folder, '0.csv');
  writeFileSync(file, '"id"\n"1"\n');
  const out = path.join(folder, 'out', 'tables');
  publish([{ name: 'shop.books', file, manifest: '{"incremental":false}', rows: 1 }], out);
  expect(readdirSync(out).toSorted()).toEqual(['shop.books', 'shop.books.manifest']);
  expect(readFileSync(path.join(out, 'shop.books'), 'utf8')).toBe('"id"\n"1"\n');
  expect(existsSync(file)).toBe(false);
});

test('a file takes the place of an older one whole', () => {
  const file = path.join(folderOfTest(), 'deep', 'state.json');
  writeFileAtomic(file, 'one');
  writeFileAtomic(file, 'two');
  expect(readFileSync(file, 'utf8')).toBe('two');
  expect(readdirSync(path.dirname(file))).toEqual(['state.json']);
});

test('a place that cannot be written is an error with the file in it', () => {
  const folder = folderOfTest();
  writeFileSync(path.join(folder, 'out'), 'a file where a folder should be');
  expect(() => publish([], path.join(folder, 'out', 'tables'))).toThrow(SinkError);
  mkdirSync(path.join(folder, 'state.json'));
  expect(() => writeFileAtomic(path.join(folder, 'state.json'), '{}')).toThrow(
    /state\.json” could not be written/,
  );
});
