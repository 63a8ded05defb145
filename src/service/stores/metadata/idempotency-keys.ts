import { AsyncLocalStorage } from 'node:async_hooks';
import { CompiledQuery, type DatabaseConnection } from 'kysely';
import { isoTime } from '../../../lib/iso-time.ts';
import { madeText } from './idempotent-replay.ts';
import type { RequestKeyRow } from './tables.ts';

/** A request that is to be done once, however often it arrives. */
export type RequestKey = Pick<RequestKeyRow, 'digest' | 'key' | 'token_id'>;

interface Claim extends RequestKey {
  readonly created: string;
  jobId?: number;
  fileId?: number;
  /** JSON of what its transaction gave, of which the answer can be made again. */
  made?: string | undefined;
  readonly mayKeepMade: boolean;
  /** Kept in the database, by this request or by the earlier one that made the file. */
  isKept: boolean;
  /** The request has ended: work that continues after it is not part of it. */
  isOver: boolean;
}

/** Another request has the key: it was done at the same moment, here or in another process. */
export class KeyTaken extends Error {}

// Every transaction of a request passes the same place, wherever in the service it is begun.
const claims = new AsyncLocalStorage<Claim>();

/**
 * Runs a request under its key, which is kept with the first transaction of it.
 *
 * @param fileId the file that an earlier attempt made
 * @param hasSecret whether what its transaction gives must not be kept
 * @returns what came of it, and whether the key was kept
 */
export async function underKey<T>(
  key: RequestKey,
  {
    now,
    fileId,
    hasSecret = false,
  }: { readonly now: number; readonly fileId?: number | undefined; readonly hasSecret?: boolean },
  work: () => Promise<T>,
): Promise<{ readonly isKept: boolean } & ({ readonly result: T } | { readonly error: unknown })> {
  const known = fileId === undefined ? {} : { fileId };
  const claim: Claim = {
    ...key,
    ...known,
    mayKeepMade: !hasSecret,
    created: isoTime(now),
    isKept: fileId !== undefined,
    isOver: false,
  };
  try {
    const result = await claims.run(claim, work);
    return { result, isKept: claim.isKept };
  } catch (error) {
    return { error, isKept: claim.isKept };
  } finally {
    claim.isOver = true;
  }
}

/** Says, inside a transaction, what the request makes with it: the answer to a repeated one is made of that. */
export function idempotentReplay(made: { readonly jobId: number } | { readonly fileId: number }): void {
  const claim = claims.getStore();
  if (claim !== undefined && isOpen(claim)) Object.assign(claim, made);
}

/** Says what the transaction of a request gives, before it ends; the last one said counts. */
export function givenByTransaction(kinds: readonly string[], result: unknown): void {
  const claim = claims.getStore();
  if (claim !== undefined && claim.mayKeepMade && isOpen(claim)) claim.made = madeText(kinds, result);
}

/** The file that an earlier attempt of this request made. */
export function fileOfRequest(): number | undefined {
  const claim = claims.getStore();
  return claim?.isKept === true && !claim.isOver ? claim.fileId : undefined;
}

/** How a database names the table of the keys, and the places of values in a statement. */
export interface KeyTable {
  readonly table: string;
  readonly place: (number: number) => string;
}

/** Commits, and keeps the key of the request with it. @throws {KeyTaken} */
export async function keepKey(
  connection: DatabaseConnection,
  { table, place }: KeyTable,
  commit: () => Promise<void>,
): Promise<void> {
  const claim = claims.getStore();
  if (claim === undefined || !isOpen(claim)) return await commit();
  const { token_id, key, digest, jobId: job_id = null, fileId: file_id = null, created } = claim;
  // An answer is made of the job or the file first.
  const made = job_id === null && file_id === null ? (claim.made ?? null) : null;
  const row: Omit<RequestKeyRow, 'answer' | 'status'> = {
    token_id,
    key,
    digest,
    job_id,
    file_id,
    made,
    created,
  };
  const columns = Object.keys(row);
  const places = columns.map((_, i) => place(i + 1));
  const text = `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')}) on conflict do nothing`;
  const kept = await connection.executeQuery(CompiledQuery.raw(text, Object.values(row)));
  if (kept.numAffectedRows !== 1n) throw new KeyTaken();
  await commit();
  claim.isKept = true;
}

function isOpen({ isKept, isOver }: Claim): boolean {
  return !isKept && !isOver;
}
