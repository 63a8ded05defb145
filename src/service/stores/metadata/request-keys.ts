import { isoTime } from '../../../lib/iso-time.ts';
import type { RequestKey } from './idempotency-keys.ts';
import type { Meta } from './database.ts';
import type { RequestKeyRow } from './tables.ts';

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
