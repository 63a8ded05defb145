import {
  entriesOf,
  getKey,
  isObject,
  isScalar,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { meaningsOf, type Meaning } from './classify.ts';
import { canonical } from './names.ts';
import { ERROR_COMPANIONS } from './signs.ts';
import { isSet, signsOf } from './values.ts';

/**
 * Returns the error that a row is, with the name that shows it. It has only properties of errors: an object that
 * failed, with a name or a price, is none.
 */
export function errorOfRow(
  row: Json | undefined,
): { readonly path: string; readonly text: string } | undefined {
  if (row === undefined || !isObject(row)) return undefined;
  const entries = entriesOf(row);
  if (!isOfErrorAlone(row) || isThing(row)) return undefined;
  const isTold = hasMessage(row) || hasBadState(row);
  for (const [name, value] of entries) {
    // a number of errors is a number like others, as in statistics
    if (!isTold && isMereNumber(name, value, entries.length)) continue;
    const [sign] = signsOf(meaningsOf(name).filter(isClear), value, name);
    if (sign?.kind === 'error') return sign;
  }
  return undefined;
}

/**
 * Tells whether an object is an error in the place where pages before had their list, even with only a bad state and a
 * message. An id makes it an object with a state of its own.
 */
export function isErrorInPlaceOfList(row: AnyObject): boolean {
  if (errorOfRow(row) !== undefined) return true;
  return isOfErrorAlone(row) && hasMessage(row) && !isSet(getKey(row, 'id') ?? null);
}

/**
 * Returns an error among rows that have none of its names; as the only row of its page, even one with only a message.
 */
export function errorAmongRows(
  row: AnyObject,
  isOnly: boolean,
): { readonly path: string; readonly text: string } | undefined {
  const clear = errorOfRow(row);
  if (clear !== undefined || !isErrorInPlaceOfList(row) || !(isOnly || hasBadState(row))) return clear;
  const [sign] = entriesOf(row).flatMap(([name, value]) =>
    signsOf(
      meaningsOf(name).filter(({ topic }) => topic === 'message'),
      value,
      name,
    ),
  );
  return sign !== undefined && 'text' in sign ? sign : undefined;
}

function isOfErrorAlone(row: AnyObject): boolean {
  return entriesOf(row).every(
    ([name, value]) => meaningsOf(name).some(isOfError) || COMPANIONS.has(canonical(name)) || !isSet(value),
  );
}

/**
 * Tells whether a row is a failed call, such as that of a webhook: it has a type that is none of errors, an address,
 * and no message.
 */
function isThing(row: AnyObject): boolean {
  const type = getKey(row, 'type');
  if (typeof type !== 'string' || OF_ERRORS.test(type) || !isSet(getKey(row, 'url') ?? null)) return false;
  return !entriesOf(row).some(([name, value]) => isSet(value) && meaningsOf(name).some(isSaid));
}

function hasMessage(row: AnyObject): boolean {
  return entriesOf(row).some(
    ([name, value]) =>
      typeof value === 'string' && isSet(value) && meaningsOf(name).some(({ topic }) => topic === 'message'),
  );
}

function hasBadState(row: AnyObject): boolean {
  return entriesOf(row).some(
    ([name, value]) => signsOf(meaningsOf(name).filter(isState), value, name).length > 0,
  );
}

/** Tells whether a number names no error: it is neither a code, nor a lone HTTP status. */
function isMereNumber(name: string, value: Json, names: number): boolean {
  const text = isScalar(value) ? toText(value) : '';
  const key = canonical(name);
  if (!/^\d+$/.test(text) || key.endsWith('code')) return false;
  return names > 1 || key.endsWith('s') || !/^[45]\d\d$/.test(text);
}

const OF_ERRORS = /error|exception|fault|fail|problem|invalid|limit|denied|unauthori|^about:|^https?:/i;
const CLEAR = new Set<string>(['error', 'success', 'failure']);
const isClear = ({ topic }: Meaning): boolean => CLEAR.has(topic);
const isOfError = ({ topic }: Meaning): boolean =>
  CLEAR.has(topic) || topic === 'state' || topic === 'message';
const isState = ({ topic }: Meaning): boolean => topic === 'state';
const isSaid = ({ topic }: Meaning): boolean =>
  topic === 'state' || topic === 'message' || topic === 'success' || topic === 'failure';
const COMPANIONS = new Set(ERROR_COMPANIONS);
