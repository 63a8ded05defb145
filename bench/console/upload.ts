import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { seconds } from '../support/figures.ts';
import { heapMb, peakOf, withPage, type Opened } from './browser.ts';
import type { Service } from './service.ts';

/** A large file is dropped, and becomes a table: memory of the page, and whether each byte is there. */
export async function upload(service: Service, folder: string, megabytes: number): Promise<string[][]> {
  const file = path.join(folder, 'dropped.csv');
  await pipeline(Readable.from(linesOf(megabytes * 1e6)), createWriteStream(file));
  return await withPage(async (opened) => {
    const { page } = opened;
    await page.goto(await service.link('/tables/in.c-bench'));
    await page.locator('.drop-zone').waitFor();
    const before = await heapMb(opened);
    const started = performance.now();
    const peak = await peakOf(opened, async () => {
      await drop(page, file);
      await page.getByRole('button', { name: 'Make the table' }).click();
      await page.getByRole('heading', { name: 'dropped', exact: true }).waitFor({ timeout: 600_000 });
    });
    const wallMs = performance.now() - started;
    const [sent, stored] = [
      await digestOf(createReadStream(file)),
      await digestOf(await service.client.tables.read('in.c-bench.dropped')),
    ];
    return [
      ['until the table is there', seconds(wallMs)],
      ['scripts before, MB', before.toFixed(1)],
      ['scripts at their peak, MB (bar: 150)', peak.heapMb.toFixed(1)],
      ['the process of the page at its peak, MB', peak.privateMb.toFixed(0)],
      ['the table is', sent === stored ? 'that of the file, byte by byte' : 'ANOTHER ONE'],
    ];
  });
}

/** As a hand would: a file of the disk, of which the page has no more than its name. */
async function drop(page: Opened['page'], file: string): Promise<void> {
  await page.evaluate(`{
    const input = document.createElement('input');
    Object.assign(input, { type: 'file', id: 'bench-file' });
    document.body.append(input);
  }`);
  await page.locator('#bench-file').setInputFiles(file);
  const transfer = await page.evaluateHandle(`{
    const input = document.querySelector('#bench-file');
    const transfer = new DataTransfer();
    transfer.items.add(input.files[0]);
    input.remove();
    transfer
  }`);
  await page.dispatchEvent('.drop-zone', 'drop', { dataTransfer: transfer });
}

/** In the form of an export, so that its bytes are the same: rows that say which they are, with signs that need care. */
function* linesOf(bytes: number): Generator<string> {
  yield '"id","name","text"\n';
  for (let row = 0, size = 0; size < bytes;) {
    let part = '';
    for (let n = 0; n < 1000; n++, row++)
      part += `"${row}","Name ""${row % 977}""","Größe, ${row * 31}\n${'text '.repeat(row % 20)}"\n`;
    size += Buffer.byteLength(part);
    yield part;
  }
}

async function digestOf(bytes: AsyncIterable<unknown>): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of bytes) hash.update(part as Uint8Array); // streams of bytes
  return hash.digest('hex');
}
