import { AsyncLocalStorage } from 'node:async_hooks';

/** What is longer is not kept: the request has to be looked after by who repeats it. */
const MAX_LENGTH = 1024 * 1024;

/** What the transaction of a request gave. */
interface Made {
  /** What the transaction was about, so that it is not taken for that of another version of the program. */
  readonly kinds: readonly string[];
  /** As JSON has it; left out for undefined. */
  readonly result?: unknown;
}

interface Repetition {
  readonly made: Made;
  isTaken: boolean;
  /** The request has ended: what goes on behind it is not part of it. */
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
 * What stands in place of a transaction that is about to begin; undefined when it really is to be done.
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
