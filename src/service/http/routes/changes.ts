import type { Context } from '../../domain/context.ts';
import { readStamps, type ChangeStamps } from '../../stores/metadata/change-stamps.ts';
import { eventStream, type ServerEvent } from '../event-stream.ts';
import { routesOf, type Route } from '../route.ts';
import { takePlace } from '../run-events.ts';

const route = routesOf('Events');

/** Milliseconds between two looks at the database, for all clients of a process together. */
const LOOK_MS = 1000;
/** Milliseconds after which a client must connect again, with its credentials. */
const LONGEST_MS = 10 * 60_000;

/** Makes the route that says what has changed, for pages that show lists. */
export function changeRoutes(context: Context): Route[] {
  const look = sharedLook(context);
  return [
    route('GET', '/changes', {
      summary: 'What changes, as a stream of server-sent events `change` with the names of the lists',
      handle: async ({ caller }) => {
        const onEnd = takePlace(caller.id);
        return await Promise.resolve(
          eventStream(context, (signal) => followChanges(context, look, signal), { onEnd }),
        );
      },
    }),
  ];
}

/** Yields the topics whose lists are others than before; none at first. */
async function* followChanges(
  { env }: Pick<Context, 'env'>,
  look: () => Promise<ChangeStamps>,
  gone: AbortSignal,
): AsyncGenerator<ServerEvent, void> {
  const until = env.now() + LONGEST_MS;
  let before = await look();
  yield { event: 'change', data: { topics: [] } };
  while (!gone.aborted && env.now() < until) {
    await env.sleep(LOOK_MS, gone).catch(() => undefined);
    if (gone.aborted) return;
    const now = await look();
    const topics = TOPICS.filter((topic) => now[topic] !== before[topic]);
    before = now;
    if (topics.length > 0) yield { event: 'change', data: { topics } };
  }
}

const TOPICS = ['alerts', 'configurations', 'jobs', 'runs', 'schedules', 'tables'] as const;

/** Returns a function that looks at the database no more often than once in a while, however many ask. */
function sharedLook({ env, meta }: Context): () => Promise<ChangeStamps> {
  let last: { readonly at: number; readonly stamps: Promise<ChangeStamps> } | undefined;
  return async () => {
    const now = env.now();
    if (last === undefined || now - last.at >= LOOK_MS / 2 || now < last.at)
      last = { at: now, stamps: readStamps(meta) };
    return await last.stamps;
  };
}
