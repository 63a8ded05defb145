import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describeError, ExtractorError, RunError } from '../../lib/errors.ts';
import { closeToOthers, makePrivateFolder } from '../../lib/private-files.ts';
import { askOnce, formatOf, type AnswerOptions, type SqlPlace } from './answer.ts';
import { describeTable, describeTables } from './describe.ts';
import { statementsIn } from './statements.ts';

const HELP = String.raw`\d           the tables
\d TABLE     the columns of a table, with their types
\x           rows as lines of column and value, or as a table again
\o FILE      the next result into a file: .csv, .jsonl, .json, .parquet or .xlsx
\q           the end
A statement ends with a semicolon.`;

/** Words that people try first, and the commands that they mean. */
const WORDS: Readonly<Record<string, string>> = { help: '\\?', exit: '\\q', quit: '\\q' };

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
    if (text.trim() === '') {
      const [word = '', ...words] = line.trim().split(/\s+/);
      const name = WORDS[word.toLowerCase().replace(/;$/, '')] ?? word;
      if (name.startsWith('\\')) return await obey(name, words);
    }
    const { statements, rest } = statementsIn(`${text}${line}\n`);
    // Lines of a mistake are counted from the statement.
    text = rest.trimStart();
    for (const statement of statements) await answer(statement);
    return true;
  }

  /** @returns false to end */
  async function obey(command: string, words: readonly string[]): Promise<boolean> {
    const [word] = words;
    switch (command) {
      case '\\q':
        return false;
      case '\\x':
        shown = { ...shown, isVertical: !shown.isVertical };
        io.note(shown.isVertical ? 'Rows as lines.' : 'Rows as a table.');
        break;
      case '\\o': {
        if (words.length === 0)
          throw new RunError(
            'command.invalid',
            String.raw`\o needs the name of a file, such as \o rows.csv.`,
          );
        const out = words.join(' ');
        shown = { ...shown, out, format: formatOf(out) };
        io.note(`The next result is written to ${out}.`);
        break;
      }
      case '\\d':
      case '\\dt':
        io.print(
          word === undefined
            ? await describeTables(place)
            : await interruptible(async (signal) => await describeTable(place, word, signal)),
        );
        break;
      default:
        io.note(command === '\\?' ? HELP : `There is no ${command} here.\n${HELP}`);
    }
    return true;
  }

  async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    running = new AbortController();
    try {
      return await work(AbortSignal.any([io.signal, running.signal]));
    } finally {
      running = undefined;
    }
  }

  async function answer(statement: string): Promise<void> {
    try {
      await interruptible(async (signal) => await askOnce(place, statement, { ...shown, signal }));
    } finally {
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
