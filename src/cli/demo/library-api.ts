import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { systemEnv } from '../../lib/env.ts';

/** An example API of a library on loopback: a list with a cursor, and a search that is followed by a scroll. */
export interface LibraryApi {
  readonly baseUrl: string;
  /** Returns the requests since the last call, in order, each with its rows. */
  takeRequests(): readonly SeenRequest[];
  /** Adds a book. */
  addBook(title: string, author: string): void;
  close(): Promise<void>;
}

export interface SeenRequest {
  readonly line: string;
  readonly body: string;
  readonly answer: string;
}

interface Book {
  readonly id: number;
  readonly title: string;
  readonly author: { readonly name: string };
  readonly tags: readonly string[];
  /** Unix seconds. */
  readonly added: number;
}

const PAGE_SIZE = 3;

/** Requests that are remembered for {@link LibraryApi.takeRequests}. */
const REMEMBERED = 1000;

export async function startLibraryApi({
  port = 0,
  now = systemEnv.now(),
  onRequest,
}: {
  /** Default: a free one. */
  readonly port?: number;
  /** Milliseconds since 1970: the books came in during the week before. */
  readonly now?: number;
  readonly onRequest?: (request: SeenRequest) => void;
} = {}): Promise<LibraryApi> {
  const books = firstBooks(Math.floor(now / 1000));
  let seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const answer = answerTo(request, body, books);
      const brought = answer.status === 200 ? described(answer.json) : `status ${answer.status}`;
      const one = { line: `${request.method} ${request.url}`, body, answer: brought };
      seen = [...seen.slice(1 - REMEMBERED), one];
      onRequest?.(one);
      send(response, answer);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const taken = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${taken}/v1/`,
    takeRequests() {
      const taken = seen;
      seen = [];
      return taken;
    },
    addBook(title, author) {
      books.push({
        id: books.length + 1,
        title,
        author: { name: author },
        tags: ['new'],
        added: Math.floor(systemEnv.now() / 1000),
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/**
 * Answers a request of the demo API.
 *
 * - `GET /v1/books?since=TIME` gives a page and `meta.next`, the cursor of the next one (null at the end)
 * - `POST /v1/search {"q": TEXT}` gives the first hits and a scroll token
 * - `GET /v1/scroll?token=TOKEN` gives the following hits, and no token at the end
 */
function answerTo(request: IncomingMessage, body: string, books: readonly Book[]): Answer {
  const url = new URL(request.url ?? '', 'http://localhost');
  const value = (name: string): string => url.searchParams.get(name) ?? '';
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /v1/books': {
      const [from = '0', since = '0'] =
        value('cursor') === '' ? ['0', value('since')] : value('cursor').split('-');
      const page = pageOf(
        books.filter(({ added }) => added >= Number(since)),
        Number(from),
      );
      return ok({
        books: page.items,
        meta: { next: page.next === undefined ? null : `${page.next}-${since}` },
      });
    }
    case 'POST /v1/search': {
      const words = wordsOf(body);
      return words === undefined
        ? { status: 400, json: { message: 'the body is to be {"q": "…"}' } }
        : hits(books, words, 0);
    }
    case 'GET /v1/scroll': {
      const [from = '0', words = ''] = value('token').split('-');
      return hits(books, words, Number(from));
    }
    default:
      return { status: 404, json: { message: 'no such resource' } };
  }
}

function wordsOf(body: string): string | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && 'q' in value) return String(value.q).toLowerCase();
  } catch {
    // what is no JSON has no words
  }
  return undefined;
}

function hits(books: readonly Book[], words: string, from: number): Answer {
  const found = books.filter(({ title }) => title.toLowerCase().includes(words));
  const page = pageOf(found, from);
  const items = page.items.map(({ id, title }) => ({ book: id, title }));
  return ok({ hits: items, scroll: page.next === undefined ? {} : { token: `${page.next}-${words}` } });
}

function pageOf<T>(items: readonly T[], from: number): { items: readonly T[]; next: number | undefined } {
  const to = from + PAGE_SIZE;
  return { items: items.slice(from, to), next: to < items.length ? to : undefined };
}

function ok(json: Answer['json']): Answer {
  return { status: 200, json };
}

function described(json: Answer['json']): string {
  const [rows = []] = Object.values(json).filter((value): value is unknown[] => Array.isArray(value));
  const { meta, scroll } = json as { meta?: { next: string | null }; scroll?: { token?: string } };
  const next = meta?.next ?? scroll?.token;
  return `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}${next === undefined ? ', the end' : `, next: ${next}`}`;
}

function send(response: ServerResponse, { status, json }: Answer): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(json));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // a request without an encoding gives buffers
  return Buffer.concat(chunks).toString('utf8');
}

function firstBooks(nowSeconds: number): Book[] {
  const lastWeek = nowSeconds - 7 * 86_400;
  const rows: [string, string, string[]][] = [
    ['The Sea, The Sea', 'Iris Murdoch', ['novel', 'prize']],
    ['Middlemarch', 'George Eliot', ['novel']],
    ['The Sea-Wolf', 'Jack London', ['novel', 'ship']],
    ['To the Lighthouse', 'Virginia Woolf', ['novel']],
    ['The Old Man and the Sea', 'Ernest Hemingway', ['short', 'prize']],
    ['Wide Sargasso Sea', 'Jean Rhys', ['novel']],
    ['Dracula', 'Bram Stoker', []],
  ];
  return rows.map(([title, name, tags], i) => ({
    id: i + 1,
    title,
    author: { name },
    tags,
    added: lastWeek + i * 3600,
  }));
}
