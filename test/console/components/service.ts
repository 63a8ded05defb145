import { vi } from 'vitest';
import type { Session } from '../../../console/data/session.ts';
import { sessionState } from '../../../console/data/session.ts';

/** A request that a component sent: `GET tables`, its query and its body. */
export interface Asked {
  readonly what: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/**
 * Answers in the place of the service, by method and path below `/v2/storage/`, and returns what is asked. A request
 * that has no answer here is refused.
 */
export function answer(answers: Readonly<Record<string, unknown>>): readonly Asked[] {
  const asked: Asked[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const { pathname, searchParams: query } = new URL(input instanceof Request ? input.url : input);
    const path = pathname.replace(/^\/v2\/storage\/?(?:branch\/\w+\/)?/, '');
    const what = `${init?.method ?? 'GET'} ${path}`.trim();
    asked.push({ what, query, body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined });
    if (answers[what] !== undefined) return Response.json(answers[what]);
    return Response.json({ error: `Nobody may ask ${what}.`, code: 'storage.forbidden' }, { status: 403 });
  });
  return asked;
}

/** Signs in with a token that may do all, but for what is given. */
export function signIn(token: Partial<Session['token']> = {}): void {
  const session: Session = {
    isSignedIn: true,
    version: '1.0.0',
    expires: '2030-01-01T00:00:00Z',
    token: {
      id: '1',
      description: 'Master token',
      isMaster: true,
      canManageBuckets: true,
      canReadAllFiles: true,
      isReadOnly: false,
      buckets: {},
      components: [],
      expires: null,
      ...token,
    },
    project: { id: '1', name: 'Shop' },
    database: 'sqlite',
    runs: true,
    roles: ['api', 'worker', 'runner'],
  };
  sessionState.set({ kind: 'in', session });
}

/** Rights of a token that was made for one bucket. */
export const LIMITED: Partial<Session['token']> = {
  id: '7',
  description: 'reader',
  isMaster: false,
  canManageBuckets: false,
  canReadAllFiles: false,
};
