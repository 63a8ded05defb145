import { plain, wordsOf } from './names.ts';

/** Names that a token's own name leads to: `next_cursor` is sent as `cursor`. Words joined by `_`; best first. */
const SENT_AS: Readonly<Record<string, readonly string[]>> = {
  next_cursor: ['cursor', 'next_cursor', 'after', 'page_cursor', 'start_cursor', 'pageToken'],
  cursor: ['cursor', 'after', 'page', 'next'],
  next: ['cursor', 'next', 'after', 'page_token', 'page', 'offset', 'start', 'token'],
  next_page: ['page', 'next_page', 'page_token', 'cursor', 'page_id'],
  next_page_token: ['page_token', 'next_page_token', 'page-token', 'token'],
  next_page_id: ['page_id', 'page', 'next_page_id'],
  next_page_number: ['page', 'page_number', 'page_num'],
  next_page_key: ['page_key', 'next_page_key', 'key'],
  next_page_start: ['start', 'page_start'],
  next_page_offset: ['offset', 'page_offset', 'start'],
  next_record_position: ['start_record', 'record_position', 'start'],
  next_cursor_mark: ['cursor_mark', 'next_cursor_mark'],
  last_id: ['after_id', 'after', 'starting_after', 'last_id', 'since_id'],
  next_row_number: ['row_number', 'first_row_number', 'start_row'],
  next_forward_token: ['next_token', 'next_forward_token', 'forward_token'],
  next_page_cursor: ['page_cursor', 'cursor'],
  next_token: ['next_token', 'token', 'page_token', 'pagination_token', 'from', 'start_token'],
  next_batch: ['since', 'from', 'next_batch', 'batch'],
  end: ['from', 'start', 'since'],
  last_seq: ['since', 'last_seq', 'seq'],
  next_offset: ['offset', 'next_offset', 'start', 'skip'],
  next_start: ['start', 'offset'],
  next_index: ['start_index', 'start', 'offset'],
  next_start_index: ['start_index', 'start'],
  next_skip: ['skip', 'offset'],
  next_key: ['key', 'next_key', 'start_key', 'last_key'],
  next_id: ['after_id', 'since_id', 'from_id', 'start_id', 'next_id', 'id_after'],
  next_marker: ['marker', 'start_marker'],
  next_continuation_token: ['continuation_token', 'continuation'],
  continuation_token: ['continuation_token', 'continuation', 'token'],
  continuation: ['continuation', 'continuation_token'],
  continue: ['continue'],
  page_token: ['page_token', 'token'],
  pagination_token: ['pagination_token', 'next_token'],
  end_cursor: ['after', 'cursor', 'end_cursor'],
  after: ['after', 'cursor'],
  next_after: ['after'],
  scroll_id: ['scroll_id', 'scroll'],
  bookmark: ['bookmark', 'page'],
  page_state: ['page_state'],
  last_evaluated_key: ['exclusive_start_key', 'start_key', 'last_evaluated_key', 'last_key'],
  next_position: ['position', 'stream_position'],
  next_stream_position: ['stream_position'],
  next_sequence: ['sequence', 'since'],
  offset: ['offset'],
};

/** Names that a parameter for a position often has. */
const OTHERS = ['cursor', 'page_token', 'after', 'next', 'page'];

/** Returns names of parameters that a token may be sent as, in the style of its own name. */
export function sentAs(name: string, isHeader: boolean): readonly string[] {
  const key = plain(name.replace(/^[A-Za-z][\w-]*:/, ''))
    .replace(/^x_/, '')
    .replace(/^next(?=token$|cursor$|page$)/, 'next_');
  const stem = key.replace(/^(?:next|continue)_(?:page_)?|_next$/g, '');
  const evaluated = /^last_evaluated_(?!key$)(.+)$/.exec(key)?.[1];
  const bases =
    evaluated === undefined
      ? (SENT_AS[key] ?? SENT_AS[JOINED.get(key) ?? ''] ?? [stem, key, ...OTHERS])
      : [`exclusive_start_${evaluated}`, `start_${evaluated}`, key];
  // a header does not show how parameters are spelled
  if (isHeader) return [...new Set(bases.flatMap((base) => [base, camel(base)]))];
  return [...new Set([...bases.map(styleOf(name)), ...bases.slice(0, 2)])];
}

/** `continuationtoken` is `continuation_token`: names of headers have no capitals. */
const JOINED: ReadonlyMap<string, string> = new Map(
  Object.keys(SENT_AS).map((name) => [name.replaceAll('_', ''), name]),
);

function styleOf(name: string): (base: string) => string {
  const colon = name.indexOf(':');
  if (colon >= 0) return styleOf(name.slice(colon + 1));
  if (name.startsWith('$')) return (base) => `$${camel(base)}`;
  if (/^[A-Z]/.test(name) && !/^[A-Z_]+$/.test(name))
    return (base) => camel(base).replace(/^./, (char) => char.toUpperCase());
  if (/-/.test(name)) return (base) => base.replaceAll('_', '-');
  if (/[a-z][A-Z]/.test(name)) return camel;
  return snake;
}

function camel(base: string): string {
  return base.replace(/_([a-z])/g, (_, char: string) => char.toUpperCase());
}

function snake(base: string): string {
  return base;
}

