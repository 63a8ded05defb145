import { AsyncLocalStorage } from 'node:async_hooks';

/** Longest stored result; a longer one is not stored, and the repeated request has to find out by itself. */
const MAX_LENGTH = 1024 * 1024;

/** Stored result of the transaction of a request. */
interface Made {
  /** Kinds of lock keys of the transaction, so that it is not confused with one of another version of the program. */
  readonly kinds: readonly string[];
  /** As JSON has it; left out for undefined. */
  readonly result?: unknown;
}

interface Repetition {
  readonly made: Made;
  isTaken: boolean;
  /** The request has ended: work that continues after it is not part of it. */
  isOver: boolean;
}

/** The request did more than one transaction, or another one than before: it cannot be answered from what was kept. */
export class NotRepeatable extends Error {}

const repetitions = new AsyncLocalStorage<Repetition>();

/** The text that is kept; undefined for what JSON does not give back as it was, or what is too long. */
export function madeText(kinds: readonly string[], result: unknown): string | undefined {
  if (!isJson(result)) return undefined;
  const text = JSON.stringify({ kinds, result } satisfies Made);
  return text.length > MAX_LENGTH ? undefined : text;
}

/**
 * Does a request again whose transaction was committed, to learn its answer: in place of the transaction is what it
 * gave, and there is no other.
 *
 * @param text what {@link madeText} gave
 */
export async function repeating<T>(text: string, work: () => Promise<T>): Promise<T> {
  // Written by this module.
  const repetition: Repetition = { made: JSON.parse(text) as Made, isTaken: false, isOver: false };
  try {
    return await repetitions.run(repetition, work);
  } finally {
    repetition.isOver = true;
  }
}

/**
 * Returns the stored result in place of a transaction that is about to begin; undefined when it has to run.
 *
 * @throws {NotRepeatable}
 */
export function inPlaceOf(kinds: readonly string[]): { readonly result: unknown } | undefined {
  const repetition = repetitions.getStore();
  if (repetition === undefined || repetition.isOver) return undefined;
  const { made, isTaken } = repetition;
  repetition.isTaken = true;
  if (isTaken || made.kinds.join() !== kinds.join()) throw new NotRepeatable();
  return { result: made.result };
}

function isJson(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'string' || typeof value === 'boolean')
    return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  // An entry that is undefined would come back as null.
  if (Array.isArray(value)) return value.every((entry) => entry !== undefined && isJson(entry));
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isJson);
}
