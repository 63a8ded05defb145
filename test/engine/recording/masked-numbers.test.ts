import { readFileSync } from 'node:fs';
import path from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Log } from '../../../src/lib/log.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { configOf, dataFolder, filesOf, startApi } from '../../cli/support.ts';
import { times } from '../../support/sample.ts';

const BODY =
  '{"data":[{"id":12345,"text":"is 12345","longer":9123456,"exact":-12345.50,"ok":true}],"next":"12345"}';

test('a secret number that an API repeats is masked in a recording that can be played again', async () => {
  const api = await startApi((_, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Total': '12345' }).end(BODY),
  );
  const job = { endpoint: 'books', dataField: 'data', dataType: 'books', params: { id: { attr: '#id' } } };
  const config = configOf(api, [job], { config: { '#id': '12345', '#flag': 'true' } });
  const folder = dataFolder(config);
  const record = path.join(folder, 'books.gexr');
  await run({ dataFolder: folder, log: silentLog, record });
  expect(zstdDecompressSync(readFileSync(record)).toString('latin1')).not.toContain('12345');

  const told: string[] = [];
  const log: Log = { ...silentLog, warn: (text) => told.push(text) };
  const other = dataFolder(config);
  await run({ dataFolder: other, log, replay: record });
  const header = '"id","text","longer","exact","ok"\n';
  expect(filesOf(folder)['out/tables/library.books']).toBe(
    `${header}"12345","is 12345","9123456","-12345.5","1"\n`,
  );
  expect(filesOf(other)['out/tables/library.books']).toBe(
    `${header}"11111","is *****","9111116","-11111.5","1"\n`,
  );
  expect(told).toContain(
    '1 answer of the recording had secrets of the configuration in them, which are masked: tables have stars, and ones in numbers, in their place',
  );
});

test('JSON stays JSON of as many bytes, and has no secret in its texts and numbers', () => {
  const secret = fc.oneof(
    fc.integer({ min: 1000, max: 99_999 }).map(String),
    fc.constantFrom('u00e9', '00e9', 'nabc', '1111', 'true', 'null', '12.5', 'a"b,c', 'back\\', '":1,"'),
  );
  const value = fc.jsonValue({ maxDepth: 3 });
  fc.assert(
    fc.property(value, fc.array(secret, { minLength: 1, maxLength: 3 }), (json, all) => {
      const secrets = new Secrets();
      for (const each of all) secrets.add(each);
      const texts = all.flatMap((each) => [each, `x${each}y`, `\u00e9\n${each}`]);
      const numbers = all.filter((each) => /^[\d.]+$/.test(each)).map(Number);
      const text = JSON.stringify({ json, texts, numbers, flags: [true, false, null] }).replaceAll(
        '\u00e9',
        '\\u00e9',
      );
      const masked = Buffer.from(secrets.maskJson(Buffer.from(text))).toString('utf8');
      expect(Buffer.byteLength(masked)).toBe(Buffer.byteLength(text));
      // secrets that look like the marks of JSON hide what they are found in, whatever it is then
      if (all.some((each) => each.includes('"') || each.includes('\\'))) return;
      const parsed = JSON.parse(masked) as { texts: string[]; numbers: number[]; flags: unknown[] };
      expect(parsed.flags).toEqual([true, false, null]);
      for (const each of all) {
        expect(parsed.texts.some((shown) => shown.includes(each))).toBe(false);
        expect(parsed.numbers.map(String).includes(each)).toBe(false);
      }
    }),
    { numRuns: times(300) },
  );
});
