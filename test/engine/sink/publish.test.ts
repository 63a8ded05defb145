import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SinkError } from '../../../src/lib/errors.ts';
import { writeFileAtomic } from '../../../src/engine/sink/atomic.ts';
import { publish } from '../../../src/engine/sink/publish.ts';
import { Sink } from '../../../src/engine/sink/sink.ts';

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

/** Notes the calls that bring something to the disk, once they are done, and those that give names. */
function watchedDisk(): string[] {
  const calls: string[] = [];
  const { fsync, fdatasync, renameSync } = fs;
  const noting = (sync: (fd: number, done: fs.NoParamCallback) => void): typeof sync => {
    return (fd, done) =>
      sync(fd, (error) => {
        calls.push('sync');
        done(error);
      });
  };
  Object.assign(fs, {
    fsync: noting(fsync),
    fdatasync: noting(fdatasync),
    renameSync: (from: string, to: string) => {
      calls.push('name');
      renameSync(from, to);
    },
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { fsync, fdatasync, renameSync });
    syncBuiltinESMExports();
  });
  return calls;
}

test('tables, manifests and the state are on the disk before the first has its name', async () => {
  const folder = folderOfTest();
  const tables = ['a', 'b'].map((name) => {
    const file = path.join(folder, `${name}.csv`);
    writeFileSync(file, '"id"\n');
    return { name, file, manifest: '{}', rows: 0 };
  });
  const calls = watchedDisk();
  await publish(tables, path.join(folder, 'out'), [{ file: path.join(folder, 'state.json'), text: '{}' }]);
  expect(calls).toEqual([...Array<string>(5).fill('sync'), ...Array<string>(5).fill('name')]);
});

test('a table that cannot be brought to the disk leaves all of them without names', async () => {
  const folder = folderOfTest();
  const [file, lost] = [path.join(folder, '0.csv'), path.join(folder, '1.csv')];
  writeFileSync(file, '"id"\n');
  const table = { manifest: '{}', rows: 0 };
  const tables = [
    { ...table, name: 'a', file },
    { ...table, name: 'b', file: lost },
  ];
  await expect(publish(tables, path.join(folder, 'out'), [])).rejects.toThrow(/1\.csv” could not be/);
  expect(readdirSync(path.join(folder, 'out')).filter((name) => !name.startsWith('.'))).toEqual([]);
  expect(existsSync(file)).toBe(true);
});

test('most of a large table is on the disk before it ends', async () => {
  const calls = watchedDisk();
  const sink = new Sink(path.join(folderOfTest(), 'work'));
  sink.open({ name: 'books', columns: ['id'] });
  const lines = Buffer.alloc(2 ** 20, '"1"\n');
  for (let i = 0; i < 40; i++) {
    sink.append('books', lines, 2 ** 18);
    await sink.settle(true);
  }
  const [table] = await sink.close();
  expect(calls).toEqual(Array<string>(5).fill('sync'));
  expect(statSync(table?.file ?? '').size).toBe(40 * 2 ** 20 + '"id"\n'.length);
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
