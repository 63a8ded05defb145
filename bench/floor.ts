// The floor: what a programmer would write by hand who knows the mock API's records and needs no more than that.
// One page after the other, JSON.parse, one line of text for each record: no settings, no checks, no retries, no state.
//
//   node bench/floor.ts URL FOLDER [AT_ONCE] [--counted]
//
// URL as mock-api.ts prints it, style response.param, or pagenum with --counted; shapes flat, nested and parents. So many
// counted pages, or children of a page, are asked for at once; by default one after the other.
import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';

interface Order {
  id: number;
  customer: string;
  email: string;
  state: string;
  total: number;
  ordered_at: string;
  town: string;
  gift: boolean;
  points: number;
  remark: string | null;
  has_parcels?: number;
  sent_to?: { street: string; post_code: string; floor: number; at: { x: number; y: number } };
  lines?: { article: string; pieces: number; price: number }[];
}
interface Parcel {
  parcel: number;
  weight: number;
  carrier: string;
}
interface Answer {
  data: Order[];
  paging?: { next?: string };
}

const isCounted = process.argv.includes('--counted');
const [url = '', folder = '.', atOnceText = '1'] = process.argv
  .slice(2)
  .filter((text) => text !== '--counted');
const atOnce = Number(atOnceText);
const agent = new http.Agent({ keepAlive: true });
mkdirSync(folder, { recursive: true });

const orders = open('orders.csv');
let lines: WriteStream | undefined;
let parcels: WriteStream | undefined;
for await (const page of isCounted ? countedPages() : pagesInTurn()) {
  let text = '';
  let lineText = '';
  for (const o of page.data) {
    text += `"${o.id}",${cell(o.customer)},${cell(o.email)},"${o.state}","${o.total}","${o.ordered_at}","${o.town}","${o.gift ? '1' : ''}","${o.points}",${cell(o.remark)}`;
    const { sent_to: to } = o;
    if (to !== undefined) {
      const link = `lines_${createHash('md5').update(JSON.stringify(o)).digest('hex')}`;
      text += `,${cell(to.street)},"${to.post_code}","${to.floor}","${to.at.x}","${to.at.y}","${link}"`;
      for (const line of o.lines ?? [])
        lineText += `"${line.article}","${line.pieces}","${line.price}","${link}"\n`;
    }
    text += '\n';
  }
  await write(orders, text);
  if (lineText !== '') await write((lines ??= open('orders_lines.csv')), lineText);
  const parents = page.data.filter((o) => o.has_parcels === 1);
  for (let i = 0; i < parents.length; i += atOnce) {
    const some = parents.slice(i, i + atOnce);
    const found = await Promise.all(some.map(async ({ id }) => await get<Parcel[]>(`${url}/${id}/parcels`)));
    const texts = found.flatMap((each, n) =>
      each.map((p) => `"${p.parcel}","${p.weight}",${cell(p.carrier)},"${some[n]?.id}"\n`),
    );
    await write((parcels ??= open('parcels.csv')), texts.join(''));
  }
}
for (const file of [orders, lines, parcels]) {
  file?.end();
  if (file !== undefined) await once(file, 'finish');
}
agent.destroy();

async function* pagesInTurn(): AsyncGenerator<Answer> {
  let next: string | undefined = '';
  while (next !== undefined) {
    const page: Answer = await get<Answer>(next === '' ? url : `${url}?after=${next}`);
    yield page;
    next = page.paging?.next;
  }
}

async function* countedPages(): AsyncGenerator<Answer> {
  for (let first = 1; ; first += atOnce) {
    const numbers = Array.from({ length: atOnce }, (_, i) => first + i);
    const pages = await Promise.all(numbers.map(async (page) => await get<Answer>(`${url}?page=${page}`)));
    for (const page of pages) {
      if (page.data.length === 0) return;
      yield page;
    }
  }
}

function open(name: string): WriteStream {
  return createWriteStream(path.join(folder, name), { highWaterMark: 1 << 20 });
}

async function write(file: WriteStream, text: string): Promise<void> {
  if (!file.write(text)) await once(file, 'drain');
}

function cell(value: string | null): string {
  return value === null ? '""' : `"${value.includes('"') ? value.replaceAll('"', '""') : value}"`;
}

function get<T>(address: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = http.get(address, { agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as T)); // the mock API's answer
    });
    request.on('error', reject);
  });
}
