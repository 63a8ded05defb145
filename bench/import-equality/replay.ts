import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request of the other tool, and what it was answered. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Null for a login. */
  readonly stream: string | null;
  readonly answer: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

/** Error for what the other tool has not asked for. */
export const NEVER_ASKED = 'never asked there';

/** Answers as the other tool was answered; what it never asked for gets an error, and is noted. */
export class Replay {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #answers = new Map<string, Exchange[]>();
  asked: string[] = [];

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Forgets what was asked, and answers as in these exchanges from now on. */
  take(exchanges: readonly Exchange[]): void {
    this.asked = [];
    this.#answers = Map.groupBy(exchanges, (each) => keyOf(each.method, each.url, each.headers, each.body));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const key = keyOf(request.method ?? '', request.url ?? '', headers, body);
    this.asked.push(key);
    // the moment of the run is another one
    response.sendDate = false;
    const known = this.#answers.get(key);
    const exchange = known !== undefined && known.length > 1 ? known.shift() : known?.[0];
    if (exchange === undefined) {
      response
        .writeHead(418, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: NEVER_ASKED }));
      return;
    }
    response.writeHead(exchange.answer.status, exchange.answer.headers).end(exchange.answer.body);
  }
}

/** Headers that say nothing of what is asked for. */
const OWN_HEADERS =
  /^(user-agent|accept|accept-encoding|connection|host|content-length|transfer-encoding|cookie)$/i;

/** Returns a request in one form: parameters sorted and decoded, JSON without blanks, parts of a form sorted. */
export function keyOf(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): string {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  const query = [...searchParams].map(([name, value]) => `${name}=${value}`).toSorted();
  const others = Object.entries(headers)
    .filter(([name]) => !OWN_HEADERS.test(name) && (body !== '' || !/^content-type$/i.test(name)))
    .map(([name, value]) => `${name.toLowerCase()}: ${value.replace(/; ?charset=utf-8$/i, '')}`)
    .toSorted();
  const route = safelyDecoded(pathname).replaceAll(/\/+$/g, '');
  const sent = compact(body);
  return [
    `${method} ${route}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    ...others,
    ...(sent === '' ? [] : [sent]),
  ].join(' | ');
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function compact(body: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(body)));
  } catch {
    return body.includes('=') && !body.includes('{')
      ? [...new URLSearchParams(body)]
          .map((pair) => pair.join('='))
          .toSorted()
          .join('&')
      : body;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
