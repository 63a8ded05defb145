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

test('finished files get their final names, each with its manifest, and nothing else is there', async () => {
  const folder = folderOfTest();
  const file = path.join(folder, '0.csv');
  writeFileSync(file, '"id"\n"1"\n');
  const out = path.join(folder, 'out', 'tables');
  const state = path.join(folder, 'out', 'state.json');
  const tables = [{ name: 'shop.books', file, manifest: '{"incremental":false}', rows: 1 }];
  await publish(tables, out, [{ file: state, text: '{}' }]);
  expect(readdirSync(out).toSorted()).toEqual(['shop.books', 'shop.books.manifest']);
  expect(readFileSync(path.join(out, 'shop.books.manifest'), 'utf8')).toBe('{"incremental":false}');
  expect(readdirSync(path.dirname(state)).toSorted()).toEqual(['state.json', 'tables']);
  expect(readFileSync(state, 'utf8')).toBe('{}');
  expect(readFileSync(path.join(out, 'shop.books'), 'utf8')).toBe('"id"\n"1"\n');
  expect(existsSync(file)).toBe(false);
});

test('files in hundreds get their names, and none of them when one cannot be written', async () => {
  const folder = folderOfTest();
  const out = path.join(folder, 'out');
  const tables = Array.from({ length: 150 }, (_, i) => {
    const file = path.join(folder, `${i}.csv`);
    writeFileSync(file, `"${i}"\n`);
    return { name: `table-${i}`, file, manifest: `{"i":${i}}`, rows: 0 };
  });
  mkdirSync(path.join(out, `.table-149.manifest.${process.pid}.tmp`), { recursive: true });
  await expect(publish(tables, out, [])).rejects.toThrow(/table-149\.manifest” could not be written/);
  expect(readdirSync(out).filter((name) => !name.startsWith('.'))).toEqual([]);
  rmSync(out, { recursive: true });
  await publish(tables, out, []);
  expect(readdirSync(out)).toHaveLength(300);
  expect(readFileSync(path.join(out, 'table-99.manifest'), 'utf8')).toBe('{"i":99}');
});

test('a file takes the place of an older one whole', () => {
  const file = path.join(folderOfTest(), 'deep', 'state.json');
  writeFileAtomic(file, 'one');
  writeFileAtomic(file, 'two');
  expect(readFileSync(file, 'utf8')).toBe('two');
  expect(readdirSync(path.dirname(file))).toEqual(['state.json']);
});

test('a place that cannot be written is an error with the file in it', async () => {
  const folder = folderOfTest();
  writeFileSync(path.join(folder, 'out'), 'a file where a folder should be');
  await expect(publish([], path.join(folder, 'out', 'tables'), [])).rejects.toThrow(SinkError);
  mkdirSync(path.join(folder, 'state.json'));
  expect(() => writeFileAtomic(path.join(folder, 'state.json'), '{}')).toThrow(
    /state\.json” could not be written/,
  );
});
