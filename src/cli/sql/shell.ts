import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describeError, ExtractorError, RunError } from '../../lib/errors.ts';
import { closeToOthers, makePrivateFolder } from '../../lib/private-files.ts';
import { formatTable } from '../format.ts';
import { number } from '../storage/facts.ts';
import { askOnce, formatOf, type AnswerOptions, type SqlPlace } from './answer.ts';
import { statementsIn } from './statements.ts';

const HELP = String.raw`\d           the tables
\d TABLE     the columns of a table
\x           rows as lines of column and value, or as a table again
\o FILE      the next result into a file: .csv, .jsonl, .json, .parquet or .xlsx
\q           the end
A statement ends with a semicolon.`;

/** Lines that are kept. */
const HISTORY_LINES = 1000;

/** Reads statements line by line, and answers each; on a terminal with a history, and after an error it goes on. */
export async function sqlShell(place: SqlPlace, options: AnswerOptions): Promise<void> {
  const { io } = place;
  const { createInterface } = await import('node:readline/promises');
  const isTerminal = process.stdin.isTTY;
  const file = isTerminal ? historyFile() : undefined;
  const lines = createInterface({
    input: process.stdin,
    ...(isTerminal
      ? {
          output: process.stderr,
          history: readHistory(file),
          historySize: HISTORY_LINES,
          removeHistoryDuplicates: true,
        }
      : {}),
    terminal: isTerminal,
  });
  let shown = options;
  let text = '';
  let running: AbortController | undefined;
  const prompt = (): void => {
    if (!isTerminal) return;
    lines.setPrompt(text.trim() === '' ? 'sql> ' : '...> ');
    lines.prompt();
  };
  lines.on('history', (history: string[]) => saveHistory(file, history));
  // Ctrl-C ends a query, or takes back what was begun.
  lines.on('SIGINT', () => {
    running?.abort(new RunError('run.interrupted', 'The query was interrupted.'));
    if (running !== undefined) return;
    text = '';
    io.note('');
    prompt();
  });
  const end = (): void => lines.close();
  io.signal.addEventListener('abort', end, { once: true });

  /** @returns false to end */
  async function take(line: string): Promise<boolean> {
    if (text.trim() === '' && line.trim().startsWith('\\')) {
      const [command = '', ...words] = line.trim().split(/\s+/);
      if (command === '\\q') return false;
      if (command === '\\x') {
        shown = { ...shown, isVertical: !shown.isVertical };
        io.note(shown.isVertical ? 'Rows as lines.' : 'Rows as a table.');
      } else if (command === '\\o' && words.length > 0) {
        const out = words.join(' ');
        shown = { ...shown, out, format: formatOf(out) };
        io.note(`The next result is written to ${out}.`);
      } else if (command === '\\d') io.print(await describeTables(place, words[0]));
      else io.note(HELP);
      return true;
    }
    const { statements, rest } = statementsIn(`${text}${line}\n`);
    text = rest;
    for (const statement of statements) await answer(statement);
    return true;
  }

  async function answer(statement: string): Promise<void> {
    running = new AbortController();
    try {
      const signal = AbortSignal.any([io.signal, running.signal]);
      await askOnce(place, statement, { ...shown, signal });
    } finally {
      running = undefined;
      if (isTerminal && shown.out !== undefined)
        shown = { ...shown, out: options.out, format: options.format };
    }
  }

  try {
    if (isTerminal) io.note(String.raw`A statement ends with a semicolon; \? shows more.`);
    prompt();
    for await (const line of lines) {
      try {
        if (!(await take(line))) break;
      } catch (error) {
        if (!isTerminal || io.signal.aborted || !(error instanceof ExtractorError)) throw error;
        io.note(describeError(error));
      }
      prompt();
    }
    // The last statement of a file needs no semicolon.
    if (!isTerminal && text.trim() !== '') await answer(text);
  } finally {
    io.signal.removeEventListener('abort', end);
    lines.close();
  }
  io.signal.throwIfAborted();
}

async function describeTables({ client }: SqlPlace, named: string | undefined): Promise<string> {
  if (named !== undefined) {
    const table = await client.tables.detail(named.replaceAll('"', '').replace(/;$/, ''));
    return (table.columns ?? []).join('\n');
  }
  const tables = await client.tables.list();
  if (tables.length === 0) return 'There are no tables.';
  return formatTable(
    ['table', 'rows'],
    tables.map((table) => [sqlName(table.id), number(table.rowsCount)]),
    ['rows'],
  );
}

/** Returns the name of a table as a query has it: `"in.c-main"."users"`. */
function sqlName(id: string): string {
  const parts = id.split('.');
  return [parts.slice(0, 2).join('.'), parts.slice(2).join('.')].map((part) => `"${part}"`).join('.');
}

function historyFile(): string {
  const state = process.env['XDG_STATE_HOME'];
  return path.join(state || path.join(homedir(), '.local', 'state'), 'gex', 'sql-history');
}

/** Returns the lines of earlier shells, the last one first; a file that cannot be read is none. */
function readHistory(file: string | undefined): string[] {
  if (file === undefined || !existsSync(file)) return [];
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .toReversed();
  } catch {
    return [];
  }
}

/** A statement may have a name or an address in it: the file is for its user alone. */
function saveHistory(file: string | undefined, history: readonly string[]): void {
  if (file === undefined) return;
  try {
    makePrivateFolder(path.dirname(file));
    writeFileSync(file, `${history.toReversed().join('\n')}\n`, { mode: 0o600 });
    closeToOthers(file);
  } catch {
    // The shell works without one.
  }
}
