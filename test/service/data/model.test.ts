import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowLine } from '../../../src/lib/csv/write.ts';
import { startService, type Running } from '../harness.ts';
import { clientOf } from './client.ts';
import { times } from '../../support/sample.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;
let tables = 0;

beforeAll(async () => {
  api = await startService();
  client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'model' });
});
afterAll(async () => {
  await api.stop();
});

const cell = fc.oneof(
  fc.constantFrom('', 'a', 'b', '"', ',', 'line\nend', '0'),
  fc.string({ maxLength: 5, unit: 'grapheme' }).filter((text) => !/[\r\0]/.test(text)),
);
const key = fc.constantFrom('1', '2', '3', '');
const rows = fc.array(fc.tuple(key, key, cell), { maxLength: 8 });
const load = fc.record({ rows, isIncremental: fc.boolean(), isReversed: fc.boolean() });

/** Returns the expected content of a table after its loads: a list of rows, or the last row of each key. */
function model(
  loads: readonly { rows: readonly (readonly string[])[]; isIncremental: boolean }[],
  keys: readonly number[],
): string[] {
  let held: string[][] = [];
  for (const { rows: added, isIncremental } of loads) {
    if (!isIncremental) held = [];
    for (const row of added) {
      const same = keys.length === 0 ? -1 : held.findIndex((other) => keys.every((i) => other[i] === row[i]));
      if (same === -1) held.push([...row]);
      else held[same] = [...row];
    }
  }
  return held.map((row) => rowLine(row)).toSorted();
}

test('random loads with and without a key leave what a simple model says, exported byte by byte', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(load, { minLength: 1, maxLength: 4 }),
      fc.constantFrom([], [0], [0, 1]),
      fc.boolean(),
      async (loads, keys, gzip) => {
        const name = `table_${++tables}`;
        const columns = ['k', 'l', 'v'];
        const primaryKey = keys.map((i) => columns[i]).join(',');
        const made = await client.create('in.c-model', name, 'k,l,v\n', { primaryKey });
        expect(made.error).toBeUndefined();
        for (const { rows: all, isIncremental, isReversed } of loads) {
          const order = isReversed ? [2, 1, 0] : [0, 1, 2];
          const content = [columns, ...all].map((row) => rowLine(order.map((i) => row[i] ?? ''))).join('');
          const file = await client.upload(content);
          const job = await client.run('POST', `tables/in.c-model.${name}/import-async`, {
            dataFileId: file.id,
            incremental: isIncremental,
          });
          expect(job.error).toBeUndefined();
        }
        const expected = model(loads, keys);
        const exported = await client.rowsOf(`in.c-model.${name}`, { gzip });
        expect(splitRows(exported)).toEqual(expected);
      },
    ),
    { numRuns: times(12) },
  );
});

/** Every cell is quoted: a line end is that of a row only outside of quotes. */
function splitRows(text: string): string[] {
  return (text.match(/(?:"(?:[^"]|"")*",?)+\n/g) ?? []).toSorted();
}
