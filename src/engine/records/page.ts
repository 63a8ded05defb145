import { isAscii } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import { RecordError } from '../../lib/errors.ts';
import {
  isEmpty,
  isList,
  JsonSyntaxError,
  parseExact,
  scanLarge,
  scanPage,
  type ScannedList,
  type Json,
  type Path,
  type RowChunk,
  type ListScan,
} from '../../lib/json/index.ts';
import { jsonText, utf8Body, type Charset, type TextRemarks } from '../formats/index.ts';
import { Scratch } from '../../lib/scratch.ts';
import { shownText } from '../../lib/shown-text.ts';
import { describeAnswer, notJson } from './answer.ts';
import type { LargeBody } from '../shared/message.ts';
import type { RawRows, RowBytes } from './raw-rows.ts';

export interface PageReadOptions {
  /** Path of the rows; undefined for "the only list of the response". */
  readonly dataField: Path | undefined;
  readonly endpoint: string;
  /** Encoding of the body, where the answer declares one. */
  readonly charset?: Charset | undefined;
  /** Every literal of the rows is kept as it is written, which takes longer. */
  readonly isExact?: boolean;
  /** The address that was asked, redacted; asked for only when a message needs it. */
  readonly describeUrl: () => string;
  /** Hides secrets in a text that is to be shown. */
  readonly redact: (text: string) => string;
}

/** One piece of rows, decoded when it is asked for. */
export interface RowsPiece {
  readonly rows: number;
  /** There is one value in the place of a list, which is the row. */
  readonly single: boolean;
  /**
   * Decodes the rows, each time anew.
   *
   * @throws {RecordError} `response.notJson` for rows that are malformed
   */
  decode(): readonly Json[];
  /** Bytes of the rows, where they are a part of the body that the plain parse reads exactly. */
  readonly raw?: Pick<RawRows, 'size' | 'cuts' | 'open'>;
}

/** Rows that are decoded while they are read, each time anew, in chunks that are the same each time. */
export interface RowStream {
  chunks(): Iterable<readonly Json[]>;
}

/** A response, located but not decoded: what is outside the rows is parsed, the rows are still bytes. */
export interface Page {
  /** The response without its rows (an empty list stands in their place). */
  readonly envelope: Json;
  /**
   * Returns the whole response, decoded; costs a parse of the rows, and is remembered.
   *
   * @throws {RecordError} `response.notJson` when the rows are malformed
   */
  response(): Json;
  readonly pieces: readonly RowsPiece[];
  /** The rows of a body in another format than JSON, in the place of the pieces. */
  readonly stream?: RowStream;
  /** Names of the columns, where the body says them apart from its rows. */
  readonly header?: readonly string[];
  readonly rows: number;
  /** Keys of the place where the rows were taken out of the envelope; undefined where the envelope is the response. */
  readonly rowsAt: readonly string[] | undefined;
  /** The rows are made of what is in the response, and do not stand there as they are. */
  readonly isMade?: boolean;
  /** Digest of the body. */
  readonly digest: string;
  /** Digest of the rows' bytes alone. */
  readonly rowsDigest: string;
  /** Why there are no rows, to be logged as a warning. */
  readonly warning?: string;
  /** The path at which rows were looked for in vain, and another one at which the answer has some. */
  readonly missed?: { readonly looked: string; readonly near: string };
  /** Remarks on the encoding of the body. */
  readonly text?: TextRemarks | undefined;
}

/**
 * Reads a response body: finds the rows, parses what is around them.
 *
 * @throws {RecordError} `response.notJson` for a body that is not JSON, `response.shape` for one without rows to find
 */
export function readPage(body: Uint8Array, options: PageReadOptions): Page {
  const { bytes, remarks } = jsonText(body, options.charset ?? { label: undefined });
  if (bytes.length === 0) return emptyPage();
  try {
    const page = locate(bytes, options);
    return remarks === undefined ? page : { ...page, text: remarks };
  } catch (error) {
    if (isSyntaxError(error)) throw notJson(bytes, error, options);
    if (error instanceof RecordError) error.at({ url: options.describeUrl() });
    throw error;
  }
}

/**
 * Reads a body that is too large for memory as {@link readPage} does: its rows stay where they are until they are
 * used, and what is around them is held.
 *
 * It is read into memory all the same where nothing less will do: for an encoding other than UTF-8 and bytes that are
 * none, for rows at a JSONPath or at no list, for a row or surroundings of more than 32 MiB, and for what is no JSON.
 *
 * @throws {RecordError} as {@link readPage}
 */
export function readLargePage(body: LargeBody, options: PageReadOptions): Page {
  return largeListPage(body, options) ?? readPage(body.read(0, body.bytes), options);
}

