import {
  getKey,
  isEmpty,
  isList,
  isNumber,
  toText,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { compareInstants, type Instant } from '../../language/index.ts';
import { instantIn } from '../functions/dates.ts';
import { exactMsOf, momentOf } from '../moment.ts';
import { jobError } from '../read-job.ts';
import { formatTime } from '../windows/grain.ts';

/** Reads a value of the cursor by its formats: as ISO 8601 where it says another time by itself; undefined for no fit. */
export type CursorForm = (value: Json) => Json | undefined;

/**
 * Reads `cursorFormat`: letters of PHP or `epoch`, or several such formats.
 *
 * @throws {JobError} for a format that cannot be read
 */
export function readCursorForm(node: AnyObject, at: string): CursorForm | undefined {
  const value = getKey(node, 'cursorFormat');
  if (value === undefined || isEmpty(value)) return undefined;
  const formats = (isList(value) ? [...value] : [value]).map((format) => {
    const text = typeof format === 'string' ? format : '';
    if (isFormat(text)) return text;
    throw jobError(
      `${at}.cursorFormat`,
      `“${toText(format)}” is no format of a time`,
      'Write letters of PHP, such as "Y-m-d" or "d.m.Y H:i:s", or "epoch"; or a list of formats.',
    );
  });
  return (cursor) => {
    if (!isNumber(cursor) && typeof cursor !== 'string') return undefined;
    const text = toText(cursor);
    for (const format of formats) {
      if (format === EPOCH && NUMERIC.test(text)) return cursor;
      const instant = format === EPOCH || TOO_FINE.test(text) ? undefined : instantIn(format, text);
      if (instant !== undefined) return isoOf(cursor, instant);
    }
    return undefined;
  };
}

/** The name of numbers since 1970, whose unit is seen by their size. */
const EPOCH = 'epoch';
const NUMERIC = /^-?\d+(?:\.\d+)?$/;
/** A fraction of a second that no letter writes: `u` has six digits. */
const TOO_FINE = /[.,]\d{7}/;

function isFormat(format: string): boolean {
  if (format === EPOCH) return true;
  try {
    instantIn(format, '');
    return /[A-Za-z]/.test(format.replace(/\\[^]/g, ''));
  } catch {
    return false;
  }
}

function isoOf(value: Json, instant: Instant): Json {
  const own = momentOf(value);
  const isSame = own !== undefined && compareInstants(own, instant) === 0;
  return isSame ? value : formatTime('Y-m-d\\TH:i:s.u\\Z', exactMsOf(instant));
}
