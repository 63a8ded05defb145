import { BASE } from '../route/router.ts';
import { contact } from './contact.ts';
import { sessionState } from './session.ts';

/** Kinds of things whose changes the service tells of. */
export type Topic = 'alerts' | 'configurations' | 'jobs' | 'runs' | 'schedules' | 'tables';

export interface ChangesFollower {
  /** Lists of these topics are to be asked for anew; of all when it is not known what has changed meanwhile. */
  onChange(topics: readonly Topic[] | 'all'): void;
}

/** Lists are asked for no more often, however much changes. */
const REST_MS = 2000;
/** Pause before the stream is opened again after a failure. */
const AGAIN_MS = 5000;

let followers = 0;
let follower: ChangesFollower | undefined;
let source: EventSource | undefined;
let again: ReturnType<typeof setTimeout> | undefined;
let rest: ReturnType<typeof setTimeout> | undefined;
let isLive = false;
const changed = new Set<Topic>();

/** Tells whether changes are told of: nobody has to ask now and then. */
export const areChangesTold = (): boolean => isLive;

/** Names who is told of changes, once for the page. */
export function tellOfChanges(to: ChangesFollower): void {
  follower = to;
}

/** Follows the changes while somebody wants to, and the page is seen. @returns a function that ends it */
export function followChanges(): () => void {
  followers += 1;
  attune();
  return () => {
    followers -= 1;
    // The next view follows at once, most often.
    setTimeout(attune, 0);
  };
}

document.addEventListener('visibilitychange', attune);
contact.subscribe(attune);
sessionState.subscribe(attune);

/** Opens the stream or closes it, as it is wanted now. */
function attune(): void {
  const isWanted =
    followers > 0 &&
    typeof EventSource === 'function' &&
    document.visibilityState === 'visible' &&
    contact.get() === 'there' &&
    sessionState.get()?.kind === 'in';
  if (isWanted && source === undefined && again === undefined) open();
  if (!isWanted) close();
}

function open(): void {
  const own = new EventSource(`${BASE}/v2/storage/changes`);
  source = own;
  own.addEventListener('change', ({ data }: MessageEvent<string>) => {
    const { topics } = JSON.parse(data) as { readonly topics: readonly Topic[] }; // of our own service
    if (!isLive) {
      isLive = true;
      // Nobody tells of changes before the stream began.
      follower?.onChange('all');
    }
    for (const topic of topics) changed.add(topic);
    if (changed.size > 0) rest ??= setTimeout(tell, REST_MS);
  });
  own.addEventListener('error', () => {
    close();
    again = setTimeout(() => {
      again = undefined;
      attune();
    }, AGAIN_MS);
    // So that it is asked for now and then from here on.
    follower?.onChange('all');
  });
}

function tell(): void {
  rest = undefined;
  const topics = [...changed];
  changed.clear();
  follower?.onChange(topics);
}

function close(): void {
  source?.close();
  source = undefined;
  isLive = false;
}
