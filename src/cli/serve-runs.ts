import { RunError } from '../lib/errors.ts';
import type { MakePart } from '../service/start/service-options.ts';
import { valued, type Args, type Option } from './command.ts';
import { reachEnvironment } from './serve-hosts.ts';

/** The options of `gex serve` for the runs that it does. */
export const runsOptions = {
  runs: valued('N', 'Runs of configurations at a time; 0 does none here', { default: '3' }),
  'runs-of-token': valued(
    'N',
    'Runs of one token among these; default: all but one, which is left to others',
  ),
} as const satisfies Record<string, Option>;

/** Creates the module for runs; undefined when this process runs none. @throws {RunError} `command.invalid` */
export async function runsPart(args: Args): Promise<MakePart | undefined> {
  const concurrency = numberOf(args, 'runs') ?? 3;
  const ofToken = numberOf(args, 'runs-of-token');
  if (concurrency === 0) return undefined;
  if (ofToken === 0)
    throw new RunError('command.invalid', '--runs-of-token 0 would let no token run anything.', {
      hint: 'Write --runs 0 for a process that does no runs.',
    });
  const { runnerPart } = await import('../service/start/runner.ts');
  return runnerPart({
    command: ownCommand(),
    concurrency,
    ofToken,
    environment: reachEnvironment(args, process.env),
  });
}

function numberOf(args: Args, name: 'runs' | 'runs-of-token'): number | undefined {
  const text = args.text(name);
  if (text === undefined || /^\d{1,3}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new RunError('command.invalid', `--${name} is a number of runs, and not “${text}”.`, {
    hint: `Write for example --${name} 4.`,
  });
}

/** Creates the module that probes APIs and tries sources out. */
export async function sourcesPart(args: Args): Promise<MakePart> {
  const { workshopPart } = await import('../service/start/workshop.ts');
  return workshopPart({ command: ownCommand(), environment: reachEnvironment(args, process.env) });
}

function ownCommand(): readonly [string, string] {
  const [, script = ''] = process.argv;
  return [process.execPath, script];
}
