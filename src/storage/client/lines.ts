import { StorageError } from '../../lib/errors.ts';
import { parseExact } from '../../lib/json/parse.ts';
import type { Json } from '../../lib/json/value.ts';

/** Lines of JSON, each as soon as it is whole; lines end anywhere in what arrives at a time. */
export async function* linesOf(parts: AsyncIterable<Uint8Array>, what: string): AsyncGenerator<Json, void> {
  const decoder = new TextDecoder();
  // Parts of a line are put together once: a line may be long.
  let begun: string[] = [];
  for await (const part of parts) {
    const [first = '', ...more] = decoder.decode(part, { stream: true }).split('\n');
    begun.push(first);
    for (const next of more) {
      yield* jsonOf(begun.join(''), what);
      begun = [next];
    }
  }
  yield* jsonOf(begun.join('') + decoder.decode(), what);
}

/** The connection was lost in the middle of an answer. */
export function lostOn(what: string, cause: unknown): StorageError {
  return new StorageError('storage.unreachable', `The connection was lost during the answer to ${what}.`, {
    hint: 'Ask for it again.',
    recovery: 'retry',
    cause,
  });
}

function* jsonOf(line: string, what: string): Generator<Json, void> {
  if (line.trim() === '') return;
  let json: Json;
  try {
    json = parseExact(line);
  } catch (error) {
    throw lostOn(what, error);
  }
  yield json;
}
