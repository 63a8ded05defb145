import type { Env } from '../../../lib/env.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from './database.ts';
import type { TokenRow } from './tables.ts';
import { hashToken } from './tokens.ts';

/** Milliseconds without a request after which a session ends. */
const IDLE_MS = 12 * 3_600_000;
/** Milliseconds after which a session ends, however much it is used. */
const LONGEST_MS = 7 * 86_400_000;
/** A code is used at once, by a browser on its way. */
const CODE_MS = 10 * 60_000;
/** Sessions are used many times a second; that is written down less often. */
const USED_MS = 60_000;

export interface ConsoleSession {
  readonly token: TokenRow;
  readonly expires: string;
}

/** @returns what the browser is to keep, and show with every request */
export async function createSession(meta: Meta, env: Env, token: TokenRow): Promise<string> {
  const secret = newSecret(env);
  const now = env.now();
  await meta
    .insertInto('console_sessions')
    .values({
      hash: hashToken(secret),
      token_id: token.id,
      token_hash: token.hash,
      created: isoTime(now),
      used: isoTime(now),
      expires: isoTime(now + IDLE_MS),
    })
    .execute();
  return secret;
}

/** The session and its token; undefined when it is over, or its token is gone, or has another secret. Prolongs it. */
export async function findSession(meta: Meta, env: Env, secret: string): Promise<ConsoleSession | undefined> {
  return await findSessionByHash(meta, env, hashToken(secret));
}

/** The same, by what is stored of its secret. */
export async function findSessionByHash(
  meta: Meta,
  env: Env,
  hash: string,
): Promise<ConsoleSession | undefined> {
  const now = env.now();
  const session = await meta
    .selectFrom('console_sessions')
    .selectAll()
    .where('hash', '=', hash)
    .where('expires', '>', isoTime(now))
    .executeTakeFirst();
  if (session === undefined) return undefined;
  const token = await tokenOf(meta, session, now);
  if (token === undefined) return undefined;
  const { created, used, expires } = session;
  if (now - Date.parse(used) < USED_MS) return { token, expires };
  const until = isoTime(Math.min(now + IDLE_MS, Date.parse(created) + LONGEST_MS));
  await meta
    .updateTable('console_sessions')
    .set({ used: isoTime(now), expires: until })
    .where('hash', '=', hash)
    .execute();
  return { token, expires: until };
}

export async function endSession(meta: Meta, secret: string): Promise<void> {
  await meta.deleteFrom('console_sessions').where('hash', '=', hashToken(secret)).execute();
}

/** Makes a code by which a browser may sign in with that token, once. */
export async function createCode(meta: Meta, env: Env, token: TokenRow): Promise<string> {
  const code = newSecret(env);
  await meta
    .insertInto('console_codes')
    .values({
      hash: hashToken(code),
      token_id: token.id,
      token_hash: token.hash,
      expires: isoTime(env.now() + CODE_MS),
    })
    .execute();
  return code;
}

/** The token of a code, which is used up by that: of two that ask at the same time, one gets it. */
export async function useCode(meta: Meta, env: Env, code: string): Promise<TokenRow | undefined> {
  const used = await meta
    .deleteFrom('console_codes')
    .where('hash', '=', hashToken(code))
    .returningAll()
    .executeTakeFirst();
  if (used === undefined || Date.parse(used.expires) <= env.now()) return undefined;
  return await tokenOf(meta, used, env.now());
}

/** Forgets so many sessions, codes and logins that are over. @returns how many there were */
export async function forgetSessions(meta: Meta, now: string, count: number): Promise<number> {
  let forgotten = 0;
  for (const table of ['console_sessions', 'console_codes', 'console_logins'] as const) {
    const over = meta.selectFrom(table).select('hash').where('expires', '<=', now).limit(count);
    const { numDeletedRows } = await meta
      .deleteFrom(table)
      .where('hash', 'in', over)
      .executeTakeFirstOrThrow();
    forgotten += Number(numDeletedRows);
  }
  return forgotten;
}

async function tokenOf(
  meta: Meta,
  of: { readonly token_id: number; readonly token_hash: string },
  now: number,
): Promise<TokenRow | undefined> {
  const token = await meta
    .selectFrom('tokens')
    .selectAll()
    .where('id', '=', of.token_id)
    .where('hash', '=', of.token_hash)
    .executeTakeFirst();
  const isOver = token === undefined || (token.expires !== null && Date.parse(token.expires) <= now);
  return isOver ? undefined : token;
}

// 240 random bits, as of a token: there is nothing to guess.
export function newSecret(env: Env): string {
  return Buffer.from(env.randomBytes(30)).toString('base64url');
}
