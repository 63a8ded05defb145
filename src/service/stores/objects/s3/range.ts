import { ObjectError } from '../errors.ts';
import type { ByteRange } from '../store.ts';

/** No range is longer. */
const MOST_LETTERS = 200;

/**
 * Reads `bytes=first-last`, `bytes=first-` and `bytes=-count`. Undefined when the header must be passed over (another
 * unit, several ranges, no range at all: RFC 9110 14.2); `InvalidRange` when it is of this form but beyond the end.
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | undefined {
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)$/i.exec(
    (header ?? '').length > MOST_LETTERS ? '' : (header ?? '').trim(),
  );
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Math.min(Number(last), bytes);
    if (count === 0) throw unsatisfiable(bytes);
    return { start: bytes - count, end: bytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= bytes) throw unsatisfiable(bytes);
  return { start, end };
}

function unsatisfiable(bytes: number): ObjectError {
  return new ObjectError('InvalidRange', 'The requested range is beyond the end of the object.', {
    facts: { ActualObjectSize: bytes },
  });
}
