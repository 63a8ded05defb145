import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from './database.ts';
import type { RequestKeyRow } from './tables.ts';
import { withLocks, type Thing, type Transact } from './transaction.ts';

/** A request that is to be done once, however often it arrives. */
export type RequestKey = Pick<RequestKeyRow, 'digest' | 'key' | 'token_id'>;

/** Another request has the key: it was done at the same moment, here or in another process. */
export class KeyTaken extends Error {}

/** The request did more than one transaction, or another one than before: it cannot be answered from what was kept. */
export class NotRepeatable extends Error {}

/** Stored result of the transaction of a request. */
interface Made {
  /** Kinds of lock keys of the transaction, so that it is not confused with one of another version of the program. */
  readonly kinds: readonly string[];
  /** As JSON has it; left out for undefined. */
  readonly result?: unknown;
}

/**
 * Returns the transactions of a request under its key: the first one ends by keeping the key, so that both are
 * stored or neither. They throw {@link KeyTaken} when another request has it.
 *
 * @param options.isKept whether an earlier attempt of the request kept it, whose file is there
 * @param options.hasSecret whether what the transaction gives must not be kept
 */
export function claimingTransactions(
  meta: Meta,
  key: RequestKey,
  options: { readonly now: number; readonly hasSecret: boolean; readonly isKept: boolean },
): { readonly transact: Transact; readonly isKept: () => boolean } {
  const { now, hasSecret } = options;
  let { isKept } = options;
  return {
    isKept: () => isKept,
    async transact(things, work, madeOf) {
      if (isKept) return await withLocks(meta, things, work);
      const result = await withLocks(meta, things, async (tx) => {
        const given = await work(tx);
        const { jobId: job_id = null, fileId: file_id = null } = resourceOf(madeOf?.(given));
        // An answer is made of the job or the file first.
        const made = hasSecret || madeOf !== undefined ? null : madeText(things, given);
        const row = { ...key, job_id, file_id, made, created: isoTime(now) };
        const insert = tx.insertInto('request_keys').values(row);
        const kept = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirstOrThrow();
        if (kept.numInsertedOrUpdatedRows !== 1n) throw new KeyTaken();
        return given;
      });
      isKept = true;
      return result;
    },
  };
}

const resourceOf = (made: { readonly jobId?: number; readonly fileId?: number } = {}): typeof made => made;

/**
 * Returns the transactions of a request that is done again to learn its answer: in place of its transaction is what
 * that gave, and there is no other. They throw {@link NotRepeatable}.
 *
 * @param text as {@link claimingTransactions} kept it
 */
export function replayingTransactions(text: string): Transact {
  const made = JSON.parse(text) as Made; // written by this module
  let isTaken = false;
  return async <T>(things: readonly Thing[]) => {
    if (isTaken || made.kinds.join() !== kindsOf(things).join()) throw new NotRepeatable();
    isTaken = true;
    return await Promise.resolve(made.result as T); // this transaction has given it before
  };
}

const kindsOf = (things: readonly Thing[]): string[] => things.map(({ kind }) => kind);

/** Longest stored result; a longer one is not stored, and the repeated request has to find out by itself. */
const MAX_LENGTH = 1024 * 1024;

/** Returns the text that is kept; null for what JSON does not give back as it was, or what is too long. */
function madeText(things: readonly Thing[], result: unknown): string | null {
  if (!isJson(result)) return null;
  const text = JSON.stringify({ kinds: kindsOf(things), result } satisfies Made);
  return text.length > MAX_LENGTH ? null : text;
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

export async function findKey(
  meta: Meta,
  { token_id, key }: Pick<RequestKey, 'key' | 'token_id'>,
): Promise<RequestKeyRow | undefined> {
  return await meta
    .selectFrom('request_keys')
    .selectAll()
    .where((where) => where.and({ token_id, key }))
    .executeTakeFirst();
}

/**
 * Keeps what was answered; of a request that had no transaction, also that it was done.
 *
 * @returns false when another answer is kept already
 */
export async function keepAnswer(
  meta: Meta,
  key: RequestKey,
  answer: { readonly status: number; readonly answer: string | null; readonly now: number },
): Promise<boolean> {
  const { status, answer: text, now } = answer;
  const { numInsertedOrUpdatedRows } = await meta
    .insertInto('request_keys')
    .values({ ...key, job_id: null, file_id: null, made: null, status, answer: text, created: isoTime(now) })
    .onConflict((conflict) =>
      conflict
        .columns(['token_id', 'key'])
        .doUpdateSet({ status, answer: text, made: null })
        .where('request_keys.status', 'is', null),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows !== 0n;
}
