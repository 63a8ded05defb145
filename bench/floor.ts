// The floor: what a programmer would write by hand who knows the mock API's records and needs no more than that.
// One page after the other, JSON.parse, one line of text for each record: no settings, no checks, no retries, no state.
//
//   node bench/floor.ts URL FOLDER      URL as mock-api.ts prints it, shapes flat and nested, style response.param
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
  sent_to?: { street: string; post_code: string; floor: number; at: { x: number; y: number } };
  lines?: { article: string; pieces: number; price: number }[];
}
interface Answer {
  data: Order[];
  paging?: { next?: string };
}

const [url = '', folder = '.'] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });
mkdirSync(folder, { recursive: true });

const orders = open('orders.csv');
let lines: WriteStream | undefined;
let next: string | undefined = '';
while (next !== undefined) {
  const page: Answer = await get(next === '' ? url : `${url}?after=${next}`);
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
  next = page.paging?.next;
}
for (const file of [orders, lines]) {
  file?.end();
  if (file !== undefined) await once(file, 'finish');
}
agent.destroy();

function open(name: string): WriteStream {
  return createWriteStream(path.join(folder, name), { highWaterMark: 1 << 20 });
}

async function write(file: WriteStream, text: string): Promise<void> {
  if (!file.write(text)) await once(file, 'drain');
}

function cell(value: string | null): string {
  return value === null ? '""' : `"${value.includes('"') ? value.replaceAll('"', '""') : value}"`;
}

function get(address: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.get(address, { agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as Answer)); // the mock API's answer
    });
    request.on('error', reject);
  });
}
