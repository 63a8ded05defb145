import {
  entriesOf,
  flattenContext,
  getKey,
  isEmpty,
  isNumber,
  isObject,
  numberOf,
  objectOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';

/** Returns the context of `{"time": …}`. */
export function timeContext(state: AnyObject, startedAt: number): AnyObject {
  const stored = getKey(state, 'time');
  const entries = isObject(stored) ? entriesOf(stored) : [];
  const previous = isObject(stored) ? getKey(stored, 'previousStart') : undefined;
  const previousStart: Json =
    isEmpty(previous) || previous === undefined ? 0 : isNumber(previous) ? numberOf(previous) : previous;
  return flattenContext(
    objectOf([...entries, ['previousStart', previousStart], ['currentStart', startedAt]]),
  );
}
