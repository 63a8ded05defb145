import type { CallFunction, Contexts } from '../../shared/evaluate.ts';
import {
  isNumber,
  JsonNumber,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { contextValue } from '../context-value.ts';
import type { ClockZone } from '../functions/date.ts';
import { exactMsOf, momentFrom, momentOf } from '../moment.ts';
import { jobError } from '../read-job.ts';
import { DEFAULT_FORMAT, formatTime } from '../windows/grain.ts';
import { writtenOffset } from '../windows/offset.ts';
import { addSpan, microsOf } from '../windows/span.ts';
import type { Stretch } from '../windows/tile.ts';
import { compareMarks, markOf, type Mark } from './mark.ts';
import type { Incremental } from './read-incremental.ts';

/** Beginning and end of one run of a job, by its state. */
export interface Bounds {
  /** Value that is sent; undefined in a first run without `first`. */
  readonly sent: Json | undefined;
  /** Milliseconds since 1970, where the beginning is a time. */
  readonly begins: number | undefined;
  /** Offset that the beginning is written with. */
  readonly offset?: ClockZone | undefined;
  /** Rows before it are old. */
  readonly since: Mark | undefined;
  /** Rows from it on are not asked for: of a period that is filled again. */
  readonly until: Mark | undefined;
  /** Rows at the very beginning are old, too. */
  readonly dropsEqual: boolean;
  /** Context of `{"state": …}`. */
  readonly context: AnyObject;
}

export interface BoundsOptions {
  /** The stored value; undefined in a first run. */
  readonly stored: Json | undefined;
  /** Milliseconds since 1970 when the run began. */
  readonly now: number;
  readonly call: CallFunction;
  readonly contexts: Contexts;
  /** A period that is to be filled again, in place of the state. */
  readonly period?: Stretch | undefined;
}

/**
 * Returns the bounds of a run: it begins at the stored value less the lookback, or at `first`.
 *
 * @throws {JobError} for a lookback or a format that does not fit the value
 */
export function boundsOf(settings: Incremental, options: BoundsOptions): Bounds {
  const { keep } = settings;
  const { stored, period } = options;
  if (period !== undefined) return periodBounds(settings, period, stored ?? firstOf(settings, options));
  const beginning =
    stored === undefined
      ? firstOf(settings, options)
      : notBefore(settings, earlier(settings, stored), options);
  if (beginning === undefined) return NO_BOUNDS;
  const sent = formatted(settings, beginning);
  return {
    sent,
    begins: beginsAt(settings, beginning),
    offset: writtenOffset(beginning),
    since: keep === undefined ? markOf(beginning, settings.as) : undefined,
    until: undefined,
    dropsEqual: settings.dropsEqual && stored !== undefined,
    context: objectOf([['cursor', sent]]),
  };
}

const NO_BOUNDS: Bounds = {
  sent: undefined,
  begins: undefined,
  since: undefined,
  until: undefined,
  dropsEqual: false,
  context: objectOf([]),
};

function timeMark(ms: number): Mark | undefined {
  return markOf(formatTime('Y-m-d\\TH:i:s.v\\Z', ms), 'time');
}

function firstOf({ first, at }: Incremental, options: BoundsOptions): Json | undefined {
  return first === undefined ? undefined : written(first, `${at}.first`, options);
}

/** Returns the later of a beginning and `notBefore`. */
function notBefore(settings: Incremental, beginning: Json, options: BoundsOptions): Json {
  const { notBefore: bound, as, at } = settings;
  const least = bound === undefined ? undefined : written(bound, `${at}.notBefore`, options);
  const [a, b] = [markOf(beginning, as), least === undefined ? undefined : markOf(least, as)];
  if (least === undefined || a === undefined || b === undefined || a.kind !== b.kind) return beginning;
  if ((compareMarks(a, b) ?? 0) >= 0) return beginning;
  return b.kind === 'time' ? inFormOf(beginning, exactMsOf(b.instant), writtenOffset(least) ?? null) : least;
}

function written(node: Json, at: string, { now, call, contexts }: BoundsOptions): Json | undefined {
  const value = contextValue(node, { call, contexts, at });
  if (value === undefined || value === null || value === '') return undefined;
  // words such as “-30 days” mean nothing to an API, nor to a row
  const isWords = typeof value === 'string' && momentOf(value) === undefined;
  const moment = isWords ? momentFrom(value, now) : undefined;
  return moment === undefined ? value : formatTime(DEFAULT_FORMAT, moment);
}

/** @param sample a value of the cursor, whose form the API knows */
function periodBounds(settings: Incremental, { from, to }: Stretch, sample: Json | undefined): Bounds {
  const { as, at, cursor, format } = settings;
  const kind = as ?? (sample === undefined ? 'time' : markOf(sample)?.kind);
  if (cursor !== undefined && kind !== 'time')
    throw jobError(
      at,
      'A period is filled by time, and the cursor of this job is none',
      'Give “as”: "time" if it is one, such as seconds since 1970; or run without --from and --to.',
    );
  const isKnown = sample !== undefined && momentOf(sample) !== undefined;
  const sent =
    format === undefined && isKnown ? inFormOf(sample, from) : formatTime(format ?? DEFAULT_FORMAT, from);
  return {
    sent,
    begins: from,
    since: timeMark(from),
    until: timeMark(to),
    dropsEqual: false,
    context: objectOf([['cursor', sent]]),
  };
}

/** Subtracts the lookback from a value, in the form in which it came. */
function earlier({ lookback, as, at }: Incremental, value: Json): Json {
  if (lookback === undefined) return value;
  const place = `${at}.lookback`;
  if ('number' in lookback) return less(value, lookback.number, place);
  const moment = as === 'number' || as === 'text' ? undefined : momentOf(value);
  if (moment === undefined)
    throw jobError(
      place,
      `The state “${toText(value)}” is no time, and the lookback is a length of time`,
      'Give the lookback as a number, or leave it out.',
    );
  return inFormOf(value, addSpan(exactMsOf(moment), lookback.span, -1));
}

function less(value: Json, lookback: Json, at: string): Json {
  const [a, b] = [toText(value), toText(lookback)];
  const isWhole = /^-?\d+$/.test(a) && /^-?\d+$/.test(b);
  if (!isWhole && (a === '' || Number.isNaN(Number(a))))
    throw jobError(
      at,
      `The state “${a}” is no number, and the lookback is one`,
      'Give the lookback as a length of time, such as "7 days", or leave it out.',
    );
  const text = isWhole ? String(BigInt(a) - BigInt(b)) : String(Number(a) - Number(b));
  return isNumber(value) ? new JsonNumber(text) : text;
}

/** Formats a time like another value: as a number with its unit, a day, or ISO 8601 with as much of a second. */
function inFormOf(value: Json, ms: number, offset: ClockZone | null = writtenOffset(value) ?? null): Json {
  const text = toText(value);
  if (/^\d{8}$/.test(text)) return formatTime('Ymd', ms);
  if (/^\d{14}$/.test(text) && momentOf(text)?.seconds !== Number(text.slice(0, 11)))
    return formatTime('YmdHis', ms);
  if (/^-?\d+(?:\.\d+)?$/.test(text)) {
    const digits = (text.split('.', 1)[0] ?? '').replace('-', '').length;
    const micros = BigInt(microsOf(ms));
    const scaled = String(
      digits <= 11
        ? Math.floor(ms / 1000)
        : digits <= 14
          ? Math.floor(ms)
          : digits <= 17
            ? micros
            : micros * 1000n,
    );
    return isNumber(value) ? new JsonNumber(scaled) : scaled;
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return formatTime('Y-m-d', ms);
  const separator = text.charAt(10) === ' ' ? ' ' : '\\T';
  const zone = zoneFormat(text, offset);
  const places = /\d[.,](\d+)/.exec(text)?.[1]?.length ?? 0;
  const fraction = places === 0 ? '' : places > 3 ? '.u' : '.v';
  return formatTime(`Y-m-d${separator}H:i:s${fraction}${zone}`, ms, offset ?? undefined);
}

/** Returns the format of the zone of a text: an offset as it is written there, or UTC. */
function zoneFormat(text: string, offset: ClockZone | null): string {
  const written = /(?:Z|UTC|[+-]\d{2}(:?)\d{2})$/i.exec(text);
  if (written === null) return '';
  if (offset === null) return '\\Z';
  return written[1] === '' ? 'O' : 'P';
}

function formatted({ format, at }: Incremental, value: Json): Json {
  if (format === undefined) return value;
  const moment = momentOf(value);
  if (moment !== undefined) return formatTime(format, exactMsOf(moment), writtenOffset(value));
  throw jobError(
    `${at}.format`,
    `The state “${toText(value)}” is no time, and cannot be written as “${format}”`,
    'Leave “format” out to send it as it came.',
  );
}

function beginsAt({ as }: Incremental, value: Json): number | undefined {
  const mark = markOf(value, as);
  return mark?.kind === 'time' ? exactMsOf(mark.instant) : undefined;
}
