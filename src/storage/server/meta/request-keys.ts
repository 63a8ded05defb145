import { isoTime } from '../shapes/time.ts';
import type { RequestKey } from './claims.ts';
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

/** Keeps what was answered; of a request that had no transaction, also that it was done. */
export async function keepAnswer(
  meta: Meta,
  key: RequestKey,
  answer: { readonly status: number; readonly answer: string | null; readonly now: number },
): Promise<void> {
  const { status, answer: text, now } = answer;
  await meta
    .insertInto('request_keys')
    .values({ ...key, job_id: null, file_id: null, status, answer: text, created: isoTime(now) })
    .onConflict((conflict) =>
      conflict
        .columns(['token_id', 'key'])
        .doUpdateSet({ status, answer: text })
        .where('request_keys.status', 'is', null),
    )
    .execute();
}
