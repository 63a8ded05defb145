import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rowLine } from '../../../src/lib/csv/write.ts';
import { SinkError } from '../../../src/lib/errors.ts';
import { Sink } from '../../../src/engine/sink/sink.ts';
import { times } from '../../support/sample.ts';

function folderOfTest(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-sink-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'work');
}

async function tablesOf(sink: Sink): Promise<Record<string, string>> {
  return Object.fromEntries((await sink.close()).map(({ name, file }) => [name, readFileSync(file, 'utf8')]));
}

test('a table is its header and the lines in their order', async () => {
  const sink = new Sink(folderOfTest());
  sink.open({ name: 'books', columns: ['id', 'ti"tle'] });
  sink.append('books', '"1","Emma"\n', 1);
  sink.append('books', Buffer.from('"2","č"\n'), 1);
  expect(sink.rows).toBe(2);
  expect(await tablesOf(sink)).toEqual({ books: '"id","ti""tle"\n"1","Emma"\n"2","č"\n' });
});

test('opening again with other columns names both', async () => {
  const sink = new Sink(folderOfTest());
  sink.open({ name: 'books', columns: ['id'] });
  sink.open({ name: 'books', columns: ['id'] });
  expect(() => sink.open({ name: 'books', columns: ['no'] })).toThrow('Two sources write the table “books”');
  expect(() => sink.append('loans', '"1"\n', 1)).toThrow('not open');
  await sink.abandon();
});

test('a late column: what was written is written again, in front of what came after it', async () => {
  const sink = new Sink(folderOfTest());
  sink.open({ name: 'books', columns: ['id'] });
  sink.append('books', '"1"\n"2"\n', 2);
  sink.relayout({ name: 'books', columns: ['id', 'title'] });
  sink.append('books', '"3","Emma"\n', 1);
  await sink.settle(true);
  sink.rewrite();
  sink.append('books', '"1",""\n"2",""\n', 2);
  const [table] = await sink.close();
  expect(table).toMatchObject({ name: 'books', columns: ['id', 'title'], rows: 3 });
  expect(readFileSync(table?.file ?? '', 'utf8')).toBe('"id","title"\n"1",""\n"2",""\n"3","Emma"\n');
});

test('a late column before the first row only changes the header', async () => {
  const sink = new Sink(folderOfTest());
  sink.open({ name: 'books', columns: ['id'] });
  sink.relayout({ name: 'books', columns: ['id', 'a much longer name'] });
  sink.append('books', '"3",""\n', 1);
  expect(await tablesOf(sink)).toEqual({ books: '"id","a much longer name"\n"3",""\n' });
});

test('rows that belong in front of a new table can be written in the end', async () => {
  const sink = new Sink(folderOfTest());
  sink.open({ name: 'tags', columns: ['data'] });
  sink.relayout({ name: 'tags', columns: ['data'] });
  sink.append('tags', '"second"\n', 1);
  sink.rewrite();
  sink.append('tags', '"first"\n', 1);
  const [table] = await sink.close();
  expect(table?.rows).toBe(2);
  expect(readFileSync(table?.file ?? '', 'utf8')).toBe('"data"\n"first"\n"second"\n');
});

/** Operation on one of two tables; sizes exceed the buffer now and then. */
const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      table: fc.nat(1),
      size: fc.oneof(fc.nat(30), fc.constant(90_000), fc.constant(400_000)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('relayout' as const),
      table: fc.nat(1),
      columns: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

interface Model {
  readonly tables: Record<
    string,
    { columns: number; stale: boolean; fresh: string; rows: number; freshRows: number }
  >;
}

const columnsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `column ${i}`);

