import { isAscii, isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { RecordError } from '../errors.ts';
import {
  digKeys,
  encodeExact,
  isEmpty,
  isList,
  JsonSyntaxError,
  parseExact,
  scanPage,
  type FoundList,
  type Json,
  type RowChunk,
  type Scan,
} from '../json/index.ts';

/** Where a job's rows are: path keys, or undefined for "the only list of the response" (spec extractor 5.1). */
export interface DataField {
  readonly keys: readonly string[];
  /** As written, for messages. */
  readonly text: string;
}

/** One decodable piece of rows: bytes of a JSON list, or of one value. */
export interface RowsPiece {
  /** Good until the bytes of another piece are asked for. */
  readonly bytes: Uint8Array;
  readonly byteLength: number;
  readonly rows: number;
  readonly plain: boolean;
  /** The bytes are one value, which is the row. */
  readonly single: boolean;
  /** That value, where it is decoded already. */
  readonly value?: Json;
}

/** A response, located but not decoded: what is outside the rows is parsed, the rows are still bytes. */
export interface Page {
  /** The response without its rows (an empty list stands in their place). */
  readonly envelope: Json;
  /** The whole response, decoded; costs a parse of the rows, and is remembered. */
  response(): Json;
  readonly pieces: readonly RowsPiece[];
  readonly rows: number;
  /** Keys of the place where the rows were found; the envelope is complete elsewhere. */
  readonly rowsAt: readonly string[];
  /** Digest of the body. */
  readonly digest: string;
  /** Digest of the rows' bytes alone. */
  readonly rowsDigest: string;
  /** Why there are no rows, to be logged as a warning. */
  readonly warning?: string;
}

/**
 * Reads a response body: finds the rows, parses what is around them.
 *
 * @throws {RecordError} `response.notJson` for a body that is not JSON, `response.shape` for one without rows to find
 */
export function readPage(body: Uint8Array, dataField: DataField | undefined, endpoint: string): Page {
  if (body.length === 0) return emptyPage();
  const bytes = isUtf8(body) ? body : dropInvalidUtf8(body);
  try {
    return locate(bytes, dataField, endpoint);
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof SyntaxError) throw notJson(bytes, error);
    throw error;
  }
}

/** The rows of a piece, decoded. */
export function decodeRows(piece: RowsPiece): readonly Json[] {
  const value = piece.value ?? decode(piece.bytes, piece.plain);
  return piece.single ? [value] : (value as readonly Json[]); // a piece that is not single is a list by construction
}

function locate(bytes: Uint8Array, dataField: DataField | undefined, endpoint: string): Page {
  const scan = scanPage(bytes, dataField?.keys);
  if (dataField === undefined && scan.root === 'scalar') {
    decode(bytes, scan.plain);
    throw new RecordError('response.shape', 'The response is a single value, not a list of rows', {
      hint: 'Set “dataField” to "." to take the value itself as the row, or check the endpoint.',
    });
  }
  const found = dataField === undefined ? theOnlyList(scan, endpoint) : [...scan.lists.entries()][0];
  if (found !== undefined) return listPage(bytes, scan, found, dataField);
  const envelope = decode(bytes, scan.plain && allPlain(scan));
  const common = { envelope, response: () => envelope, ...digests(bytes, 0, 0) };
  if (dataField === undefined) {
    const warning = `No list found in the response of “${endpoint}”: set “dataField” to say where the rows are`;
    return { ...common, pieces: [], rows: 0, rowsAt: [], warning };
  }
  const value = digKeys(dataField.keys, envelope);
  if (isEmpty(value, 'response')) {
    const warning = `The response of “${endpoint}” contains no data at “${dataField.text}”`;
    return { ...common, pieces: [], rows: 0, rowsAt: dataField.keys, warning };
  }
  if (isList(value)) {
    // Only a JSONPath gathers rows from several places.
    const gathered = Buffer.from(encodeExact(value));
    const piece = {
      bytes: gathered,
      byteLength: gathered.length,
      rows: value.length,
      plain: false,
      single: false,
    };
    return { ...common, pieces: [piece], rows: value.length, rowsAt: dataField.keys };
  }
  return { ...common, pieces: [singlePiece(value ?? null)], rows: 1, rowsAt: dataField.keys };
}

function theOnlyList(scan: Scan, endpoint: string): [string, FoundList] | undefined {
  if (scan.lists.size < 2) return [...scan.lists.entries()][0];
  const names = [...scan.lists.keys()].map((name) => `“${name}”`).join(', ');
  throw new RecordError('response.shape', `The response of “${endpoint}” has more than one list: ${names}`, {
    hint: 'Set “dataField” of the job to the one that holds the rows.',
  });
}

