import type { QueryErrorCode, QueryPlace, QueryProblem } from '../messages.ts';

/** Errors of the engine that are about limits, and no mistake in the text. */
const TOO_LARGE = new Set(['out of memory', 'io', 'outofmemory']);
/** Advice to change a setting, which no query can. */
const SETTING = /\s*Use "SET [^"]*"[^.]*\./;
/** Characters of a message. */
const MOST_LETTERS = 2000;

/**
 * Returns the problem that an error of the engine tells, which it does as JSON; undefined for a parsed query, and for an
 * error that says nothing to a person.
 */
export function problemOf(told: unknown, sql: string): QueryProblem | undefined {
  const facts = factsOf(told);
  if (facts === undefined) return undefined;
  const type = (textOf(facts['exception_type']) ?? textOf(facts['error_type']) ?? '').toLowerCase();
  const message = textOf(facts['exception_message']) ?? textOf(facts['error_message']) ?? '';
  if (message === '' || type === 'internal' || type === 'fatal') return undefined;
  if (type === 'not implemented' && message.startsWith('Only SELECT'))
    return {
      code: 'storage.sql.refused',
      message: 'Give one statement that reads: a query begins with SELECT, WITH, FROM or VALUES.',
    };
  if (TOO_LARGE.has(type))
    return {
      code: 'storage.sql.tooLarge',
      message: 'The query needs more memory or disk than a query may use. Read fewer columns or rows.',
    };
  const place = facts['position'] === undefined ? undefined : Number(facts['position']);
  return textProblem('storage.sql.invalid', message.replace(SETTING, '').slice(0, MOST_LETTERS), place, sql);
}

/** @param offset bytes of the text before the place */
export function textProblem(
  code: QueryErrorCode,
  message: string,
  offset: number | undefined,
  sql: string,
): QueryProblem {
  return { code, message, place: placeOf(offset, sql) };
}

/** Returns the place of a byte in a text; undefined where there is none. */
export function placeOf(offset: number | undefined, sql: string): QueryPlace | undefined {
  if (offset === undefined || !Number.isSafeInteger(offset)) return undefined;
  const before = Buffer.from(sql).subarray(0, offset).toString().split('\n');
  return { line: before.length, column: Array.from(before.at(-1) ?? '').length + 1 };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function factsOf(told: unknown): Readonly<Record<string, unknown>> | undefined {
  if (told instanceof Error) {
    try {
      const facts: unknown = JSON.parse(told.message);
      return isFacts(facts) ? facts : undefined;
    } catch {
      return undefined;
    }
  }
  return isFacts(told) && told['error'] === true ? told : undefined;
}

function isFacts(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
