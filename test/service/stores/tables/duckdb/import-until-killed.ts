/* Imports into a table again and again, and says when each import is done. Started, and killed, by `kill.test.ts`. */
import { Readable } from 'node:stream';
import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';

const ROWS = 20_000;
const [folder = ''] = process.argv.slice(2);
const table = { bucket: 'in.c-kill', table: 'rows' };
const engine = createDuckDbEngine({ folder });
await engine.open();
await engine.create(table, { columns: ['id', 'round'], primaryKey: ['id'] });
for (let round = 1; ; round++) {
  const lines = Array.from({ length: ROWS }, (_, i) => `${i},${round}\n`);
  const slices = (async function* () {
    yield await Promise.resolve(Readable.from([Buffer.from(`id,round\n${lines.join('')}`)]));
  })();
  await engine.import(table, { importedAt: new Date(), incremental: round % 2 === 0 }, slices);
  process.stdout.write(`${round}\n`);
}
