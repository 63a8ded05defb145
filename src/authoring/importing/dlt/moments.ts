import { call, type TranslatedValue } from './value.ts';

/** `pendulum.now("UTC")`, `datetime.now(timezone.utc)`, `date.today()`, `pendulum.datetime(2024, 1, 1)`. */
const START =
  /^(?:pendulum|datetime|date|datetime\.datetime|datetime\.date)\.(now|utcnow|today|yesterday|tomorrow|datetime|date)\(([^()]*)\)/;
/** `.subtract(days=7, hours=1)`, `- timedelta(days=7)`. */
const STEP = /^(?:\.(subtract|add)|\s*([-+])\s*(?:datetime\.)?timedelta)\(([^()]*)\)/;
const START_OF = /^\.start_of\(["'](day|month|year)["']\)/;
const END =
  /^\.(to_iso8601_string|isoformat|to_date_string|to_datetime_string|int_timestamp|timestamp|strftime)(?:\(([^()]*)\))?$/;

const FORMATS: Readonly<Record<string, string>> = {
  to_iso8601_string: 'Y-m-d\\TH:i:s\\Z',
  isoformat: 'Y-m-d\\TH:i:sP',
  to_date_string: 'Y-m-d',
  to_datetime_string: 'Y-m-d H:i:s',
  int_timestamp: 'U',
};

const STRFTIME: Readonly<Record<string, string>> = {
  '%Y-%m-%d': 'Y-m-d',
  '%Y-%m-%dT%H:%M:%SZ': 'Y-m-d\\TH:i:s\\Z',
  '%Y-%m-%dT%H:%M:%S': 'Y-m-d\\TH:i:s',
  '%Y-%m-%d %H:%M:%S': 'Y-m-d H:i:s',
};

/**
 * Converts a time that code calculates from the present, or from a date, to a function:
 * `pendulum.today().subtract(days=30).to_iso8601_string()`. Undefined for any other code.
 */
export function momentOf(code: string): TranslatedValue | undefined {
  const text = code
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^\((.*)\)(\.\w+\(.*\))$/, '$1$2');
  const start = START.exec(text);
  if (start === null) return undefined;
  const [whole, kind = '', args = ''] = start;
  let rest = text.slice(whole.length);
  let words = beginning(kind, args);
  if (words === undefined) return undefined;
  for (;;) {
    const bound = START_OF.exec(rest);
    const step = STEP.exec(rest);
    if (bound !== null) {
      if (bound[1] !== 'day') return undefined;
      words = `${words} midnight`;
      rest = rest.slice(bound[0].length);
    } else if (step !== null) {
      const moved = moves(step[3] ?? '', step[1] === 'add' || step[2] === '+');
      if (moved === undefined) return undefined;
      words = `${words} ${moved}`;
      rest = rest.slice(step[0].length);
    } else break;
  }
  const [, method = '', argument = ''] = END.exec(rest) ?? [];
  const isNaive = method === 'isoformat' && !text.startsWith('pendulum') && args.trim() === '';
  const isDay = kind === 'today' && /^(?:date|datetime\.date)\./.test(text);
  const format =
    method === 'strftime'
      ? STRFTIME[argument.slice(1, -1)]
      : isDay && method === 'isoformat'
        ? 'Y-m-d'
        : isNaive
          ? 'Y-m-d\\TH:i:s'
          : FORMATS[method];
  return format === undefined ? undefined : call('date', format, call('strtotime', words));
}

function beginning(kind: string, args: string): string | undefined {
  if (kind === 'datetime' || kind === 'date') {
    const parts = args.split(',').map((part) => part.trim());
    const [year, month = '1', day = '1', ...time] = parts;
    if (year === undefined || !parts.every((part) => /^\d+$/.test(part))) return undefined;
    const [hour = '0', minute = '0', second = '0'] = time;
    return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}Z`;
  }
  // only the clock of the world: another zone is another day
  if (
    !/^(?:|["']UTC["']|timezone\.utc|datetime\.timezone\.utc|tz=["']UTC["']|tz=timezone\.utc)$/.test(
      args.trim(),
    )
  )
    return undefined;
  return kind === 'utcnow' ? 'now' : kind;
}

function two(part: string): string {
  return part.padStart(2, '0');
}

/** Converts `days=7, hours=1` to words. */
function moves(args: string, isForward: boolean): string | undefined {
  const parts = args
    .split(',')
    .map((part) => /^\s*(years|months|weeks|days|hours|minutes|seconds)\s*=\s*(\d+)\s*$/.exec(part));
  if (parts.some((part) => part === null)) return undefined;
  return parts.map((part) => `${isForward ? '+' : '-'}${part?.[2] ?? ''} ${part?.[1] ?? ''}`).join(' ');
}
