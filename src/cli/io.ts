import { pipeline } from 'node:stream/promises';
import { quietOnEpipe } from '../process.ts';
import type { Secrets } from '../secrets.ts';
import type { Io } from './command.ts';

/** stdout and stderr of this process. What is written is free of secrets. */
export function processIo(secrets: Secrets, signal: AbortSignal): Io {
  quietOnEpipe(process.stdout);
  quietOnEpipe(process.stderr);
  const isTerminal = process.stderr.isTTY;
  let shown = '';
  const erase = (): string => (shown === '' ? '' : '\r\u001B[2K');
  return {
    secrets,
    signal,
    isTerminal,
    print(text) {
      if (shown !== '') process.stderr.write(erase());
      shown = '';
      process.stdout.write(ended(secrets.redact(text)));
    },
    async send(bytes) {
      if (shown !== '') process.stderr.write(erase());
      shown = '';
      try {
        await pipeline(bytes, process.stdout, { end: false, signal });
      } catch (error) {
        signal.throwIfAborted();
        // Whoever read it has enough, as `head` does.
        if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
      }
    },
    note(text) {
      process.stderr.write(`${erase()}${ended(secrets.redact(text))}`);
      if (shown !== '') process.stderr.write(shown);
    },
    live(text) {
      if (!isTerminal) return;
      const before = erase();
      // the last column stays free: some terminals begin a new line behind it; some say they have none
      shown = secrets
        .redact(text)
        .slice(0, (process.stderr.columns || 80) - 1)
        .toWellFormed();
      process.stderr.write(before + shown);
    },
  };
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
