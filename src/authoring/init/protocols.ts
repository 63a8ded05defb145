import { entriesOf, getKey, isObject, type Json } from '../../lib/json/index.ts';
import type { Candidate, Observed } from './candidate.ts';
import { plain } from './names.ts';
import { queryOf } from './params.ts';
import { signOf, type Pointer } from './signs.ts';

/** Archives by OAI-PMH take their token beside the verb, and nothing else beside it. */
export function archived(strong: readonly Pointer[], { target }: Observed): Candidate[] {
  const token = strong.find(({ keys }) => plain(keys?.at(-1) ?? '').startsWith('resumption_token'));
  const inside = strong.find(
    ({ keys }) => keys?.at(-1) === '#text' && /resumptionToken/.test(keys.at(-2) ?? ''),
  );
  const { path } = inside ?? token ?? {};
  if (path === undefined || getKey(target.params, 'verb') === undefined) return [];
  return [
    {
      kind: 'token',
      says: `\`${path}\` → \`resumptionToken\`, beside \`verb\` alone`,
      pagination: {
        method: 'response.param',
        responseParam: path,
        queryParam: 'resumptionToken',
        includeParams: ['verb'],
      },
      params: target.params,
      isGuess: false,
    },
  ];
}

/** Returns a candidate for a range of keys in Base64: it goes on at the least key behind that of the last row. */
export function behindKey({ target, id, lastId, signs }: Observed): Candidate[] {
  const isRange = ['key', 'range_end'].every((name) => typeof getKey(target.params, name) === 'string');
  const more = signOf(signs, 'more');
  if (id !== 'key' || typeof lastId !== 'string' || !isRange || more === undefined) return [];
  const key = { function: 'base64_decode', args: [{ last: id }] };
  const behind = { function: 'base64_encode', args: [{ function: 'concat', args: [key, '\0'] }] };
  return [
    {
      kind: 'row',
      says: 'the key behind that of the last row → `key`',
      pagination: {
        method: 'response.param',
        responseParam: behind,
        queryParam: 'key',
        includeParams: true,
        stopWhen: { value: more.path, is: 'absent' },
      },
      params: target.params,
      isGuess: false,
    },
  ];
}

/** Returns a candidate for a search that is kept: its pages are asked for at another address, by its id alone. */
export function scrolled({ target, body }: Observed): Candidate[] {
  const { params, endpoint, baseUrl } = target;
  const keep = getKey(params, 'scroll') ?? new Map(queryOf(endpoint)).get('scroll');
  const { pathname } = new URL(`${baseUrl}${endpoint}`);
  if (keep === undefined || !pathname.endsWith('/_search')) return [];
  if (!isObject(body) || typeof getKey(body, '_scroll_id') !== 'string') return [];
  return [
    {
      kind: 'token',
      says: '`_scroll_id` → `scroll_id` of `_search/scroll`',
      pagination: {
        method: 'response.param',
        responseParam: '_scroll_id',
        queryParam: { body: 'scroll_id' },
        includeParams: false,
        scrollRequest: {
          endpoint: pathname.replace(/(?:\/[^/]+)?\/_search$/, '/_search/scroll'),
          method: 'POST',
          params: { scroll: keep },
        },
        emptyPage: 'stop',
      },
      params,
      isGuess: false,
    },
  ];
}

const LAST = { header: 'content-range', match: '^[^*]*\\d-(\\d+)/', as: 'number' };

/** Returns a candidate for lists whose part is asked for by the header `Range`, and told by `Content-Range`. */
export function ranged({ target, signs, rows }: Observed): Candidate[] {
  const { range } = signs;
  const [, own] = entriesOf(target.headers).find(([name]) => name.toLowerCase() === 'range') ?? [];
  if (range === undefined || range.from !== 0 || range.to + 1 !== rows) return [];
  if (own === undefined && range.unit === '') return [];
  const unit =
    /^\w+=/.exec(typeof own === 'string' ? own : '')?.[0] ?? (range.unit === '' ? '' : `${range.unit}=`);
  const behind = (count: number): Json => ({ function: 'add', args: [LAST, count] });
  return [
    {
      kind: 'token',
      says: `the ${rows} rows behind those of \`Content-Range\` → header \`Range\``,
      pagination: {
        method: 'response.param',
        responseParam: { function: 'concat', args: [unit, behind(1), '-', behind(rows)] },
        queryParam: { header: 'Range' },
        includeParams: true,
        stopWhen: [
          { value: LAST, is: 'absent' },
          { value: behind(1), is: 'atLeast', than: { header: 'content-range', match: '/(\\d+)$' } },
        ],
      },
      params: target.params,
      isGuess: false,
    },
  ];
}
