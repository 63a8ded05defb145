import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';

/** Way in which the proxy treats a request. */
export type Deed =
  | '504 and late'
  | 'at once'
  | 'cut answer'
  | 'drop'
  | 'hold'
  | 'late twice'
  | 'pass'
  | 'twice';

export interface RoughProxy {
  readonly url: string;
  readonly deeds: Readonly<Record<Deed, number>>;
  /** Sets the targets, used in turn, so that a repeated request meets another process. */
  aim(...targets: readonly [string, ...string[]]): void;
  /** How many of a hundred changing requests do not simply pass. */
  roughen(percent: number): void;
  /** Until everything that is held has arrived. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export interface RoughOptions {
  /** From 0 to 1, evenly. */
  readonly chance: () => number;
  /** A request that is held arrives at most that much later. */
  readonly lateMs: number;
  /** False hides that the service knows keys, and takes the header away. */
  readonly withKeys: boolean;
}

const ROUGH: readonly Deed[] = ['cut answer', 'drop', 'hold', '504 and late'];
/** Deeds in which both of two requests arrive in time: only a service that supports keys can tell that they are one. */
const DOUBLING: readonly Deed[] = ['late twice', 'twice', 'at once'];

/** A proxy that does what bad networks and gateways do to requests that change something. */
export async function startRoughProxy({ chance, lateMs, withKeys }: RoughOptions): Promise<RoughProxy> {
  const state = { targets: [''] as readonly string[], turn: 0, percent: 0 };
  const deeds: Record<Deed, number> = {
    pass: 0,
    'cut answer': 0,
    drop: 0,
    hold: 0,
    'late twice': 0,
    twice: 0,
    '504 and late': 0,
    'at once': 0,
  };
  const rough = withKeys ? [...ROUGH, ...DOUBLING] : ROUGH;
  const held = new Set<Promise<unknown>>();
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const isRough = request.method !== 'GET' && chance() * 100 < state.percent;
    const deed = isRough ? (rough[Math.floor(chance() * rough.length)] ?? 'pass') : 'pass';
    deeds[deed]++;
    const forward = async (): Promise<Response> => await pass(request, body);
    const later = (waitMs = chance() * lateMs): void => {
      const done = sleep(waitMs)
        .then(forward)
        .then(async (answer) => await answer.arrayBuffer())
        .catch(() => undefined) // the service is down: it never arrives
        .finally(() => held.delete(done));
      held.add(done);
    };
    const cut = (): void => void request.socket.destroy();
    if (deed === 'drop') return cut();
    if (deed === 'hold' || deed === 'late twice') {
      later();
      if (deed === 'late twice') later();
      return cut();
    }
    if (deed === '504 and late') {
      later();
      return await send(response, new Response('<html>504 Gateway Time-out</html>', { status: 504 }));
    }
    if (deed === 'twice') later();
    if (deed === 'at once') later(0);
    const answer = await forward();
    return deed === 'cut answer' ? cut() : await send(response, answer);
  }

  async function pass(
    { method = 'GET', url = '', headers }: IncomingMessage,
    body: Buffer,
  ): Promise<Response> {
    const all = new Headers();
    for (const [name, value] of Object.entries(headers))
      if (!SKIPPED.has(name) && (withKeys || name !== 'idempotency-key')) all.set(name, String(value));
    const target = state.targets[state.turn++ % state.targets.length] ?? '';
    const answer = await fetch(target + url, {
      method,
      headers: all,
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    });
    if (withKeys || !url.startsWith('/v2/storage?')) return answer;
    return Response.json({ ...((await answer.json()) as object), features: [] });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    deeds,
    aim: (...targets) => void (state.targets = targets),
    roughen: (percent) => void (state.percent = percent),
    async settled() {
      while (held.size > 0) await Promise.all(held);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SKIPPED: ReadonlySet<string> = new Set(['connection', 'content-length', 'host', 'transfer-encoding']);

async function send(response: ServerResponse, answer: Response): Promise<void> {
  const type = answer.headers.get('content-type') ?? 'text/html';
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { 'Content-Type': type });
  response.end(body);
}
