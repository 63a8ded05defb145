// Upload and download of a large file through the embedded service: the client against the SDK of the object store alone,
// in the same run, each in a process of its own.
//
//   node bench/transfer.ts [--megabytes 1024] [--runs 3]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, printTable, seconds } from './support/figures.ts';
import { withFolder } from './support/folder.ts';
import { measure, type Finished } from './support/processes.ts';

const { values } = parseArgs({
  options: { megabytes: { type: 'string', default: '1024' }, runs: { type: 'string', default: '3' } },
});
const MIB = 1024 * 1024;
const megabytes = Number(values.megabytes);
const runs = Number(values.runs);
const script = (name: string): string => fileURLToPath(new URL(`support/${name}`, import.meta.url));

const WORK = ['upload', 'download'] as const;
const WAYS = ['client', 'sdk'] as const;

await withFolder(async (folder) => {
  const source = path.join(folder, 'source.bin');
  await writeNoise(source, megabytes);
  const service = spawn(process.execPath, [script('storage-service.ts'), path.join(folder, 'storage')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(service, 'exit');
  const [line] = (await once(service.stdout, 'data')) as [Buffer]; // one line of JSON
  const { url, token } = JSON.parse(String(line)) as { url: string; token: string }; // see storage-service.ts
  const rows: string[][] = [];
  for (const work of WORK) {
    const found: Record<(typeof WAYS)[number], Finished[]> = { client: [], sdk: [] };
    for (let run = 0; run < runs; run++)
      for (const way of WAYS) {
        const target = path.join(folder, `${way}.out`);
        const args = [script('transfer-work.mjs'), work, way, url, token, source, target];
        found[way].push(await measure(args, folder));
        if (work === 'download' && (await stat(target)).size !== megabytes * MIB)
          throw new Error(`the ${way} brought ${(await stat(target)).size} bytes`);
      }
    const wall = (way: (typeof WAYS)[number]) => median(found[way].map(({ wallMs }) => wallMs));
    for (const way of WAYS)
      rows.push([
        `${work}, ${way}`,
        seconds(wall(way)),
        `${((megabytes / wall(way)) * 1000).toFixed(0)} MB/s`,
        `${Math.max(...found[way].map(({ peakMb }) => peakMb)).toFixed(0)} MB`,
        `${((wall('sdk') / wall(way)) * 100).toFixed(0)} %`,
      ]);
  }
  printTable(
    `A file of ${megabytes} MB, median of ${runs}`,
    ['', 'wall', 'throughput', 'peak memory', 'throughput of the SDK'],
    rows,
  );
  service.stdin.end();
  await ended;
});

async function writeNoise(file: string, count: number): Promise<void> {
  const piece = Buffer.alloc(MIB);
  for (let at = 0, x = 1; at < MIB; at += 4) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0;
    piece.writeUInt32LE(x, at);
  }
  const pieces = function* (): Generator<Buffer> {
    for (let i = 0; i < count; i++) {
      const next = Buffer.from(piece);
      next.writeUInt32LE(i, 0);
      yield next;
    }
  };
  await pipeline(Readable.from(pieces(), { objectMode: false }), createWriteStream(file));
}
