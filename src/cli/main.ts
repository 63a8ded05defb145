import { readFileSync } from 'node:fs';
import { describeError, exitCodeOf, ExtractorError } from '../errors.ts';
import { listenForInterruption } from '../process.ts';
import { Secrets } from '../secrets.ts';
import { actionCommand } from './action.ts';
import type { Entry } from './command.ts';
import { encryptCommand } from './encrypt.ts';
import { processIo } from './io.ts';
import { descend, parseSimple, type Parsed, type Place } from './parse.ts';
import { runCommand } from './run.ts';
import { serveCommand } from './serve.ts';
import { storageGroup } from './storage.ts';
import { testCommand } from './test.ts';
import { validateCommand } from './validate.ts';

const ENTRIES: readonly Entry[] = [
  runCommand,
  validateCommand,
  testCommand,
  actionCommand,
  encryptCommand,
  serveCommand,
  storageGroup,
];

const DESCRIBE = 'Turns a description of a REST API (config.json) into CSV tables.';

process.exitCode = await main(process.argv.slice(2));

/** The command line: results on stdout, all else on stderr. Gives the exit code: 0, 1, 2, or 130 and 143 for a signal. */
async function main(argv: readonly string[]): Promise<number> {
  const interruption = listenForInterruption();
  const io = processIo(new Secrets(), interruption.signal);
  try {
    const place = await descend({ script: 'gex', describe: DESCRIBE, entries: ENTRIES, argv });
    if (place.argv.length === 0) {
      await parseCarefully({ ...place, argv: ['--help'] }, (text) => io.note(text));
      return 1;
    }
    const parsed = parseSimple(place) ?? (await parseCarefully(place, (text) => io.print(text)));
    return parsed === undefined ? 0 : await parsed.command.run(parsed.args, io);
  } catch (error) {
    io.note(`error: ${describe(error)}`);
    return interruption.exitCode() ?? exitCodeOf(error);
  } finally {
    interruption.dispose();
  }
}

async function parseCarefully(place: Place, print: (text: string) => void): Promise<Parsed | undefined> {
  const { parseYargs } = await import('./parse-yargs.ts');
  return parseYargs(place, { version: version(), print, width: process.stdout.columns || undefined });
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { version: string }; // our own package.json
  return version;
}

/** A mistake of this program is shown with the place in its code, which helps whoever looks for it. */
function describe(error: unknown): string {
  if (error instanceof ExtractorError) return describeError(error);
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `This should not have happened, and is a mistake of generic-extractor: ${stack}`;
}
