import { painted } from '../lib/logging/lines.ts';
import { quietOnEpipe } from './process.ts';
import type { Secrets } from '../lib/secrets.ts';
import { shownLines, shownText } from '../lib/shown-text.ts';
import type { Io } from './command.ts';

/**
 * Creates access to stdout and stderr of this process. Output contains no secrets and no control sequences from
 * outside.
 */
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
    width: process.stdout.isTTY ? process.stdout.columns || undefined : undefined,
    print(text) {
      if (shown !== '') process.stderr.write(erase());
      shown = '';
      process.stdout.write(ended(shownLines(secrets.redact(text))));
    },
    async send(bytes) {
      if (shown !== '') process.stderr.write(erase());
      shown = '';
      const { pipeline } = await import('node:stream/promises');
      try {
        await pipeline(bytes, process.stdout, { end: false, signal });
      } catch (error) {
        signal.throwIfAborted();
        // The reader has enough, as `head` does.
        if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
      }
    },
    note(line) {
      const spans = typeof line === 'string' ? [{ text: line }] : line;
      // coloured last: the signs of a colour in what came from outside are shown and not obeyed
      const text = spans.map((span) =>
        painted({ ...span, text: shownLines(secrets.redactMessage(span.text)) }),
      );
      process.stderr.write(`${erase()}${ended(text.join(''))}`);
      if (shown !== '') process.stderr.write(shown);
    },
    live(text) {
      if (!isTerminal) return;
      const before = erase();
      // the last column stays free: some terminals begin a new line behind it; some say they have none
      shown = shownText(secrets.redactMessage(text))
        .slice(0, (process.stderr.columns || 80) - 1)
        .toWellFormed();
      process.stderr.write(before + shown);
    },
  };
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
