import { map, option, whole } from '../../../lib/option.ts';
import {
  getKey,
  isEmpty,
  isInteger,
  isNumber,
  numberOf,
  objectOf,
  type AnyObject,
} from '../../../lib/json/index.ts';
import { COUNT } from '../shared-options.ts';
import { invalid, read } from '../pagination-settings.ts';
import { truncated } from '../../../lib/read-settings.ts';
import { integerOf } from '../state.ts';
import type { StopRule } from './compose.ts';

/** Parses a text such as `1 hour` into seconds since 1970, relative to `baseSeconds`; false when it means nothing. */
export type ParseTime = (text: string, baseSeconds: number) => number | false;

/**
 * Stops after a number of pages, some time or some volume of data.
 *
 * The API never ends:
 *
 *     [{ "id": 1 }, { "id": 2 }]
 *
 * Configuration; each part is optional, and the first to be reached stops the job:
 *
 *     { "pagination": { "method": "pagenum", "forceStop": { "pages": 2, "time": "1 hour", "volume": 1000000 } } }
 *
 * Requests:
 *
 *     GET /users?page=1
 *     GET /users?page=2
 *
 * The limits count pages of the job, time since its first request, and bytes of the responses as compact JSON.
 */
export function forceStop(options: AnyObject, at: string, parseTime: ParseTime): StopRule | undefined {
  const node = read.object(options, 'forceStop', at);
  if (node === undefined) return undefined;
  const here = `${at}.forceStop`;
  const maxPages = pageLimit(node, here);
  const maxSeconds = timeLimit(node, here, parseTime);
  const maxVolume = read.count(node, 'volume', here);
  if (maxPages === undefined && maxSeconds === undefined && maxVolume === undefined) return undefined;
  return {
    key: 'force',
    needs: maxVolume === undefined ? {} : { volume: true },
    // the time and volume of a page are known only after it has arrived
    ahead: (state) =>
      maxSeconds !== undefined || maxVolume !== undefined
        ? 1
        : (maxPages ?? Infinity) - integerOf(state, 'pages') + 1,
    start: (now) =>
      objectOf([
        ['pages', 1],
        ['start', now],
        ['volume', 0],
      ]),
    check(page, state) {
      const pages = integerOf(state, 'pages') + 1;
      if (maxPages !== undefined && pages > maxPages)
        return { stop: { code: 'forcePages', pages: maxPages } };
      const start = integerOf(state, 'start');
      if (maxSeconds !== undefined && start + maxSeconds * 1000 <= page.now)
        return { stop: { code: 'forceTime', seconds: maxSeconds } };
      const volume = integerOf(state, 'volume') + (page.volume ?? 0);
      if (maxVolume !== undefined && volume > maxVolume)
        return { stop: { code: 'forceVolume', bytes: volume, limit: maxVolume } };
      return {
        state: objectOf([
          ['pages', pages],
          ['start', start],
          ['volume', volume],
        ]),
      };
    },
  };
}

export const FORCE_STOP = map(
  'Stop by force',
  'Ends the job after a number of pages, some time or some volume, whichever comes first.',
  {
    maxItems: 0,
    examples: [{ pages: 10 }, { time: '1 hour', volume: 1000000 }],
    properties: {
      pages: option('Pages', 'Number of pages after which the job ends.', {
        type: ['integer', 'null'],
        minimum: 0,
        examples: [10],
      }),
      time: whole('Time', 'Seconds, or a text such as `1 hour`, after which no further page is asked for.', {
        minimum: 0,
        examples: [3600, '1 hour'],
      }),
      volume: option(
        'Volume',
        'Bytes of data, counted as compact JSON; the page that exceeds them is the last one.',
        { ...COUNT, examples: [1000000] },
      ),
    },
  },
);

/** Reads the limit of pages, which must be a number: text is refused. */
function pageLimit(node: AnyObject, at: string): number | undefined {
  const value = getKey(node, 'pages');
  if (isEmpty(value)) return undefined;
  if (isInteger(value) && numberOf(value) > 0) return numberOf(value);
  throw invalid(
    `${at}.pages`,
    '`pages` must be a whole number of at least 1.',
    'Write it without quotes, such as 10.',
  );
}

/** Reads the limit in seconds; a text is relative to a start at 0, and digits alone are seconds. */
function timeLimit(node: AnyObject, at: string, parseTime: ParseTime): number | undefined {
  const value = getKey(node, 'time');
  if (isEmpty(value)) return undefined;
  let seconds: number | false = false;
  if (isInteger(value)) seconds = numberOf(value);
  else if (typeof value === 'string') seconds = truncated(value) ?? parseTime(value, 0);
  if (seconds !== false && seconds > 0) return seconds;
  throw invalid(
    `${at}.time`,
    isNumber(value) || typeof value === 'string'
      ? '`time` must be whole seconds above 0, or a text that means a time to come.'
      : '`time` must be a number of seconds or a text.',
    'Write seconds such as 3600, or a text such as "1 hour".',
  );
}
