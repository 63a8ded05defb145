import { setImmediate as otherRequests } from 'node:timers/promises';
import { Answer } from '../answer.ts';
import { inSlices } from '../slices.ts';

/** Bytes that are sent at once. */
const BYTES_AT_ONCE = 256 * 1024;

/**
 * Answers JSON that comes in pieces. Its bytes are kept instead of one long text, other requests are served in
 * between, and the client gets as much as it reads. Nothing is sent before everything was read, so that an error on
 * the way can be answered.
 */
export async function longJson(pieces: AsyncIterable<Buffer | string>): Promise<Answer> {
  const parts: Buffer[] = [];
  let text = '';
  const keepText = (): void => {
    parts.push(Buffer.from(text));
    text = '';
  };
  for await (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else {
      keepText();
      parts.push(piece);
    }
    if (text.length >= BYTES_AT_ONCE) keepText();
    await otherRequests();
  }
  keepText();
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const headers = { 'content-type': 'application/json', 'content-length': String(length) };
  return new Answer(200, inSlices(parts), headers);
}

/** Yields a list whose items come some at a time, each as JSON. */
export async function* listOf(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let before = '[';
  for await (const items of pages) {
    if (items.length === 0) continue;
    yield before + items.join(',');
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** Yields a list of pages whose items have commas between them already, as bytes that are sent as they are. */
export async function* listOfPages(pages: AsyncIterable<Buffer>): AsyncGenerator<Buffer | string> {
  let before = '[';
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield before;
    yield page;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}
