import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { SinkError } from '../errors.ts';
import { inThousands } from '../thousands.ts';
import { cellXml, MAX_CELL, type CellKind } from './cell.ts';
import {
  CONTENT_TYPES,
  HEAD,
  headerXml,
  relationships,
  sheetTop,
  STYLE_SHEET,
  workbookXml,
} from './parts.ts';

export interface SheetColumn {
  readonly name: string;
  readonly kind: CellKind;
}

/** Values of some rows, as texts; null is an empty cell. */
export type SheetRows = readonly (readonly (string | null)[])[];

/** Rows and columns of a sheet; the first row has the names. */
const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;

/** Characters of rows that are written at once: other work of the process goes on between, and memory stays small. */
const PART_LENGTH = 65_536;

/** Half of the time of the usual level, for a file that is a tenth larger. */
const COMPRESSION = 3;

/**
 * Writes rows as a workbook for spreadsheets (Office Open XML): one sheet, and further ones when it is full, each with
 * the names of the columns above. Rows are written as they come, so memory does not grow with them.
 *
 * @param file appears when it is whole
 * @param rowsPerSheet with the one for the names; default: as many as there can be
 * @throws {SinkError} for more than a sheet or a cell can hold
 */
export async function writeWorkbook(
  file: string,
  columns: readonly SheetColumn[],
  rows: AsyncIterable<SheetRows>,
  { signal, rowsPerSheet = MAX_ROWS }: { readonly signal: AbortSignal; readonly rowsPerSheet?: number },
): Promise<void> {
  if (columns.length > MAX_COLUMNS)
    throw new SinkError(
      'output.failed',
      `A sheet holds ${thousands(MAX_COLUMNS)} columns, and there are ${thousands(columns.length)}.`,
      { where: { file }, hint: 'Take fewer of them, or another format.' },
    );
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  const part = `${file}.part`;
  const failed = new AbortController();
  const written = pipeline(zip.outputStream, createWriteStream(part), {
    signal: AbortSignal.any([signal, failed.signal]),
  });
  // Their reasons come out below: of the file when it is awaited, of a sheet as the sheet ends.
  written.catch(() => {});
  zip.on('error', () => {});
  const add = (name: string, xml: string): void => zip.addBuffer(Buffer.from(HEAD + xml), name);
  try {
    add('[Content_Types].xml', CONTENT_TYPES);
    add('_rels/.rels', relationships([['officeDocument', 'xl/workbook.xml']]));
    add('xl/styles.xml', STYLE_SHEET);
    const source = new RowSource(rows);
    let sheets = 0;
    do {
      sheets++;
      const sheet = Readable.from(sheetXml(columns, source, rowsPerSheet));
      zip.addReadStream(sheet, `xl/worksheets/sheet${sheets}.xml`, { compressionLevel: COMPRESSION });
      await Promise.race([finished(sheet), written]);
    } while (await source.hasMore());
    const paths = Array.from(
      { length: sheets },
      (_, i) => ['worksheet', `worksheets/sheet${i + 1}.xml`] as const,
    );
    add('xl/workbook.xml', workbookXml(sheets));
    add('xl/_rels/workbook.xml.rels', relationships([...paths, ['styles', 'styles.xml']]));
    zip.end();
    await written;
    await rename(part, file);
  } catch (error) {
    failed.abort();
    await written.catch(() => {});
    await rm(part, { force: true });
    signal.throwIfAborted();
    throw error;
  }
}

/** Rows that come in groups, taken in other ones. */
class RowSource {
  readonly #groups: AsyncIterator<SheetRows>;
  #group: SheetRows = [];
  #at = 0;
  /** Rows that were taken. */
  taken = 0;

  constructor(rows: AsyncIterable<SheetRows>) {
    this.#groups = rows[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.#at >= this.#group.length) {
      const next = await this.#groups.next();
      if (next.done === true) return false;
      this.#group = next.value;
      this.#at = 0;
    }
    return true;
  }

  /** Returns the next rows, at most so many; none at the end. */
  async take(most: number): Promise<SheetRows> {
    if (most <= 0 || !(await this.hasMore())) return [];
    const rows = this.#group.slice(this.#at, this.#at + most);
    this.#at += rows.length;
    this.taken += rows.length;
    return rows;
  }
}

async function* sheetXml(
  columns: readonly SheetColumn[],
  source: RowSource,
  rowsPerSheet: number,
): AsyncGenerator<string> {
  const letters = columns.map((_, i) => lettersOf(i));
  yield HEAD + sheetTop(columns) + headerXml(letters, columns);
  for (let last = 1; ;) {
    const rows = await source.take(rowsPerSheet - last);
    if (rows.length === 0) break;
    let xml = '';
    for (const [i, row] of rows.entries()) {
      const number = ++last;
      const cells = row.map((value, at) => {
        if (value !== null && value.length > MAX_CELL)
          throw tooLong(columns[at]?.name ?? '', source.taken - rows.length + i + 1, value.length);
        return cellXml(`${letters[at]}${number}`, columns[at]?.kind ?? 'text', value);
      });
      xml += `<row r="${number}">${cells.join('')}</row>`;
      if (xml.length < PART_LENGTH) continue;
      yield xml;
      xml = '';
    }
    if (xml !== '') yield xml;
  }
  yield '</sheetData></worksheet>';
}

const thousands = (count: number): string => inThousands(String(count), ',');

function tooLong(column: string, row: number, length: number): SinkError {
  return new SinkError(
    'output.failed',
    `Row ${thousands(row)}: the value of the column "${column}" has ${thousands(length)} characters, and a cell of a workbook holds ${thousands(MAX_CELL)}.`,
    { hint: 'Leave the column out, or take another format.' },
  );
}

/** Returns the letters of a column from its place: A to Z, AA, AB and so on. */
function lettersOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : lettersOf(Math.floor(index / 26) - 1) + letter;
}
