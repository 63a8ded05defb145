import { BASE } from '../route/router.ts';
import { branch, type Run } from './client.ts';

export interface Follower {
  onOpen(): void;
  onRun(run: Run): void;
  onEnd(): void;
  /** Notes that the connection is cut. If it is not for good, the browser reconnects by itself. */
  onAway(isForGood: boolean): void;
}

/** Follows how a run stands by a stream of events; its log is asked for by whoever shows it. @returns what ends it */
export function followRun(id: string, follower: Follower): () => void {
  const of = branch.get();
  const place = of === undefined ? '' : `branch/${of}/`;
  // Behind the end of any log.
  const query = `offset=${Number.MAX_SAFE_INTEGER}`;
  const source = new EventSource(`${BASE}/v2/storage/${place}runs/${encodeURIComponent(id)}/events?${query}`);
  source.addEventListener('open', () => follower.onOpen());
  source.addEventListener('run', ({ data }: MessageEvent<string>) => {
    // The data comes from our own service.
    follower.onRun(JSON.parse(data) as Run);
  });
  source.addEventListener('end', () => {
    source.close();
    follower.onEnd();
  });
  source.addEventListener('error', () => follower.onAway(source.readyState === EventSource.CLOSED));
  return () => source.close();
}
