import { StorageError } from '../../lib/errors.ts';
import type { StorageClient } from '../../storage/client/index.ts';
import { nearest } from '../../lib/suggest.ts';
import type { Args } from '../command.ts';
import type { IdWord } from './id-word.ts';

interface Asked {
  readonly words: readonly IdWord[];
  readonly args: Args;
  readonly client: StorageClient;
}

const FEW = 8;

/** Adds the id that was probably meant to an error, or the existing ids. */
export async function explainMissing(
  error: StorageError,
  { words, args, client }: Asked,
): Promise<StorageError> {
  for (const { name, ids } of words) {
    const [given] = args.words(name);
    if (ids === undefined || given === undefined) continue;
    const known = await ids(client, args).catch(() => undefined); // the first error is the one to tell
    if (known === undefined) return error;
    if (known.includes(given)) continue;
    const { code, message, audience, where, details } = error;
    const hint = hintOf(name, given, known);
    return new StorageError(code, message, { audience, where, details, hint, cause: error });
  }
  return error;
}

function hintOf(name: string, given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  if (known.length === 0) return `There is no ${name} here at all. Check --storage and --branch.`;
  const shown = known.slice(0, FEW).join(', ');
  return `There is: ${shown}${known.length > FEW ? ` and ${known.length - FEW} more` : ''}.`;
}
