import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Block, Page } from './markdown.ts';

/**
 * A section of a page that shows a whole run: one block `json config`, the requests with their answers as `http`
 * blocks in the order in which they are made, and the tables as `csv NAME`. Such a section is a fixture (see
 * `fixtures/README.md`) and is run as one.
 *
 * Further blocks: `json fixture` (`fixture.json`), `json state-in` and `json state` (the state before and after).
 */
export interface Scenario {
  readonly title: string;
  readonly config: Block;
  readonly blocks: readonly Block[];
}

export function scenariosOf(page: Page): readonly Scenario[] {
  const sections = Map.groupBy(page.blocks, ({ section }) => section);
  return [...sections].flatMap(([section, blocks]) => {
    const config = blocks.find((block) => is(block, 'json', 'config'));
    if (config === undefined || !blocks.some(({ language }) => language === 'http')) return [];
    return [{ title: `${page.name}: ${section}`, config, blocks }];
  });
}

/** Writes the files of a fixture. */
export function writeFixture(folder: string, { config, blocks }: Scenario): void {
  const write = (name: string, text: string): void => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write('config.json', config.text);
  const exchanges = blocks.filter(({ language }) => language === 'http').map(parseExchange);
  for (const [i, exchange] of exchanges.entries()) {
    const name = `api/${String(i).padStart(3, '0')}`;
    write(`${name}.request`, `${exchange.requestLine}\n\n${exchange.requestBody}`);
    write(`${name}.requestHeaders`, exchange.requestHeaders.join('\n'));
    write(`${name}.response`, exchange.body);
    write(`${name}.responseCode`, exchange.status);
    if (exchange.headers.length > 0) write(`${name}.responseHeaders`, exchange.headers.join('\n'));
  }
  write('expected/requests', exchanges.map(({ requestLine }) => withoutHost(requestLine)).join('\n'));
  for (const block of blocks) {
    const [word = '', ...rest] = block.words;
    if (block.language === 'csv') {
      write(`expected/tables/${word}`, `${block.text}\n`);
      const own = blocks.some((other) => is(other, 'json', 'manifest') && other.words[1] === word);
      if (!own) write(`expected/tables/${word}.manifest`, '{"incremental":false}');
    } else if (is(block, 'json', 'manifest')) write(`expected/tables/${rest[0] ?? ''}.manifest`, block.text);
    else if (is(block, 'json', 'fixture')) write('fixture.json', block.text);
    else if (is(block, 'json', 'state-in')) write('in/state.json', block.text);
    else if (is(block, 'json', 'state')) write('expected/state.json', block.text);
    else if (is(block, 'json', 'error')) write('expected/error.json', block.text);
    else if (is(block, 'text', 'log')) write('expected/log', block.text);
  }
}

function is(block: Block, language: string, word: string): boolean {
  return block.language === language && block.words[0] === word;
}

interface Exchange {
  readonly requestLine: string;
  readonly requestHeaders: readonly string[];
  readonly requestBody: string;
  readonly status: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Request and response as HTTP writes them; a version after the target may be left out. */
function parseExchange(block: Block): Exchange {
  const start = block.text.search(/^HTTP\/1\.1 /m);
  if (start < 0) throw new Error(`line ${block.line}: an http block needs a line “HTTP/1.1 200 OK”`);
  const request = splitMessage(block.text.slice(0, start));
  const response = splitMessage(block.text.slice(start));
  return {
    requestLine: request.first,
    requestHeaders: request.headers,
    requestBody: request.body,
    status: /^HTTP\/1\.1 (\d+)/.exec(response.first)?.[1] ?? '',
    headers: response.headers,
    body: response.body,
  };
}

function splitMessage(text: string): { first: string; headers: string[]; body: string } {
  const [head = '', ...rest] = text.trim().split('\n\n');
  const [first = '', ...headers] = head.split('\n');
  return { first, headers, body: rest.join('\n\n').trim() };
}

function withoutHost(requestLine: string): string {
  return requestLine.replace(/ https?:\/\/[^/?#\s]+/, ' ');
}
