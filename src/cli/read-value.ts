import { readFileSync } from 'node:fs';
import type { ReadLineOptions } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { RunError } from '../lib/errors.ts';
import type { Io } from './command.ts';

/**
 * Reads a secret from a file, else from stdin; a terminal asks for it without echo. It is never an argument: those stay
 * in the history of the shell and are seen by other users. One line end behind it is not part of it.
 *
 * @throws {RunError} `command.invalid` when it is empty or cannot be read
 */
export async function readValue(file: string | undefined, io: Io): Promise<string> {
  const source = file === undefined ? await readStdin(io) : readFile(file);
  const value = source.replace(/\r?\n$/, '');
  if (value !== '') return value;
  throw new RunError('command.invalid', 'There is no value to read: the input is empty.', {
    hint: 'Give it on stdin, such as gex encrypt < password.txt, or with --value-file.',
  });
}

async function readStdin(io: Io): Promise<string> {
  const { stdin } = process;
  if (!stdin.isTTY) return await textOf(stdin);
  io.note('The value (it is not shown as you type):');
  return await readHidden(io);
}

/** Reads a line that the terminal does not show as it is typed; empty for Ctrl-D. */
export async function readHidden(io: Pick<Io, 'signal'>): Promise<string> {
  const { stdin } = process;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  return await answerOf('', { input: stdin, output: nowhere, terminal: true }, io);
}

/** Reads a line that a person types; empty for Ctrl-D. */
export async function readLine(question: string, io: Pick<Io, 'signal'>): Promise<string> {
  return await answerOf(question, { input: process.stdin, output: process.stderr }, io);
}

async function answerOf(question: string, streams: ReadLineOptions, io: Pick<Io, 'signal'>): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface(streams);
  const ended = new AbortController();
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  lines.on('close', () => ended.abort());
  try {
    return await lines.question(question, { signal: AbortSignal.any([io.signal, ended.signal]) });
  } catch (cause) {
    if (!io.signal.aborted) return ''; // Ctrl-D
    throw new RunError('run.interrupted', 'Interrupted.', { cause });
  } finally {
    lines.close();
  }
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new RunError('command.invalid', `${file} cannot be read (${code}).`, {
      where: { file },
      hint: 'Give the path of a file that holds the value and nothing else.',
      cause,
    });
  }
}
