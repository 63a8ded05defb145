import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../domain/context.ts';
import { Answer } from './answer.ts';

/** Event of a stream, as `EventSource` takes it. */
export interface ServerEvent {
  /** Position that a client sends as `Last-Event-ID` when it connects again, to continue from there. */
  readonly id?: string;
  /** Name of the event. Default: `message`. */
  readonly event?: string;
  /** Content, sent as JSON. */
  readonly data: unknown;
}

/** Milliseconds after which a silent stream sends something, for proxies and clients that wait. */
const BEAT_MS = 15_000;
/** Milliseconds that a client waits before it connects again. */
const RETRY_MS = 2000;

/**
 * Makes a stream of events, for as long as there are any and the client listens. It is no faster than its reader, and
 * ends when the service stops: clients connect again, to another process or to this one when it is back.
 *
 * @param events ends when the signal says that the client has gone
 * @param options.onEnd is called once, also when no client began to listen
 */
export function eventStream(
  { readiness, env }: Pick<Context, 'env' | 'readiness'>,
  events: (signal: AbortSignal) => AsyncIterable<ServerEvent>,
  { beatMs = BEAT_MS, onEnd }: { readonly beatMs?: number; readonly onEnd?: () => void } = {},
): Answer {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, readiness.stopping]);
  const stream = Readable.from(frames(), { objectMode: false });
  const destroy = stream._destroy.bind(stream);
  // It closes when its events have ended: of one that is cut they would go on to the next one, or a heartbeat.
  stream._destroy = (error, done) => {
    over.abort();
    destroy(error, done);
  };
  stream.once('close', () => onEnd?.());
  return new Answer(200, stream, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });

  async function* frames(): AsyncGenerator<string, void> {
    yield `retry: ${RETRY_MS}\n\n`;
    const source = events(signal)[Symbol.asyncIterator]();
    let next = source.next();
    while (!signal.aborted) {
      const found = await firstOf(next);
      if (signal.aborted) break;
      if (found === undefined) {
        yield ': still here\n\n';
        continue;
      }
      if (found.done === true) return;
      yield frameOf(found.value);
      next = source.next();
    }
    // An error because of the signal is expected.
    next.catch(() => undefined);
  }

  /** Returns the next event; undefined when a heartbeat is due, or at the end. */
  async function firstOf<T>(next: Promise<T>): Promise<T | undefined> {
    const isFound = new AbortController();
    const beat = env.sleep(beatMs, AbortSignal.any([isFound.signal, signal])).catch(() => undefined);
    try {
      return (await Promise.race([next, beat])) ?? undefined;
    } finally {
      isFound.abort();
    }
  }
}

/** Returns the position of a client that connects again. */
export function lastEventId({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const id = headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function frameOf({ id, event, data }: ServerEvent): string {
  // JSON has no line breaks of its own, so one line of data is enough.
  const lines = [
    id === undefined ? '' : `id: ${oneLine(id)}\n`,
    event === undefined ? '' : `event: ${oneLine(event)}\n`,
  ];
  return `${lines.join('')}data: ${JSON.stringify(data)}\n\n`;
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, ' ');
