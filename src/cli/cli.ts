import { describeError, ExtractorError } from '../lib/errors.ts';
import { actionCommand } from './action.ts';
import type { CommandEntry, Io } from './command.ts';
import { completionCommand } from './completion.ts';
import { demoApiCommand } from './demo-api.ts';
import { encryptCommand } from './encrypt.ts';
import { explainCommand } from './explain.ts';
import { fixtureCommand } from './fixture.ts';
import { importCommand } from './import.ts';
import { initCommand } from './init.ts';
import { helpOf } from './help.ts';
import { descend, HELP, parseLine } from './parse.ts';
import { loginCommand } from './login.ts';
import { mcpCommand } from './mcp.ts';
import { runCommand } from './run.ts';
import { serveCommand } from './serve.ts';
import { alertsGroup } from './alerts.ts';
import { runsGroup } from './runs.ts';
import { storageGroup, withStorage } from './storage.ts';
import { sqlCommand } from './sql.ts';
import { testCommand } from './test.ts';
import { uiCommand } from './ui.ts';
import { validateCommand } from './validate.ts';
import { workshopCommand } from './workshop.ts';
import { RUNNER_VARIABLE } from '../service/domain/runs/runner-variable.ts';

/** Every command, in the order of the help. */
export const ENTRIES: readonly CommandEntry[] = [
  initCommand,
  runCommand,
  explainCommand,
  validateCommand,
  testCommand,
  fixtureCommand,
  actionCommand,
  loginCommand,
  importCommand,
  mcpCommand,
  encryptCommand,
  serveCommand,
  uiCommand,
  storageGroup,
  sqlCommand,
  runsGroup,
  alertsGroup,
  demoApiCommand,
  completionCommand(() => ENTRIES),
];

const DESCRIBE = 'Turns a description of a REST API (config.json) into CSV tables.';

/**
 * Runs a command line in this process: results by `io.print`, all else by `io.note`.
 *
 * @returns the exit code of a command that did its work
 * @throws {ExtractorError} what went wrong; {@link describe} puts it in words
 */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<number> {
  const given = withStorage(argv);
  const place = await descend({ script: 'gex', describe: DESCRIBE, entries: entries(), argv: given });
  const width = process.stdout.columns || undefined;
  if (place.argv.length === 0 && place.fallback === undefined) {
    io.note(helpOf(place, width));
    return 1;
  }
  const asked = place.argv.filter((word) => HELP.has(word));
  if (asked.length > 0) {
    const isVersion = asked.some((word) => word === '--version' || word === '-V');
    io.print(isVersion ? (await import('../lib/version.ts')).VERSION : helpOf(place, width));
    return 0;
  }
  const { command, args } = parseLine(place);
  return await command.run(args, io);
}

/** Returns the commands; a process that a service has started has one more. */
function entries(): readonly CommandEntry[] {
  return process.env[RUNNER_VARIABLE] === '1' ? [...ENTRIES, workshopCommand] : ENTRIES;
}

/** Describes an error; a bug of this program is shown with its stack, which helps to find it. */
export function describe(error: unknown): string {
  if (error instanceof ExtractorError) return describeError(error);
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `This should not have happened, and is a mistake of generic-extractor: ${stack}`;
}
