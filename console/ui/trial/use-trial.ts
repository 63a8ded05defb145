import { useEffect, useRef, useState } from 'preact/hooks';
import type { Json } from '../../../src/lib/json/value.ts';
import { client, type Tried } from '../../data/client.ts';

export interface Trial {
  readonly isBusy: boolean;
  /** True when what is being done asks the API. */
  readonly isAsking: boolean;
  readonly steps: readonly string[];
  readonly tried: Tried | undefined;
  readonly error: unknown;
  /** Asks the API for a few pages. */
  readonly start: () => void;
  readonly stop: () => void;
  /** For another API: nothing was tried yet. */
  readonly forget: () => void;
}

const PAGES = 3;
/** One types on. */
const PAUSE_MS = 400;

/** Logins of persons that a page holds, encrypted, and who is told of those that were renewed. */
export interface HeldLogins {
  readonly logins: string | undefined;
  readonly onLogins: (logins: string) => void;
}

/** The stored source that a document belongs to: what was encrypted for it is read, and a row runs alone. */
export interface TrialPlace {
  readonly component: string;
  readonly configuration: string;
  readonly row?: string;
}

interface State {
  readonly isBusy: boolean;
  readonly isAsking: boolean;
  readonly steps: readonly string[];
  readonly tried: Tried | undefined;
  readonly error: unknown;
}

const NOTHING: State = { isBusy: false, isAsking: false, steps: [], tried: undefined, error: undefined };

/**
 * Tries a configuration for a few pages, and once that is done, each change of it over the recorded answers.
 *
 * @param document undefined while there is none that could be tried
 * @param key what stands for the document: the same text, the same trial
 */
export function useTrial(
  document: Json | undefined,
  key: string,
  { held, place }: { readonly held?: HeldLogins; readonly place?: TrialPlace },
): Trial {
  const [state, setState] = useState(NOTHING);
  const running = useRef<AbortController | undefined>(undefined);
  const recording = useRef<string | null>(null);
  /** Key of the document whose tables are shown. */
  const shown = useRef<string | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function run(of: Json, replayed: string | undefined): Promise<void> {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    shown.current = key;
    setState((before) => ({
      ...before,
      isBusy: true,
      isAsking: replayed === undefined,
      steps: [],
      error: undefined,
    }));
    const onStep = (step: string): void =>
      setState((before) =>
        own === running.current ? { ...before, steps: [...before.steps, step] } : before,
      );
    try {
      const tried = await client().workshop.try(
        {
          document: of,
          pages: PAGES,
          ...(replayed === undefined ? {} : { recording: replayed }),
          ...(held?.logins === undefined ? {} : { logins: held.logins }),
          ...place,
        },
        { onStep, onLogins: held?.onLogins, signal: own.signal },
      );
      if (own !== running.current) return;
      recording.current = tried.recording;
      setState((before) => ({
        ...before,
        isBusy: false,
        // The last good result stays visible while a change does not work yet.
        tried:
          replayed !== undefined && tried.error !== undefined && before.tried
            ? { ...before.tried, error: tried.error }
            : tried,
      }));
    } catch (error) {
      if (own === running.current && !own.signal.aborted)
        setState((before) => ({ ...before, isBusy: false, error }));
    }
  }

  useEffect(() => {
    const last = recording.current;
    if (document === undefined || last === null || shown.current === key) return undefined;
    const timer = setTimeout(() => void run(document, last), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [key]);

  return {
    ...state,
    start() {
      if (document !== undefined) void run(document, undefined);
    },
    stop() {
      running.current?.abort();
      setState((before) => ({ ...before, isBusy: false }));
    },
    forget() {
      running.current?.abort();
      running.current = undefined;
      recording.current = null;
      shown.current = undefined;
      setState(NOTHING);
    },
  };
}
