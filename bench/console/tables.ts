import { bytesBody } from '../../src/storage/client/transfer/body.ts';
import type { Service } from './service.ts';

/** A table of the bucket `in.c-bench` with these rows. */
export async function makeTable({ client }: Service, name: string, csv: string): Promise<void> {
  const { id } = await client.files.upload(bytesBody(csv), { name: `${name}.csv` });
  await client.tables.create('in.c-bench', { name, dataFileId: id });
}

/** Cells of different lengths, each of which says where it belongs. */
export function wideCsv(rows: number, columns: number): string {
  const numbers = Array.from({ length: columns }, (_, i) => i);
  const lines = [numbers.map((column) => `column_${column}`).join()];
  for (let row = 0; row < rows; row++)
    lines.push(numbers.map((column) => `${row}:${column} ${WORDS.slice(0, (row * 7 + column) % 20)}`).join());
  return `${lines.join('\n')}\n`;
}

const WORDS = 'some text of a cell that fills it';