function listPage(
  bytes: Uint8Array,
  scan: Scan,
  [name, list]: [string, FoundList],
  dataField: DataField | undefined,
): Page {
  const rowsAt = dataField?.keys ?? (scan.root === 'list' ? [] : [name]);
  const marks = digests(bytes, list.start, list.end);
  const envelope = decode(
    Buffer.concat([bytes.subarray(0, list.start), EMPTY_LIST, bytes.subarray(list.end)]),
    scan.plain,
  );
  const empty = list.rows === 0;
  const warning = empty && dataField !== undefined ? `The list at “${dataField.text}” is empty` : undefined;
  let whole: Json | undefined;
  return {
    envelope,
    response: () => (whole ??= decode(bytes, scan.plain && allPlain(scan))),
    pieces: list.chunks.map((chunk) => chunkPiece(bytes, chunk)),
    rows: list.rows,
    rowsAt,
    ...marks,
    ...(warning === undefined ? {} : { warning }),
  };
}

const EMPTY_LIST = Buffer.from('[]');

/**
 * The chunk as a JSON list. Where its neighbours are no brackets, it is copied each time it is asked for, always to the
 * same place: the copies of all chunks of a large page would be the page again.
 */
function chunkPiece(bytes: Uint8Array, chunk: RowChunk): RowsPiece {
  const { start, end, rows, plain } = chunk;
  const isWhole = bytes[start - 1] === 0x5b && bytes[end] === 0x5d;
  return {
    get bytes() {
      return isWhole ? bytes.subarray(start - 1, end + 1) : listOf(bytes.subarray(start, end));
    },
    byteLength: end - start + 2,
    rows,
    plain,
    single: false,
  };
}

let scratch = new Uint8Array(0);

function listOf(items: Uint8Array): Uint8Array {
  const size = items.length + 2;
  if (scratch.length < size) scratch = new Uint8Array(size);
  scratch[0] = 0x5b;
  scratch.set(items, 1);
  scratch[size - 1] = 0x5d;
  return scratch.subarray(0, size);
}

function singlePiece(value: Json): RowsPiece {
  const bytes = Buffer.from(encodeExact(value));
  return { bytes, byteLength: bytes.length, rows: 1, plain: false, single: true, value };
}

function decode(bytes: Uint8Array, plain: boolean): Json {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = view.toString(isAscii(view) ? 'latin1' : 'utf8');
  return plain ? (JSON.parse(text) as Json) : parseExact(text); // JSON.parse gives nothing but Json
}

function allPlain(scan: Scan): boolean {
  return [...scan.lists.values()].every((list) => list.chunks.every((chunk) => chunk.plain));
}

/** The rows' bytes and the rest are hashed apart, so that one pass tells an equal body and equal rows. */
function digests(bytes: Uint8Array, start: number, end: number): { digest: string; rowsDigest: string } {
  const rowsDigest = hash('sha1', bytes.subarray(start, end));
  const head = hash('sha1', bytes.subarray(0, start));
  const tail = hash('sha1', bytes.subarray(end));
  return { digest: `${rowsDigest}${head}${tail}`, rowsDigest: end > start ? rowsDigest : tail };
}

function emptyPage(): Page {
  return {
    envelope: null,
    response: () => null,
    pieces: [],
    rows: 0,
    rowsAt: [],
    digest: '',
    rowsDigest: '',
  };
}

function notJson(bytes: Uint8Array, cause: Error): RecordError {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('utf8').replace(/\s+/g, ' ').trim();
  const html = /^<(?:!doctype|html|\?xml)/i.test(start);
  return new RecordError(
    'response.notJson',
    `The response is not JSON: ${cause.message}. It begins with: ${start}`,
    {
      cause,
      hint: html
        ? 'The API answered with a page for people: check baseUrl, the endpoint and the authentication.'
        : 'Check that the endpoint answers JSON; “api.http.ignoreErrors” lets a status pass with its body as text.',
    },
  );
}

/** Drops every byte that is no part of valid UTF-8 (spec extractor 0.5). */
function dropInvalidUtf8(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    const size = sequenceLength(bytes, at);
    if (size === 0) at++;
    else for (let i = 0; i < size; i++) out[length++] = bytes[at++] ?? 0;
  }
  return out.subarray(0, length);
}

/** Length of the valid UTF-8 sequence at an offset (RFC 3629), or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const size =
    first >= 0xc2 && first <= 0xdf
      ? 2
      : first >= 0xe0 && first <= 0xef
        ? 3
        : first >= 0xf0 && first <= 0xf4
          ? 4
          : 0;
  if (size === 0 || at + size > bytes.length) return 0;
  return isUtf8(bytes.subarray(at, at + size)) ? size : 0;
}
