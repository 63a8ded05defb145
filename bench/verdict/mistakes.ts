/** Mistakes of a configuration and misbehaviours of an API. Without one of them, a run has everything. */

import { SIZE, type Answer, type Row, type Slice, type Style, type Told } from './styles.ts';

export interface Setting {
  pagination: Record<string, unknown>;
  params: Record<string, unknown>;
}

export interface Mistake {
  readonly name: string;
  /** Changes the configuration; undefined where the style has no such mistake. */
  readonly configure?: (style: Style, setting: Setting) => Setting | undefined;
  /** The API ignores where to begin. */
  readonly ignores?: true;
  readonly maxSize?: number;
  readonly minSize?: number;
  /** The rows as they are at a request. */
  readonly rows?: (rows: readonly Row[], call: number) => readonly Row[];
  readonly offset?: (offset: number, call: number) => number;
  readonly slice?: (slice: Slice, call: number) => Slice;
  readonly answer?: (answer: Answer, call: number) => Answer;
  /** The last page is given for every page behind it. */
  readonly clamps?: true;
  readonly appliesTo?: (style: Style) => boolean;
  /** Which signs could tell; any, where nothing is said. */
  readonly toldBy?: readonly Told[];
}

const counts = (style: Style): boolean => style.kind === 'count';
const follows = (style: Style): boolean => style.kind === 'follow';

export const MISTAKES: readonly Mistake[] = [
  { name: 'none' },
  { name: 'no pagination', configure: (_style, { params }) => ({ pagination: {}, params }) },
  {
    name: 'wrong path or relation of what leads on',
    configure: ({ kind }, { pagination, params }) => {
      if (kind === 'count') return undefined;
      const key = ['responseParam', 'urlKey'].find((name) => name in pagination);
      const { nextPageFlag: _flag, ...rest } = pagination;
      return { pagination: { ...rest, [key ?? 'rel']: 'qqq.zzz' }, params };
    },
  },
  {
    name: 'misspelled path of what leads on',
    configure: ({ kind }, { pagination, params }) => {
      const key = ['responseParam', 'urlKey'].find((name) => name in pagination);
      if (kind === 'count' || key === undefined || pagination['nextPageFlag'] !== undefined) return undefined;
      return { pagination: { ...pagination, [key]: `${String(pagination[key])}s` }, params };
    },
  },
  {
    name: 'wrong parameter of the page',
    configure: ({ kind }, { pagination, params }) => {
      const key =
        kind === 'follow' ? 'queryParam' : pagination['method'] === 'offset' ? 'offsetParam' : 'pageParam';
      if (kind === 'follow' && !('queryParam' in pagination)) return undefined;
      return { pagination: { ...pagination, [key]: 'qqq' }, params };
    },
  },
  {
    name: 'wrong parameter of the size',
    appliesTo: (style) => counts(style) && 'limit' in style.pagination,
    configure: (_style, { pagination, params }) => ({
      pagination: { ...pagination, limit: 25, limitParam: 'qqq' },
      params,
    }),
  },
  {
    name: 'wrong start',
    toldBy: ['total', 'pages', 'place'],
    configure: (style, { pagination, params }) => {
      if (style.kind === 'follow')
        return { pagination, params: { ...params, [style.from]: style.write(SIZE, SIZE) } };
      if (pagination['method'] !== 'pagenum') return undefined;
      return { pagination: { ...pagination, firstPage: Number(style.write(0, SIZE)) + 1 }, params };
    },
  },
  {
    name: 'starts one too early',
    appliesTo: (style) => style.pagination['method'] === 'pagenum' && style.write(0, SIZE) === '1',
    configure: (_style, { pagination, params }) => ({ pagination: { ...pagination, firstPage: 0 }, params }),
  },
  {
    name: 'page size capped by the API',
    maxSize: 7,
  },
  { name: 'default size above the one asked for', minSize: 16, appliesTo: counts },
  { name: 'parameter ignored', ignores: true },
  {
    name: 'parameter ignored, time of the answer in the envelope',
    ignores: true,
    answer: (answer, call) =>
      withKey(answer, 'served_at', `2026-01-01T00:00:${String(call).padStart(2, '0')}Z`),
  },
  {
    name: 'parameter ignored, time of the answer in the rows',
    ignores: true,
    rows: (rows, call) =>
      rows.map((row) => ({ ...row, seen_at: `2026-01-01T00:00:${String(call).padStart(2, '0')}Z` })),
  },
  {
    name: 'one row left out between pages',
    toldBy: ['total'],
    offset: (offset, call) => offset + (call > 1 ? 1 : 0),
  },
  {
    name: 'one row given twice between pages',
    offset: (offset, call) => Math.max(0, offset - (call > 1 ? 1 : 0)),
  },
  {
    name: 'short page in the middle',
    toldBy: ['total'],
    slice: (slice, call) => (call === 3 ? { ...slice, rows: slice.rows.slice(0, -3) } : slice),
  },
  {
    name: 'empty page in the middle',
    toldBy: ['total', 'pages'],
    slice: (slice, call) => (call === 3 ? { ...slice, rows: [] } : slice),
  },
  {
    name: 'the API ends too early',
    toldBy: ['total', 'pages'],
    slice: (slice, call) =>
      call >= 3 ? { ...slice, rows: call > 3 ? [] : slice.rows, next: undefined } : slice,
  },
  { name: 'total too low', slice: (slice) => ({ ...slice, total: slice.total - 9 }) },
  { name: 'total of the page', slice: (slice) => ({ ...slice, total: slice.rows.length }) },
  { name: 'total too high', slice: (slice) => ({ ...slice, total: slice.total + 9 }) },
  { name: 'last page for ever', clamps: true, appliesTo: counts },
  {
    name: 'a row comes in at the front',
    rows: (rows, call) => (call > 2 ? [{ id: 9000, name: 'new' }, ...rows] : rows),
  },
  {
    name: 'a row goes at the front',
    toldBy: ['total'],
    rows: (rows, call) => (call > 2 ? rows.slice(1) : rows),
  },
  {
    name: 'an error with status 200',
    answer: (answer, call) => (call === 3 ? { body: { error: { code: 17, message: 'try later' } } } : answer),
  },
  {
    name: 'ok: false with status 200',
    answer: (answer, call) => (call === 3 ? { body: { ok: false, message: 'rate limited' } } : answer),
  },
  {
    name: 'a message with status 200',
    answer: (answer, call) => (call === 3 ? { body: { message: 'Too many requests' } } : answer),
  },
  {
    name: 'flag misspelled',
    configure: (_style, { pagination, params }) => ({
      pagination: { ...pagination, nextPageFlag: { field: 'qqq', stopOn: false } },
      params,
    }),
  },
  {
    name: 'limitStop.field misspelled',
    configure: (_style, { pagination, params }) => ({
      pagination: { ...pagination, limitStop: { field: 'meta.qqq' } },
      params,
    }),
  },
  {
    name: 'job parameters not sent on',
    appliesTo: (style) => follows(style) && style.pagination['includeParams'] === true,
    configure: (_style, { pagination, params }) => ({
      pagination: { ...pagination, includeParams: false },
      params,
    }),
  },
];

function withKey(answer: Answer, key: string, value: unknown): Answer {
  return typeof answer.body === 'object' && !Array.isArray(answer.body)
    ? { ...answer, body: { ...answer.body, [key]: value } }
    : answer;
}
