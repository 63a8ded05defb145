import { useEffect, useRef, useState } from 'preact/hooks';
import { client, type Found } from '../../data/client.ts';
import { authOf, type Login } from './login.ts';

export interface Look {
  readonly isBusy: boolean;
  readonly steps: readonly string[];
  readonly error: unknown;
  readonly isStopped: boolean;
  readonly start: (source: string, login: Login) => void;
  readonly stop: () => void;
}

/** Looks at an API, one at a time; leaving the page ends it at the service, too. */
export function useLook(onFound: (found: Found) => void): Look {
  const [state, setState] = useState<Omit<Look, 'start' | 'stop'>>({
    isBusy: false,
    steps: [],
    error: undefined,
    isStopped: false,
  });
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function look(source: string, login: Login, own: AbortController): Promise<void> {
    const auth = authOf(login);
    const onStep = (step: string): void =>
      setState((before) =>
        own === running.current ? { ...before, steps: [...before.steps, step] } : before,
      );
    try {
      const found = await client().workshop.explore(
        { source, ...(auth === undefined ? {} : { auth }) },
        { onStep, signal: own.signal },
      );
      if (own.signal.aborted) return;
      setState((before) => ({ ...before, isBusy: false }));
      onFound(found);
    } catch (error) {
      if (!own.signal.aborted) setState((before) => ({ ...before, isBusy: false, error }));
    }
  }

  return {
    ...state,
    start(source, login) {
      running.current?.abort();
      const own = new AbortController();
      running.current = own;
      setState({ isBusy: true, steps: [], error: undefined, isStopped: false });
      void look(source, login, own);
    },
    stop() {
      running.current?.abort();
      setState((before) => ({ ...before, isBusy: false, isStopped: true }));
    },
  };
}