function largeListPage(body: LargeBody, options: PageReadOptions): Page | undefined {
  const { dataField, charset } = options;
  if (dataField !== undefined && dataField.keys === undefined) return undefined;
  const text = utf8Body(body, charset ?? { label: undefined });
  if (text === undefined) return undefined;
  const scan = scanLarge(text, dataField?.keys);
  const [[name, list] = []] = scan?.lists ?? [];
  if (scan === undefined || name === undefined || list === undefined || scan.lists.size > 1) return undefined;
  const keys = dataField?.keys ?? (scan.root === 'list' ? [] : [name]);
  const document = {
    size: text.bytes,
    part: (from: number, to: number, into?: Scratch) => text.read(from, to - from, into),
  };
  try {
    const page = listPage(document, scan, { keys, list }, options);
    const unknown = charset?.unknown;
    return unknown === undefined ? page : { ...page, text: { unknown } };
  } catch (error) {
    // told as that of a whole body
    if (isSyntaxError(error)) return undefined;
    throw error;
  }
}

/** The bytes of a body without a byte order mark, in memory or not. */
interface DocumentParts {
  readonly size: number;
  part(from: number, to: number, into?: Scratch): Uint8Array;
}

function inMemory(bytes: Uint8Array): DocumentParts {
  return { size: bytes.length, part: (from, to) => bytes.subarray(from, to) };
}

function locate(bytes: Uint8Array, options: PageReadOptions): Page {
  const { dataField, endpoint } = options;
  const scan = scanPage(bytes, dataField === undefined ? undefined : (dataField.keys ?? []));
  if (dataField === undefined && scan.root === 'scalar') {
    decode(bytes, scan.plain);
    throw new RecordError('response.shape', 'The response is a single value, not a list of rows', {
      hint: 'Set “dataField” to "." to take the value itself as the row, or check the endpoint.',
    });
  }
  const found = dataField === undefined ? theOnlyList(scan, endpoint) : foundAt(scan, dataField.keys);
  if (found !== undefined) return listPage(inMemory(bytes), scan, found, options);
  const envelope = decode(bytes, scan.plain && allPlain(scan) && options.isExact !== true);
  const digest = hash('sha1', bytes);
  const common = { envelope, response: () => envelope, rowsAt: undefined, digest, rowsDigest: digest };
  if (dataField === undefined) {
    const warning = `No list found in the response of “${endpoint}”: set “dataField” to say where the rows are`;
    return {
      ...common,
      pieces: [],
      rows: 0,
      warning: `${warning}. ${describeAnswer(envelope, bytes, options)}`,
    };
  }
  const place = dataField.placeIn(envelope);
  const rescan = place && scanPage(bytes, place);
  const again = rescan && foundAt(rescan, place);
  if (again !== undefined) return listPage(inMemory(bytes), rescan ?? scan, again, options);
  const value = dataField.find(envelope);
  if (isEmpty(value, 'response')) {
    const warning = `The response of “${endpoint}” contains no data at “${dataField.text}”`;
    const answer = value === undefined ? `. ${describeAnswer(envelope, bytes, options)}` : '';
    const near = value === undefined ? placeInItems(envelope, dataField) : undefined;
    return {
      ...common,
      pieces: [],
      rows: 0,
      warning: warning + answer,
      ...(near === undefined ? {} : { missed: { looked: dataField.text, near } }),
    };
  }
  if (!isList(value))
    return {
      ...common,
      pieces: [{ rows: 1, single: true, decode: () => [value ?? null] }],
      rows: 1,
      rowsAt: place,
    };
  // Only a JSONPath gathers rows from several places.
  return { ...common, pieces: [valuesPiece(value)], rows: value.length };
}