test(
  'appends and late columns in any order give what a model in memory gives',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
        const folder = mkdtempSync(path.join(tmpdir(), 'gex-sink-'));
        const sink = new Sink(path.join(folder, 'work'));
        const model: Model = { tables: {} };
        let line = 0;
        for (const step of operations) {
          const name = `t${step.table}`;
          const known = (model.tables[name] ??= {
            columns: 1,
            stale: false,
            fresh: '',
            rows: 0,
            freshRows: 0,
          });
          sink.open({ name, columns: columnsOf(known.columns) });
          if (step.do === 'append') {
            const text = `"${`${line++}`.padEnd(step.size, 'č')}"\n`;
            sink.append(name, text, 1);
            known.fresh += text;
            known.rows++;
            known.freshRows++;
          } else {
            sink.relayout({ name, columns: columnsOf(step.columns) });
            Object.assign(known, {
              columns: step.columns,
              stale: known.stale || known.rows > 0,
              fresh: '',
              freshRows: 0,
            });
          }
        }
        await sink.settle(true);
        sink.rewrite();
        for (const [name, { stale, rows, freshRows }] of Object.entries(model.tables)) {
          if (stale) sink.append(name, '"again"\n', rows - freshRows);
        }
        const tables = await sink.close();
        expect(
          Object.fromEntries(
            tables.map(({ name, rows, file }) => [name, [rows, readFileSync(file, 'utf8')]]),
          ),
        ).toEqual(
          Object.fromEntries(
            Object.entries(model.tables).map(([name, { columns, stale, fresh, rows }]) => [
              name,
              [rows, rowLine(columnsOf(columns)) + (stale ? '"again"\n' : '') + fresh],
            ]),
          ),
        );
        rmSync(folder, { recursive: true, force: true });
      }),
      { numRuns: times(60) },
    );
  },
);

test('memory stays flat: of 200 MB of rows a few are not on the disk yet', async () => {
  const folder = folderOfTest();
  const sink = new Sink(folder);
  sink.open({ name: 'books', columns: ['text'] });
  const lines = `"${'x'.repeat(997)}"\n`.repeat(100);
  await sink.settle(true);
  const file = path.join(folder, '0.csv');
  const { size: header } = statSync(file);
  let most = 0;
  for (let i = 1; i <= 2000; i++) {
    sink.append('books', lines, 100);
    await sink.settle();
    most = Math.max(most, header + i * lines.length - statSync(file).size);
  }
  expect(most).toBeLessThan(4 * 2 ** 20);
  await sink.abandon();
});

async function failureOf(use: (sink: Sink) => void, file: string): Promise<unknown> {
  const folder = folderOfTest();
  mkdirSync(folder);
  symlinkSync(FULL, path.join(folder, file));
  const sink = new Sink(folder);
  try {
    use(sink);
    await sink.settle(true);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await sink.abandon();
  }
}

/** A device on which nothing fits: every write ends with ENOSPC. */
const FULL = '/dev/full';

describe.skipIf(!existsSync(FULL))('a full disk (only where the system has /dev/full)', () => {
  test.each([['a table', '0.csv', (sink: Sink) => sink.open({ name: 'books', columns: ['id'] })]])(
    '%s: the error names the file and the way out',
    async (_, file, use) => {
      const error = await failureOf(use, file);
      expect(error).toBeInstanceOf(SinkError);
      expect(error).toMatchObject({
        code: 'output.failed',
        audience: 'user',
        message: expect.stringContaining('ENOSPC') as string,
        hint: expect.stringContaining('The disk is full: free some space') as string,
        where: { file: expect.stringContaining(file) as string },
      });
    },
  );
});

test.runIf(existsSync('/proc/self/fd'))(
  'an abandoned sink leaves no file open (only where /proc tells)',
  async () => {
    const folder = folderOfTest();
    const open = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => linkOf(`/proc/self/fd/${fd}`)?.startsWith(folder) === true)
        .length;
    const sink = new Sink(folder);
    sink.open({ name: 'books', columns: ['id'] });
    sink.append('books', '"1"\n', 1);
    expect(open()).toBe(1);
    await sink.abandon();
    await sink.abandon();
    expect(open()).toBe(0);
  },
);

function linkOf(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined; // closed in the meantime
  }
}
