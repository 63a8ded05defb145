import { appendFileSync, createReadStream, mkdirSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { RunError } from '../../../lib/errors.ts';
import { createDialect } from '../../../lib/csv/dialect.ts';
import { decompressed } from '../../../lib/csv/decompress.ts';
import { recordsOf } from '../../../lib/csv/records.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isList,
  isObject,
  jsonOf,
  objectOf,
  textAt,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';

/** Key that says in a record where it stood. */
export const PLACE_KEY = 'gex place of the record';

/** Records of one stream of another tool, one behind the other as lines of JSON. */
export interface SpooledRecords {
  readonly stream: string;
  readonly file: string;
  readonly records: number;
}

/** Keys that other tools add to their records. Connectors of Airbyte have some of their own: `_airbyte_parent_id`. */
const ADDED =
  /^_(?:(?:ab|dlt|sdc)_|airbyte_(?:(?:raw|ab|generation)_id|(?:extracted|emitted|loaded|normalized|start|end)_at|meta|data|active_row|unique_key(?:_scd)?|\w+_hashid)$)/;

/**
 * Reads a folder with records of another tool, and writes those of each stream into a file of its own, so that memory
 * stays the same however many there are.
 *
 * Understood are lines of JSON with Airbyte's RECORD messages or Singer's, and files with the records of one stream,
 * lines of JSON or CSV, which is called like the file, or like its folder below the one that is given. Each may be gzip.
 *
 * @throws {RunError} `import.invalid` for a folder without records, or a line that is none
 */
export async function spoolRecords(folder: string, into: string): Promise<readonly SpooledRecords[]> {
  mkdirSync(into, { recursive: true });
  const spools = new Map<string, Spool>();
  for (const file of recordFiles(folder)) {
    const source = path.join(folder, file);
    const stream = streamOf(file);
    const records = /\.csv(?:\.gz)?$/i.test(file) ? csvRecords(source, stream) : lineRecords(source, stream);
    for await (const { stream: name, data, line } of records) {
      let spool = spools.get(name);
      if (spool === undefined) spools.set(name, (spool = new Spool(path.join(into, `${spools.size}.jsonl`))));
      spool.add(`${encodeExact(withPlace(data, `${file}:${line}`))}\n`);
    }
  }
  const done: SpooledRecords[] = [];
  for (const [stream, spool] of spools) {
    spool.flush();
    done.push({ stream, file: spool.file, records: spool.count });
  }
  if (done.length === 0)
    throw new RunError('import.invalid', `There are no records in ${folder}.`, {
      where: { file: folder },
      hint: 'Give a folder with lines of JSON: Airbyte messages of the type RECORD, or a .jsonl or .csv file for each stream.',
    });
  return done;
}

/** Characters that wait to be written together. */
const SPOOL_CHARACTERS = 256_000;

/** Lines of one stream on their way into its file, which is open only while they are written. */
class Spool {
  readonly file: string;
  count = 0;
  #lines: string[] = [];
  #characters = 0;

  constructor(file: string) {
    this.file = file;
  }

  add(line: string): void {
    this.count++;
    this.#lines.push(line);
    this.#characters += line.length;
    if (this.#characters > SPOOL_CHARACTERS) this.flush();
  }

  flush(): void {
    appendFileSync(this.file, this.#lines.join(''));
    this.#lines = [];
    this.#characters = 0;
  }
}

interface FoundRecord {
  readonly stream: string;
  readonly data: AnyObject;
  /** From 1. */
  readonly line: number;
}

function withPlace(data: AnyObject, place: string): AnyObject {
  const own = entriesOf(data).filter(([key]) => !ADDED.test(key));
  return objectOf([...own, [PLACE_KEY, place] as const]);
}

/** Returns the files that may have records, by name; those of a tool about its own work are left out. */
function recordFiles(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new RunError('import.invalid', `There is no folder ${folder}.`, { where: { file: folder } });
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:jsonl?|ndjson|csv|txt|log)(?:\.gz)?$/i.test(file))
    .filter((file) => !file.split(path.sep).some((part) => part.startsWith('_dlt') || part.startsWith('.')))
    .filter((file) => statSync(path.join(folder, file)).isFile())
    .toSorted();
}

function streamOf(file: string): string {
  const parts = file.split(path.sep);
  const [first = ''] = path.basename(file).split('.');
  return parts.at(-2) ?? first;
}

async function* lineRecords(file: string, stream: string): AsyncGenerator<FoundRecord> {
  let line = 0;
  const lines = createInterface({
    input: Readable.from(decompressed(createReadStream(file))),
    crlfDelay: Infinity,
  });
  for await (const text of lines) {
    line++;
    if (text.trim() === '') continue;
    const value = jsonOf(text);
    // a list of all records in one line, as programs write it that do not care for lines
    const values = isList(value) ? value : [value];
    if (!values.every(isObject)) {
      // between its messages a tool may write lines of a log
      if (/\.(?:txt|log)(?:\.gz)?$/i.test(file)) continue;
      throw new RunError('import.invalid', 'A line is no JSON object.', {
        where: { file, line },
        hint: [
          'Each line of a file of records is one record, or one message of the tool.',
          ...(/^\s*\[/.test(text) ? ["jq -c '.[]' writes a list over several lines so."] : []),
        ],
      });
    }
    for (const one of values) {
      const found = recordIn(one, stream);
      if (found !== undefined) yield { ...found, line };
    }
  }
}

/** Returns the record of a line: a message's, or the line itself; undefined for a message of another type. */
function recordIn(value: AnyObject, stream: string): Omit<FoundRecord, 'line'> | undefined {
  const type = textAt(value, 'type');
  const record = getKey(value, 'record');
  if (type === 'RECORD' && isObject(record)) {
    const data = getKey(record, 'data');
    const name = textAt(record, 'stream') ?? textAt(value, 'stream') ?? stream;
    // Singer has the record itself where Airbyte has an envelope
    return textAt(value, 'stream') === undefined && isObject(data)
      ? { stream: name, data }
      : { stream: textAt(value, 'stream') ?? name, data: record };
  }
  return type !== undefined && MESSAGES.has(type) && isMessage(value) ? undefined : { stream, data: value };
}

const MESSAGES = new Set(
  'LOG STATE TRACE CATALOG SPEC CONNECTION_STATUS CONTROL SCHEMA ACTIVATE_VERSION BATCH'.split(' '),
);

/** Tells whether an object has the part that a message of its type has. */
function isMessage(value: AnyObject): boolean {
  const parts = [
    'log',
    'state',
    'trace',
    'catalog',
    'spec',
    'connectionStatus',
    'control',
    'schema',
    'value',
  ];
  return parts.some((part) => getKey(value, part) !== undefined) || textAt(value, 'stream') !== undefined;
}

async function* csvRecords(file: string, stream: string): AsyncGenerator<FoundRecord> {
  const bytes = decompressed(createReadStream(file));
  let header: readonly string[] | undefined;
  for await (const records of recordsOf(bytes, createDialect(), () => 1))
    for (const { cells, line } of records) {
      if (header === undefined) header = cells;
      else
        yield {
          stream,
          line,
          data: objectOf(header.map((name, index) => [name, cellValue(cells[index] ?? '')] as const)),
        };
    }
}

/** Reads a cell as the value that it was: JSON of an object or a list, or a word; all else is a text. */
function cellValue(cell: string): Json {
  if (cell === 'true' || cell === 'True') return true;
  if (cell === 'false' || cell === 'False') return false;
  return /^[[{]/.test(cell) ? (jsonOf(cell) ?? cell) : cell;
}