/** Returns names for sending a page number that has this name in the answer. */
export function pageNames(echo: string): readonly string[] {
  const bare = echo.replace(/^current_?/i, '');
  const own =
    bare === '' || bare.toLowerCase() === 'number' || echo.toLowerCase() === 'current'
      ? 'page'
      : lowerFirst(bare);
  return [...new Set([own, 'page', echo])];
}

/**
 * Returns names for sending a number of rows to skip that has this name in the answer.
 *
 * @param given names of the request: beside `$limit` it is `$skip`, which it may be where the request has neither
 */
export function offsetNames(echo: string, given: readonly string[]): readonly string[] {
  const words = wordsOf(echo).join('');
  const usual = words.includes('start') ? ['start', 'offset'] : ['offset', 'skip', 'start'];
  const beside = besideSize(given)?.(echo);
  const signed = words === 'skip' ? ['$skip'] : [];
  return [...new Set([...(beside === undefined ? [] : [beside]), echo, ...signed, ...usual])];
}

/** Names that stand beside the name of a size in APIs that are widely used. */
const BESIDE: Readonly<Record<string, { readonly offsets?: string; readonly pages?: string }>> = {
  max: { offsets: 'first firstResult' },
  max_rows: { offsets: 'startRow' },
  result_record_count: { offsets: 'resultOffset' },
  retmax: { offsets: 'retstart' },
  ps: { pages: 'p' },
  n: { offsets: 'S' },
};

/** Returns names of rows to skip, and of page numbers, that are made as the name of the size is: `sysparm_limit`. */
export function besideName(size: string | undefined): {
  readonly offsets: readonly string[];
  readonly pages: readonly string[];
} {
  const known = BESIDE[plain(size ?? '')];
  if (known !== undefined)
    return { offsets: known.offsets?.split(' ') ?? [], pages: known.pages?.split(' ') ?? [] };
  const [, start = '', word = ''] = /^([\w-]*?)(limit|max|count|size|rows)$/i.exec(size ?? '') ?? [];
  if (start === '' || isSizeName(size ?? '')) return { offsets: [], pages: [] };
  const alike = (name: string): string =>
    `${start}${/^[A-Z]/.test(word) ? name.replace(/^./, (char) => char.toUpperCase()) : name}`;
  return { offsets: ['offset', 'start', 'skip'].map(alike), pages: [alike('page')] };
}

/** Returns the best name for sending the size of a page. */
export function sizeName(echo: string | undefined, given: readonly string[]): string {
  const known = given.find(isSizeName);
  if (known !== undefined) return known;
  if (echo === undefined) return 'limit';
  const key = plain(echo);
  return /^(?:items_per_page)$/.test(key) ? 'count' : echo;
}

const PAGE =
  /^(?:page|p|pg|paged|(?:page|pg)_?(?:number|no|nr|num|index|idx)|page_id|cur(?:rent)?_?page|pagina|seite)$/;
const OFFSET =
  /^(?:offset|skip|start|start_?(?:at|index|row|record|from|pos|position)|from|from_?(?:row|record|index)|row_?(?:offset|start)|first_?(?:row|record|result)|page_offset|begin|begin_?(?:at|index|row))$/;
const SIZE =
  /^(?:limit|per_page|page_size|size|count|max_results|max|rows|take|top|first|items_per_page|results_per_page|num|page_limit|max_records|n|batch_size|max_keys|max_items|hits_per_page|page_len|pagelen|how_many)$/;
/** Tells whether a name is that of a page number, also in brackets: `page`, `_page`, `page[number]`, `pagination[page]`. */
export const isPageName = (name: string): boolean => isCalled(PAGE, name);
/** Tells whether a name is that of a number of rows to skip. */
export const isOffsetName = (name: string): boolean => isCalled(OFFSET, name);
/** Tells whether a name is that of the size of a page. */
export const isSizeName = (name: string): boolean => isCalled(SIZE, name);

function isCalled(names: RegExp, name: string): boolean {
  const inside = /\[([^[\]]+)\]$/.exec(name)?.[1];
  return names.test(plain(name)) || (inside !== undefined && names.test(plain(inside)));
}

/** Returns a spelling of names like those that are there: `_page` beside `_limit`, `page[after]` beside `page[size]`. */
export function besideSize(given: readonly string[]): ((name: string) => string) | undefined {
  const size = given.find(isSizeName) ?? given.find(isPageName) ?? given.find(isOffsetName);
  const [, above, sign] = /^(?:([\w-]+)\[[^[\]]+\]$|([_$])\w)/.exec(size ?? '') ?? [];
  if (above !== undefined)
    return (name) => `${above}[${name === above ? (name === 'page' ? 'number' : name) : name}]`;
  if (/^[a-z]+-/.test(size ?? '')) return (name) => plain(name).replaceAll('_', '-');
  return sign === undefined ? undefined : (name) => `${sign}${name}`;
}

export const TOKEN =
  /^(?:cursor|after|page_token|next_token|token|starting_after|continuation(?:_token)?|scroll_id|since_id|max_id|marker|bookmark|next_cursor|start_key|page_after|page_cursor|cursor_mark)$/;

/** Names for the id of the last row that came; `down` for lists that go from new to old. */
export const ROW_NAMES = [
  'starting_after',
  'after',
  'since_id',
  'after_id',
  'last_id',
  'cursor',
  'start_after',
  'from_id',
  'max_id',
  'before',
  'marker',
];

function lowerFirst(text: string): string {
  return text.replace(/^[A-Z](?=[a-z])/, (char) => char.toLowerCase());
}
