import { retryAfterMs } from './retry-after.ts';

/** Quota of requests, as an API declares it. */
export interface RateQuota {
  /** Requests that are left. */
  readonly left: number;
  /** Milliseconds until there are more. */
  readonly resetMs: number;
  /** Requests in a window, and the window in milliseconds, where it says so. */
  readonly quota?: number | undefined;
  readonly windowMs?: number | undefined;
}

/** Limits in the header fields of an answer. */
export interface RateFacts {
  readonly quotas: readonly RateQuota[];
  /** Requests that may be under way at once. */
  readonly atOnce?: number | undefined;
}

type Headers = Readonly<Record<string, string>>;

/** A longer time to the reset is no pace: the quota of a day is used as fast as one likes. */
const LONGEST_RESET_MS = 3_600_000;
const OLDER = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'];

/**
 * Reads the fields `RateLimit` and `RateLimit-Policy` (drafts -08 to -11 of the IETF: lists; -07: a dictionary), the
 * older `RateLimit-Remaining`, and `X-RateLimit-*` with a reset in seconds, as a Unix time or a date. A field that
 * cannot be read says nothing, nor does one of an answer out of a cache.
 *
 * @param clockMs milliseconds since 1970, for answers that do not say their own time
 */
export function rateFacts(headers: Headers, clockMs: number): RateFacts {
  if ((countOf(headers['age']) ?? 0) > 0) return { quotas: [] };
  // the clock of the API is not this one
  const nowMs = dateMs(headers['date']) ?? clockMs;
  const policies = new Map(listOf(headers['ratelimit-policy'] ?? '').map((item) => [item.name, item]));
  const atOnce = [...policies.values()].flatMap(({ params }) =>
    params.get('qu') === 'concurrent-requests' ? (countOf(params.get('q')) ?? []) : [],
  );
  const quotas = [
    ...listOf(headers['ratelimit'] ?? '').flatMap(({ name, params }) => {
      const policy = policies.get(name)?.params;
      if ((policy?.get('qu') ?? 'requests') !== 'requests') return [];
      return quotaOf(
        countOf(params.get('r')),
        secondsMs(params.get('t')),
        countOf(policy?.get('q')),
        secondsMs(policy?.get('w')),
      );
    }),
    ...dictionaryQuota(headers['ratelimit'] ?? '', policies),
    ...OLDER.flatMap((prefix) =>
      quotaOf(
        countOf(headers[`${prefix}remaining`]?.split(/[,;]/, 1)[0]),
        resetOf(headers[`${prefix}reset`], nowMs),
        countOf(headers[`${prefix}limit`]?.split(/[,;]/, 1)[0]),
        undefined,
      ),
    ),
  ];
  const least = atOnce.filter((count) => count > 0);
  return { quotas, ...(least.length === 0 ? {} : { atOnce: Math.min(...least) }) };
}

/** Returns the quota of `limit=100, remaining=50, reset=30`. */
function dictionaryQuota(field: string, policies: ReadonlyMap<string, FieldItem>): readonly RateQuota[] {
  const pairs = new Map(
    [...field.matchAll(/(?:^|,)\s*(limit|remaining|reset)\s*=\s*(\d+)/g)].map(([, key = '', value]) => [
      key,
      value,
    ]),
  );
  const quota = countOf(pairs.get('limit'));
  const window = secondsMs(policies.get(String(quota ?? ''))?.params.get('w'));
  return quotaOf(countOf(pairs.get('remaining')), secondsMs(pairs.get('reset')), quota, window);
}

function quotaOf(
  left: number | undefined,
  resetMs: number | undefined,
  quota: number | undefined,
  windowMs: number | undefined,
): readonly RateQuota[] {
  if (left === undefined || resetMs === undefined || resetMs > LONGEST_RESET_MS) return [];
  // some say so that there is no limit
  if (quota === 0) return [];
  return [{ left, resetMs, quota, windowMs }];
}

function resetOf(text: string | undefined, nowMs: number): number | undefined {
  const known = retryAfterMs(text, nowMs);
  const at = text !== undefined && ISO_DATE.test(text) ? dateMs(text) : undefined;
  return known ?? (at === undefined ? undefined : Math.max(0, at - nowMs));
}

const ISO_DATE = /^\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

function dateMs(text: string | undefined): number | undefined {
  const at = Date.parse(text?.trim() ?? '');
  return Number.isNaN(at) ? undefined : at;
}

interface FieldItem {
  readonly name: string;
  readonly params: ReadonlyMap<string, string>;
}

const ITEM =
  /\s*(?:"((?:[^"\\]|\\["\\])*)"|([A-Za-z0-9*][\w!#$%&'*+.^`|~:/-]*))((?:\s*;\s*[a-z*][a-z0-9_.*-]*(?:=(?:"(?:[^"\\]|\\["\\])*"|:[A-Za-z0-9+/=]*:|[^\s;,":][^\s;,"]*))?)*)\s*(?:,|$)/y;
const PARAM = /;\s*([a-z*][a-z0-9_.*-]*)(?:=(?:"((?:[^"\\]|\\["\\])*)"|([^\s;,"]+)))?/g;

/** Returns the items of a structured list (RFC 9651); none of one that is malformed. */
function listOf(field: string): readonly FieldItem[] {
  const items: FieldItem[] = [];
  ITEM.lastIndex = 0;
  while (ITEM.lastIndex < field.length) {
    const found = ITEM.exec(field);
    if (found === null) return [];
    const [, text, token, params = ''] = found;
    items.push({
      name: text ?? token ?? '',
      params: new Map(
        [...params.matchAll(PARAM)].map(([, key = '', quoted, bare]) => [key, quoted ?? bare ?? '']),
      ),
    });
  }
  return items;
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
}

function secondsMs(text: string | undefined): number | undefined {
  const seconds = countOf(text);
  return seconds === undefined ? undefined : seconds * 1000;
}
