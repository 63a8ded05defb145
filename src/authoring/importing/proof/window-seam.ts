import { partsOf } from './request-parts.ts';
import type { SampledExchange } from './sample-run.ts';

/** A time in a request: its place, its text, and the milliseconds since 1970. */
interface SentTime {
  readonly place: string;
  readonly text: string;
  readonly ms: number;
  /** Milliseconds by which two such texts differ at least. */
  readonly grainMs: number;
}

/** Result of comparing the first requests of two windows. */
export type Seam =
  | { readonly kind: 'joined' | 'gap' | 'overlap'; readonly text: string }
  | { readonly kind: 'unknown' };

/**
 * Compares the first requests of two windows, of which one follows the other: the second has to begin where the first
 * ended, or one step of its times behind.
 */
export function seamOf(one: SampledExchange, other: SampledExchange): Seam {
  const [a, b] = [timesIn(one), timesIn(other)];
  const pairs = [...a].flatMap(([place, first]) => {
    const second = b.get(place);
    return second === undefined || second.text === first.text ? [] : [{ first, second }];
  });
  if (pairs.length !== 2) return { kind: 'unknown' };
  const isBackward = pairs.every(({ first, second }) => second.ms < first.ms);
  const [lower, upper] = pairs
    .map(({ first, second }) =>
      isBackward ? { earlier: second, later: first } : { earlier: first, later: second },
    )
    .toSorted((x, y) => x.earlier.ms - y.earlier.ms);
  if (lower === undefined || upper === undefined || lower.earlier.ms === upper.earlier.ms)
    return { kind: 'unknown' };
  const [end, begin] = [upper.earlier, lower.later];
  const gapMs = begin.ms - end.ms;
  const text = `one window ends by ${end.place}=${end.text}, the next begins by ${begin.place}=${begin.text}`;
  if (gapMs < 0) return { kind: 'overlap', text };
  return { kind: gapMs <= end.grainMs ? 'joined' : 'gap', text };
}

function timesIn({ request }: SampledExchange): ReadonlyMap<string, SentTime> {
  const { path, query, body } = partsOf(request);
  const texts: (readonly [string, string])[] = [
    ...query,
    ...path.split('/').map((part, index) => [`part ${index} of the path`, part] as const),
    ...[...body.matchAll(/"([^"]+)":("?)([^",}\]]+)\2/g)].map(
      ([, name = '', , value = '']) => [name, value] as const,
    ),
    ...(body.includes('":') ? [] : [...new URLSearchParams(body)]),
  ];
  return new Map(
    texts.flatMap(([place, text]) => {
      const time = timeIn(text);
      return time === undefined ? [] : [[place, { place, text, ...time }] as const];
    }),
  );
}

const DAY_MS = 86_400_000;
/** Seconds and milliseconds since 1970 of the years that data are about. */
const SECONDS = { from: 3e8, to: 4e9 };

function timeIn(text: string): Pick<SentTime, 'grainMs' | 'ms'> | undefined {
  if (/^\d{9,10}(?:\.0*)?$/.test(text)) {
    const seconds = Number(text);
    if (seconds >= SECONDS.from && seconds <= SECONDS.to) return { ms: seconds * 1000, grainMs: 1000 };
  }
  if (/^\d{12,13}$/.test(text)) return { ms: Number(text), grainMs: 1000 };
  const match =
    /^(\d{4})-?(\d\d)-?(\d\d)(?:[T ](\d\d):?(\d\d)(?::?(\d\d)(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute = '00', second = '00', part = '', zone = 'Z'] = match;
  const ms = Date.parse(
    hour === undefined
      ? `${year}-${month}-${day}T00:00:00Z`
      : `${year}-${month}-${day}T${hour}:${minute}:${second}${part}${zone.replace(/(\d\d)(\d\d)$/, '$1:$2')}`,
  );
  if (Number.isNaN(ms)) return undefined;
  return { ms, grainMs: hour === undefined ? DAY_MS : match[6] === undefined ? 60_000 : 1000 };
}
