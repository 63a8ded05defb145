import type { Headers, Unpacked } from '../shared/message.ts';
import type { Format, FormatSettings } from './format-settings.ts';

/** Facts about a response beside its body. */
export interface About {
  readonly headers: Headers;
  readonly url: string;
  readonly unpacked?: Unpacked | undefined;
}

const BY_TYPE: Readonly<Record<string, Format>> = {
  'text/csv': 'csv',
  'application/csv': 'csv',
  'text/x-csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/tsv': 'tsv',
  'application/x-ndjson': 'jsonl',
  'application/ndjson': 'jsonl',
  'application/jsonl': 'jsonl',
  'application/x-jsonlines': 'jsonl',
  'application/json-lines': 'jsonl',
  'application/jsonlines': 'jsonl',
  'application/xml': 'xml',
  'text/xml': 'xml',
};

/** Media types of packed files, and of bytes whose type is unknown. */
const FILE_TYPES = new Set([
  'application/gzip',
  'application/x-gzip',
  'application/zip',
  'application/x-zip',
  'application/x-zip-compressed',
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-download',
  'application/force-download',
]);

const BY_EXTENSION: Readonly<Record<string, Format>> = {
  csv: 'csv',
  tsv: 'tsv',
  tab: 'tsv',
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
  xml: 'xml',
};

/** Tells whether to receive a body as a file: it may be packed, large, or in another format than JSON. */
export function isFile({ format, compression }: FormatSettings, headers: Headers): boolean {
  if (format !== undefined && format !== 'json') return true;
  if (compression === 'gzip' || compression === 'zip') return true;
  const type = typeOf(headers);
  return FILE_TYPES.has(type) || (format === undefined && formatOfType(type) !== undefined);
}

/**
 * Returns the format of a body: the format that the job names, then the one that the file name or the `Content-Type`
 * implies, and JSON otherwise. A body that begins as JSON does is JSON, whatever its type says.
 *
 * @param first the first bytes of the body
 * @param member its name in an archive
 */
export function formatOf(settings: FormatSettings, about: About, first: Uint8Array, member?: string): Format {
  if (settings.format !== undefined) return settings.format;
  const type = typeOf(about.headers);
  const isNamed = member !== undefined || FILE_TYPES.has(type);
  const found = (isNamed ? formatOfName(member, about) : undefined) ?? formatOfType(type);
  if (found === undefined) return 'json';
  return found !== 'jsonl' && beginsAsJson(first) ? 'json' : found;
}

/** Returns the media type in lower case, without parameters. */
export function typeOf(headers: Headers): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function formatOfType(type: string): Format | undefined {
  return BY_TYPE[type] ?? (type.endsWith('+xml') && type !== 'application/xhtml+xml' ? 'xml' : undefined);
}

function formatOfName(member: string | undefined, { headers, url }: About): Format | undefined {
  const [path = ''] = url.split(/[?#]/, 1);
  const given = /filename\*?\s*=\s*(?:UTF-8'')?"?([^";]+)"?/i.exec(headers['content-disposition'] ?? '')?.[1];
  for (const name of member === undefined ? [given, path] : [member]) {
    const plain = name
      ?.trim()
      .toLowerCase()
      .replace(/\.(?:gz|gzip|zip)$/, '');
    const extension = plain === undefined ? undefined : /\.([a-z]+)$/.exec(plain)?.[1];
    const format = extension === undefined ? undefined : BY_EXTENSION[extension];
    if (format !== undefined) return format;
  }
  return undefined;
}

function beginsAsJson(first: Uint8Array): boolean {
  for (const byte of first) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    return byte === 0x7b || byte === 0x5b;
  }
  return false;
}
