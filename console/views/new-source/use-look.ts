import { useEffect, useRef, useState } from 'preact/hooks';
import { client, type Found } from '../../data/client.ts';
import { authOf, type Login } from './login.ts';

export interface Look {
  readonly isBusy: boolean;
  readonly steps: readonly string[];
  readonly error: unknown;
  readonly isStopped: boolean;
  readonly start: (source: string, login: Login, logins?: string, how?: Again) => void;
  /** Looks at the same text once more: at another list of it, or with more requests. */
  readonly again: (how: Again) => void;
  readonly stop: () => void;
}

export interface Again {
  readonly select?: string;
  readonly maxRequests?: number;
  /** Asks for each list of a document. */
  readonly tries?: boolean;
}

/** Looks at an API, one at a time; leaving the page ends it at the service, too. */
export function useLook(onFound: (found: Found) => void, onLogins: (logins: string) => void): Look {
  const [state, setState] = useState<Omit<Look, 'again' | 'start' | 'stop'>>({
    isBusy: false,
    steps: [],
    error: undefined,
    isStopped: false,
  });
  const running = useRef<AbortController | undefined>(undefined);
  const last = useRef<Asked | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  function takeLogins(renewed: string): void {
    if (last.current !== undefined) last.current = { ...last.current, logins: renewed };
    onLogins(renewed);
  }

  async function look({ source, login, logins, ...how }: Asked, own: AbortController): Promise<void> {
    const auth = authOf(login);
    const onStep = (step: string): void =>
      setState((before) =>
        own === running.current ? { ...before, steps: [...before.steps, step] } : before,
      );
    try {
      const found = await client().workshop.explore(
        {
          source,
          ...(auth === undefined ? {} : { auth }),
          ...(logins === undefined ? {} : { logins }),
          ...how,
        },
        { onStep, onLogins: takeLogins, signal: own.signal },
      );
      if (own.signal.aborted) return;
      setState((before) => ({ ...before, isBusy: false }));
      onFound(found);
    } catch (error) {
      if (!own.signal.aborted) setState((before) => ({ ...before, isBusy: false, error }));
    }
  }

  function begin(asked: Asked): void {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    last.current = asked;
    setState({ isBusy: true, steps: [], error: undefined, isStopped: false });
    void look(asked, own);
  }

  return {
    ...state,
    start: (source, login, logins, how) =>
      begin({ source, login, ...(logins === undefined ? {} : { logins }), ...how }),
    again(how) {
      if (last.current !== undefined) begin({ ...last.current, ...how });
    },
    stop() {
      running.current?.abort();
      setState((before) => ({ ...before, isBusy: false, isStopped: true }));
    },
  };
}

interface Asked extends Again {
  readonly source: string;
  readonly login: Login;
  /** Logins of persons, encrypted. */
  readonly logins?: string;
}