/** Returns where the items of an answer that is a list have rows, as JSONPath; undefined where they have none there. */
function placeInItems(envelope: Json, { find, keys }: Path): string | undefined {
  if (!isList(envelope) || keys === undefined) return undefined;
  const found = envelope.map(find).filter((value) => !isEmpty(value, 'response'));
  if (found.length === 0) return undefined;
  const names = keys.map((key) => (/^[a-z_]\w*$/i.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`));
  return ['$[*]', ...names, ...(found.some(isList) ? ['[*]'] : [])].join('');
}

/** Returns the list that was found at the keys. */
function foundAt({ lists }: ListScan, keys: readonly string[] | undefined): Found | undefined {
  const [list] = lists.values();
  return list === undefined || keys === undefined ? undefined : { keys, list };
}

/** The rows, and the keys that lead to them. */
interface Found {
  readonly keys: readonly string[];
  readonly list: ScannedList;
}

function theOnlyList({ root, lists }: ListScan, endpoint: string): Found | undefined {
  const [[name, list] = []] = lists;
  if (name === undefined || list === undefined) return undefined;
  if (lists.size === 1) return { keys: root === 'list' ? [] : [name], list };
  const names = [...lists.keys()].map((key) => `“${shownText(key)}”`).join(', ');
  throw new RecordError('response.shape', `The response of “${endpoint}” has more than one list: ${names}`, {
    hint: 'Set “dataField” of the job to the one that holds the rows.',
  });
}

function listPage(
  document: DocumentParts,
  scan: ListScan,
  { keys, list }: Found,
  options: PageReadOptions,
): Page {
  const { dataField } = options;
  const whole = (): Uint8Array => document.part(0, document.size);
  const around = Buffer.concat([
    document.part(0, list.start),
    EMPTY_LIST,
    document.part(list.end, document.size),
  ]);
  const envelope = decode(around, scan.plain);
  // of the rows and of the rest, so that one pass recognizes an equal body and equal rows
  const rowsDigest = sha1(document, list.start, list.end);
  const malformed: Malformed = (cause) => notJson(whole(), cause, options);
  const empty = list.rows === 0;
  const warning = empty && dataField !== undefined ? `The list at “${dataField.text}” is empty` : undefined;
  let response: Json | undefined;
  return {
    envelope,
    response: () => (response ??= decodeKnown(whole(), scan.plain && allPlain(scan), malformed)),
    pieces: list.chunks.map((chunk) =>
      chunkPiece(document, options.isExact === true ? { ...chunk, plain: false } : chunk, malformed),
    ),
    rows: list.rows,
    rowsAt: keys,
    digest: rowsDigest + digestOf(around),
    rowsDigest,
    ...(warning === undefined ? {} : { warning }),
  };
}

const EMPTY_LIST = Buffer.from('[]');

/** Bytes that are kept as they are in place of their digest. */
const SHORT_BYTES = 100;

/** Returns a text that tells what is around the rows. It has a list in it, so that it is like no digest. */
function digestOf(around: Buffer): string {
  return around.length <= SHORT_BYTES ? around.toString('latin1') : hash('sha1', around);
}

function chunkPiece(document: DocumentParts, chunk: RowChunk, malformed: Malformed): RowsPiece {
  const { start, end, rows, plain } = chunk;
  const cuts = chunk.cuts.map((cut) => ({ ...cut, end: cut.end - start, start: cut.start - start }));
  // with the brackets or commas around
  const open = (into?: Scratch): RowBytes => {
    const bytes = document.part(start - 1, end + 1, into);
    return { bytes, start: 1, end: bytes.length - 1 };
  };
  // a chunk is a list by construction
  const decode = (): readonly Json[] =>
    decodeKnown(listOf(open(chunkMemory)), plain, malformed) as readonly Json[];
  return { rows, single: false, decode, ...(plain ? { raw: { size: end - start, cuts, open } } : {}) };
}

/**
 * Returns the chunk as a JSON list. If its neighbours are no brackets, it is copied each time, always to the same
 * place: the copies of all chunks of a large page would be as large as the page.
 */
function listOf({ bytes, start, end }: RowBytes): Uint8Array {
  const isWhole = bytes[0] === 0x5b && bytes[end] === 0x5d;
  return isWhole ? bytes : bracketed(bytes.subarray(start, end));
}

const chunkMemory = new Scratch();
const listMemory = new Scratch();

function bracketed(items: Uint8Array): Uint8Array {
  const list = listMemory.of(items.length + 2);
  list[0] = 0x5b;
  list.set(items, 1);
  list[list.length - 1] = 0x5d;
  return list;
}

/** Creates a piece of rows that are decoded already. */
export function valuesPiece(rows: readonly Json[]): RowsPiece {
  return { rows: rows.length, single: false, decode: () => rows };
}

function decode(bytes: Uint8Array, plain: boolean): Json {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = view.toString(isAscii(view) ? 'latin1' : 'utf8');
  return plain ? (JSON.parse(text) as Json) : parseExact(text); // JSON.parse gives nothing but Json
}

/** Creates the error of scanned bytes that turn out not to be JSON, which only decoding shows. */
type Malformed = (cause: Error) => RecordError;

function decodeKnown(bytes: Uint8Array, plain: boolean, malformed: Malformed): Json {
  try {
    return decode(bytes, plain);
  } catch (error) {
    throw isSyntaxError(error) ? malformed(error) : error;
  }
}

function isSyntaxError(error: unknown): error is Error {
  return error instanceof JsonSyntaxError || error instanceof SyntaxError;
}

function allPlain(scan: ListScan): boolean {
  return [...scan.lists.values()].every((list) => list.chunks.every((chunk) => chunk.plain));
}

/** Bytes of a document that are read at once. */
const STEP_BYTES = 1 << 20;

function sha1(document: DocumentParts, from: number, to: number): string {
  if (to - from <= STEP_BYTES) return hash('sha1', document.part(from, to));
  const digest = createHash('sha1');
  const memory = new Scratch();
  for (let at = from; at < to; at += STEP_BYTES)
    digest.update(document.part(at, Math.min(to, at + STEP_BYTES), memory));
  return digest.digest('hex');
}

function emptyPage(): Page {
  return {
    envelope: null,
    response: () => null,
    pieces: [],
    rows: 0,
    rowsAt: undefined,
    digest: '',
    rowsDigest: '',
  };
}
