import { useEffect, useState } from 'preact/hooks';
import { client, type Run } from '../../data/client.ts';
import { invalidate, put, useQuery } from '../../data/query.ts';
import { followRun } from '../../data/run-events.ts';
import { isOver } from './words.tsx';

/** Pause before the stream is opened again after a failure. */
const AGAIN_MS = 5000;
const POLL_MS = 1000;

/** Returns the state of a run: by a stream while it is in progress, and by polling if there is none. */
export function useRun(id: string) {
  const [isStreaming, setStreaming] = useState(false);
  const [tries, setTries] = useState(0);
  const query = useQuery<Run>({
    key: ['runs', id],
    load: async (signal) => await client().runs.detail(id, { signal }),
    everyMs: (run) => (run !== undefined && isOver(run) ? false : isStreaming ? 15_000 : POLL_MS),
  });
  const isLive = query.data !== undefined && !isOver(query.data);
  useEffect(() => {
    if (!isLive) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = followRun(id, {
      onOpen: () => setStreaming(true),
      onRun: (run) => put(run, 'runs', id),
      onEnd: () => {
        setStreaming(false);
        void invalidate('runs');
      },
      onAway: (isForGood) => {
        setStreaming(false);
        if (isForGood) timer = setTimeout(() => setTries((count) => count + 1), AGAIN_MS);
      },
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [id, isLive, tries]);
  return query;
}
