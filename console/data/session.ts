import { BASE } from '../route/router.ts';
import { createStore } from './store.ts';

/** Signed-in token, and the features of the service. */
export interface Session {
  readonly isSignedIn: true;
  readonly version: string;
  readonly expires: string;
  readonly token: {
    readonly id: string;
    readonly description: string;
    readonly isMaster: boolean;
    readonly canManageBuckets: boolean;
    readonly canReadAllFiles: boolean;
    /** True when it changes nothing, whatever its other rights are. */
    readonly isReadOnly: boolean;
    /** Rights of a limited token: the id of a bucket, and `read`, `write` or `manage`. */
    readonly buckets: Readonly<Record<string, string>>;
    /** Components whose sources a limited token may use. */
    readonly components: readonly string[];
    readonly expires: string | null;
  };
  readonly project: { readonly id: string; readonly name: string };
  readonly database: 'postgresql' | 'sqlite';
  readonly runs: boolean;
  readonly roles: readonly string[];
}

/** Undefined until it is known; `ended` when one was there, and the views stay as they are below the sign-in. */
export type SessionState =
  | undefined
  | { readonly kind: 'in'; readonly session: Session }
  | { readonly kind: 'out' }
  | { readonly kind: 'ended'; readonly session: Session };

export const sessionState = createStore<SessionState>(undefined);

/** Returns the session, for components that only signed-in users see. */
export function currentSession(): Session {
  const state = sessionState.get();
  if (state === undefined || state.kind === 'out') throw new Error('Nobody is signed in.');
  return state.session;
}

const isForAll = (): boolean => {
  const { isMaster, canManageBuckets } = currentSession().token;
  return isMaster || canManageBuckets;
};

/** Tells whether the token may change anything that is not its own. */
export function mayChangeAny(): boolean {
  const { buckets, components, isReadOnly } = currentSession().token;
  if (isReadOnly) return false;
  return isForAll() || components.length > 0 || Object.values(buckets).some((right) => right !== 'read');
}

/** Tells whether the token may change tables of a bucket; of any when none is named. */
export function mayWrite(bucket?: string): boolean {
  const { buckets, isReadOnly } = currentSession().token;
  if (isReadOnly) return false;
  const given = bucket === undefined ? Object.values(buckets) : [buckets[bucket]];
  return isForAll() || given.some((right) => right === 'write' || right === 'manage');
}

/** Tells whether the token may delete a bucket. */
export const mayManage = (bucket: string): boolean =>
  mayWrite(bucket) && (isForAll() || currentSession().token.buckets[bucket] === 'manage');

/** Tells whether the token may make buckets. */
export function mayMakeBuckets(): boolean {
  const { canManageBuckets, isReadOnly } = currentSession().token;
  return canManageBuckets && !isReadOnly;
}

/** Tells whether the token may see sources of a component and their runs; of any when none is named. */
export function maySee(component?: string): boolean {
  const { components } = currentSession().token;
  return isForAll() || (component === undefined ? components.length > 0 : components.includes(component));
}

/** Tells whether the token may change sources of a component, and run them; of any when none is named. */
export const mayUse = (component?: string): boolean =>
  maySee(component) && !currentSession().token.isReadOnly;

/** Tells whether the token may change files and jobs of a token: its own, or all; and make its own. */
export function mayChangeOf(creator?: number | string): boolean {
  const { id, isMaster, isReadOnly } = currentSession().token;
  return !isReadOnly && (creator === undefined || isMaster || String(creator) === id);
}

/** Ends the session after the service has rejected it. */
export function endSession(): void {
  const state = sessionState.get();
  if (state?.kind === 'in') sessionState.set({ kind: 'ended', session: state.session });
}

// The tabs of a browser have one session: who signs in by a link, which opens a tab of its own, goes on in all of them.
const tabs = new BroadcastChannel(`session ${BASE}`);
tabs.addEventListener('message', () => {
  // A service that does not answer is told of by whoever asks it next.
  lookAtSession().catch(() => undefined);
});

function tellTabs(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin, and takes none
  tabs.postMessage('The session is another.');
}

export class SignInError extends Error {}

/**
 * Starts a session with the code of the link that was opened, if there is one: it is removed from the address before it
 * is used.
 */
export async function startSession(): Promise<void> {
  const code = /^#code=([\w-]+)$/.exec(window.location.hash)?.[1];
  if (code === undefined) return await lookAtSession();
  history.replaceState(history.state, '', window.location.pathname + window.location.search);
  try {
    await signIn({ code });
  } catch (error) {
    // A link that was opened twice, in a browser that is signed in already.
    await lookAtSession();
    if (sessionState.get()?.kind !== 'in') throw error;
  }
}

export async function lookAtSession(): Promise<void> {
  accept(await ask('GET'));
}

/** @throws {SignInError} in words for people */
export async function signIn(by: { readonly code: string } | { readonly token: string }): Promise<void> {
  accept(await ask('POST', by));
  tellTabs();
}

export async function signOut(): Promise<void> {
  await ask('DELETE');
  tellTabs();
  // A new page load drops everything that was shown.
  window.location.assign(`${BASE}/`);
}

async function ask(method: 'DELETE' | 'GET' | 'POST', body?: object): Promise<unknown> {
  const response = await fetch(`${BASE}/console/session`, {
    method,
    headers: { 'X-Console': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    cache: 'no-store',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new SignInError('The service does not answer. Check that it runs, and try again.', {
      cause: error,
    });
  });
  if (response.status === 204) return undefined;
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new SignInError(wordsOf(response.status, answer));
}

function wordsOf(status: number, answer: unknown): string {
  const { code, error } = (answer ?? {}) as { code?: unknown; error?: unknown }; // of the service, or of anything
  if (code === 'storage.tokenInvalid') return 'That token is not known here, or has expired.';
  return typeof error === 'string' ? error : `The service answered with status ${status}.`;
}

function accept(answer: unknown): void {
  const found = answer as Session | { isSignedIn: false } | undefined; // of our own service
  if (found?.isSignedIn === true) sessionState.set({ kind: 'in', session: found });
  else if (sessionState.get()?.kind === 'in') endSession();
  else if (sessionState.get() === undefined) sessionState.set({ kind: 'out' });
}
