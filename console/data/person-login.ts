import { useEffect, useRef, useState } from 'preact/hooks';
import type { Json } from '../../src/lib/json/value.ts';
import { encodeExact } from '../../src/lib/json/encode.ts';
import { BASE } from '../route/router.ts';
import { branch, type LoginProgress, type StartedLogin } from './client.ts';

/** Target of a login: a source that is saved, or one that is not saved yet. */
export type LoginSubject =
  | { readonly document: Json }
  | { readonly component: string; readonly configuration: string; readonly row?: string | undefined };

export type DoneLogin = NonNullable<LoginProgress['login']>;

export type PersonLoginState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'waiting'; readonly started: StartedLogin; readonly isExchanging: boolean }
  | { readonly kind: 'failed'; readonly error: Error };

export interface PersonLogin {
  readonly state: PersonLoginState;
  readonly start: (subject: LoginSubject) => void;
  readonly cancel: () => void;
}

/** Address that the provider sends the browser back to: many providers want it to be registered. */
export const REDIRECT_URI = `${window.location.origin}${BASE}/console/logins/callback`;

const POLL_MS = 1000;

/** Logs a person in to an API in another tab, one at a time. */
export function usePersonLogin(onDone: (login: DoneLogin) => void): PersonLogin {
  const [state, setState] = useState<PersonLoginState>({ kind: 'idle' });
  const running = useRef<AbortController | undefined>(undefined);
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => () => running.current?.abort(), []);

  async function follow(subject: LoginSubject, own: AbortController): Promise<void> {
    try {
      const started = (await ask('POST', '', own.signal, bodyOf(subject))) as StartedLogin;
      setState({ kind: 'waiting', started, isExchanging: false });
      // The page of the provider learns nothing of this one.
      window.open(started.address, '_blank', 'noopener,noreferrer');
      for (;;) {
        await pause(own.signal);
        const { status, error, login } = (await ask('GET', `/${started.id}`, own.signal)) as LoginProgress;
        if (own.signal.aborted) return;
        if (status === 'failed') throw new Error(error);
        if (status === 'done') {
          setState({ kind: 'idle' });
          if (login !== undefined) done.current(login);
          return;
        }
        setState({ kind: 'waiting', started, isExchanging: status === 'exchanging' });
      }
    } catch (error) {
      if (own.signal.aborted) return;
      setState({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  return {
    state,
    start(subject) {
      running.current?.abort();
      const own = new AbortController();
      running.current = own;
      setState({ kind: 'starting' });
      void follow(subject, own);
    },
    cancel() {
      running.current?.abort();
      setState({ kind: 'idle' });
    },
  };
}

function bodyOf(subject: LoginSubject): string {
  if ('document' in subject) return encodeExact({ document: subject.document });
  return JSON.stringify({
    ...subject,
    ...(branch.get() === undefined ? {} : { branch: String(branch.get()) }),
  });
}

async function ask(
  method: 'GET' | 'POST',
  path: string,
  signal: AbortSignal,
  body?: string,
): Promise<unknown> {
  const response = await fetch(`${BASE}/console/logins${path}`, {
    method,
    headers: { 'X-Console': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    cache: 'no-store',
    signal,
    ...(body === undefined ? {} : { body }),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const { error } = (answer ?? {}) as { error?: unknown }; // of the service, or of anything
  throw new Error(typeof error === 'string' ? error : `The service answered with status ${response.status}.`);
}

async function pause(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, POLL_MS);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
  signal.throwIfAborted();
}
