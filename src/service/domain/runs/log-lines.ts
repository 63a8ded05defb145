import { StringDecoder } from 'node:string_decoder';

/** A line that is longer is cut: nobody reads it, and a log is kept for months. */
const MAX_LINE = 32 * 1024;

/** The lines of a stream of text, without their ends; memory stays flat however long one is. */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let isCut = false;
  for await (const bytes of stream) {
    const parts = (rest + decoder.write(Buffer.from(bytes))).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      if (!isCut) yield part.slice(0, MAX_LINE);
      isCut = false;
    }
    if (rest.length > MAX_LINE) {
      if (!isCut) yield rest.slice(0, MAX_LINE);
      [rest, isCut] = ['', true];
    }
  }
  if (rest !== '' && !isCut) yield rest;
}

/** An event as the command writes it with `--log-format json`; undefined for any other text. */
export function eventIn(line: string): { readonly level: string; readonly message: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const event: unknown = JSON.parse(line);
    const isEvent = typeof event === 'object' && event !== null && 'level' in event && 'message' in event;
    return isEvent && typeof event.level === 'string' && typeof event.message === 'string'
      ? { level: event.level, message: event.message }
      : undefined;
  } catch {
    return undefined;
  }
}
