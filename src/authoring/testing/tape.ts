import type { ExampleExchange, HeaderRule } from './exchanges.ts';

/** A request as it came over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly target: string;
  /** Without the usual port. */
  readonly host: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/**
 * Recorded exchanges that answer requests. A request is answered by the first exchange that fits and was not used
 * before, or else by the last one that fits: so equal requests may get answers that change, and the last one stays.
 */
export class Tape {
  readonly #exchanges: readonly ExampleExchange[];
  readonly #used = new Set<ExampleExchange>();
  readonly #problems: string[] = [];

  constructor(exchanges: readonly ExampleExchange[]) {
    this.#exchanges = exchanges;
  }

  /** Returns the exchange that answers a request; undefined, with a problem noted, when none fits. */
  answer(asked: WireRequest): ExampleExchange | undefined {
    const fitting = this.#exchanges.filter((exchange) => mismatch(exchange, asked) === undefined);
    const found = fitting.find((exchange) => !this.#used.has(exchange)) ?? fitting.at(-1);
    if (found === undefined) this.#problems.push(unknownRequest(asked, this.#exchanges));
    else this.#used.add(found);
    return found;
  }

  /** Requests that no exchange fits. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Exchanges that nobody asked for. */
  unused(): readonly ExampleExchange[] {
    return this.#exchanges.filter((exchange) => !this.#used.has(exchange));
  }
}

/** Explains why an exchange does not answer a request; undefined when it does. */
function mismatch(exchange: ExampleExchange, asked: WireRequest): string | undefined {
  if (exchange.method !== asked.method)
    return `the method is ${asked.method}, recorded is ${exchange.method}`;
  if (exchange.host !== undefined && exchange.host !== asked.host)
    return `the host is ${asked.host}, recorded is ${exchange.host}`;
  if (exchange.target !== asked.target)
    return `the address is ${asked.target}, recorded is ${exchange.target}`;
  if (exchange.body !== asked.body.trim())
    return `the body is ${shown(asked.body)}, recorded is ${shown(exchange.body)}`;
  for (const rule of exchange.expects) {
    const wrong = wrongHeader(rule, asked);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function wrongHeader({ name, value, isForbidden }: HeaderRule, { headers }: WireRequest): string | undefined {
  const sent = headers[name.toLowerCase()];
  const text = typeof sent === 'string' ? sent : sent?.join(', ');
  if (isForbidden) return text === undefined ? undefined : `the header ${name} was sent and must not be`;
  if (text === undefined) return `the header ${name} was not sent`;
  if (value === undefined || text === value) return undefined;
  return `the header ${name} is ${shown(text)}, recorded is ${shown(value)}`;
}

/** Describes the request, and the recorded one that is most like it, with the differences. */
function unknownRequest(asked: WireRequest, exchanges: readonly ExampleExchange[]): string {
  const lines = [`Unknown request: ${asked.method} ${asked.target} (host ${asked.host})`];
  if (asked.body !== '') lines.push(`  body: ${shown(asked.body)}`);
  const nearest = exchanges
    .map((exchange) => ({ exchange, far: distanceOf(exchange, asked) }))
    .toSorted((a, b) => a.far - b.far)[0]?.exchange;
  if (nearest === undefined) lines.push('  No exchange is recorded.');
  else {
    lines.push(`  nearest recorded: ${nearest.name}.request: ${nearest.method} ${nearest.target}`);
    lines.push(`  ${mismatch(nearest, asked) ?? 'nothing differs'}`);
  }
  return lines.join('\n');
}

/** Characters between the beginning and the end that two requests have in common; another method counts more. */
function distanceOf(exchange: ExampleExchange, asked: WireRequest): number {
  const a = `${exchange.target}\n${exchange.body}`;
  const b = `${asked.target}\n${asked.body.trim()}`;
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return Math.max(a.length, b.length) - head - tail + (exchange.method === asked.method ? 0 : 10);
}

function shown(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
