import { ExtractorError } from '../lib/errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { Io } from './command.ts';

const QUESTION = [
  'Where are the tables to go?',
  '  Enter                          a folder beside the configuration, which the first run makes',
  '  DIR                            another folder; lake:DIR keeps tables as Parquet with a catalogue',
  '  postgres://USER@HOST/DATABASE  straight into PostgreSQL; its password in PGPASSWORD or .pgpass',
  '  https://…                      a service, with its token in KBC_TOKEN',
  '  none                           into out/ alone',
].join('\n');

/** How often an answer that is no storage is asked for again. */
const TRIES = 3;

/**
 * Asks where the tables of a run are to go.
 *
 * @param ask puts a question; an empty answer is the default
 * @returns the option for it, to be shown: without a password; empty for the default
 */
export async function askStorage(
  io: Pick<Io, 'note' | 'secrets'>,
  ask: (question: string) => Promise<string>,
): Promise<string> {
  const { readPlace } = await import('../service/open/place.ts');
  io.note(QUESTION);
  for (let left = TRIES; left > 0; left--) {
    const answer = (await ask('> ')).trim();
    if (answer === '') return '';
    if (answer === 'none') return ' --storage none';
    try {
      const place = readPlace({ storage: answer, environment: process.env, secrets: io.secrets });
      return ` --storage ${shellWord(place.kind === 'database' ? place.address : answer)}`;
    } catch (error) {
      if (!(error instanceof ExtractorError)) throw error;
      io.note(error.message);
    }
  }
  return '';
}
