import type { Env } from '../../../lib/env.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { newSecret } from './console-sessions.ts';
import type { Meta } from './database.ts';
import type { ConsoleLoginRow } from './tables.ts';
import { hashToken } from './tokens.ts';

/** Milliseconds that a person may take to log in at the provider. */
const LOGIN_MS = 10 * 60_000;

/** Secrets of a login that a browser is on its way for. Of each only the hash is stored. */
export interface LoginSecrets {
  /** Value that goes to the provider and comes back. */
  readonly state: string;
  /** Value of a cookie of the browser that began. */
  readonly browser: string;
}

export function newLoginSecrets(env: Env): LoginSecrets {
  return { state: newSecret(env), browser: newSecret(env) };
}

/** Returns the id of a login, by the value that came back from the provider. */
export const loginIdOf = (state: string): string => hashToken(state);

/**
 * Stores a login that begins.
 *
 * @param task encrypted
 * @returns its end
 */
export async function createLogin(
  meta: Meta,
  env: Env,
  { state, browser }: LoginSecrets,
  { session, task }: { readonly session: string; readonly task: string },
): Promise<string> {
  const expires = isoTime(env.now() + LOGIN_MS);
  await meta
    .insertInto('console_logins')
    .values({
      hash: loginIdOf(state),
      session_hash: hashToken(session),
      browser_hash: hashToken(browser),
      task,
      is_taken: 0,
      answer: null,
      expires,
    })
    .execute();
  return expires;
}

/** Finds a login that is not over. @param by what the asker has: its session, or the cookie of the browser that began */
export async function findLogin(
  meta: Meta,
  env: Env,
  id: string,
  by: { readonly browser: string } | { readonly session: string },
): Promise<ConsoleLoginRow | undefined> {
  const found = await meta
    .selectFrom('console_logins')
    .selectAll()
    .where('hash', '=', id)
    .where('expires', '>', isoTime(env.now()))
    .executeTakeFirst();
  const isOwn =
    'browser' in by
      ? found?.browser_hash === hashToken(by.browser)
      : found?.session_hash === hashToken(by.session);
  return isOwn ? found : undefined;
}

/** Takes a login, once: of two that come back with the same state, one gets it. */
export async function takeLogin(meta: Meta, id: string): Promise<boolean> {
  const { numUpdatedRows } = await meta
    .updateTable('console_logins')
    .set({ is_taken: 1 })
    .where('hash', '=', id)
    .where('is_taken', '=', 0)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Stores how a login ended; what it was about is forgotten. */
export async function finishLogin(meta: Meta, id: string, answer: string): Promise<void> {
  await meta.updateTable('console_logins').set({ answer, task: '' }).where('hash', '=', id).execute();
}
