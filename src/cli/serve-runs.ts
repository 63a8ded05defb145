import { RunError } from '../lib/errors.ts';
import type { MakePart } from '../service/start/service-options.ts';
import type { Args, Option } from './command.ts';
import { reachEnvironment } from './serve-hosts.ts';

/** The options of `gex serve` for the runs that it does. */
export const runsOptions = {
  runs: {
    type: 'string',
    value: 'N',
    default: '2',
    describe: 'Runs of configurations at a time; 0 does none here',
  },
} as const satisfies Record<string, Option>;

/** What does the runs; undefined when this process is to do none. @throws {RunError} `command.invalid` */
export async function runsPart(args: Args): Promise<MakePart | undefined> {
  const text = args.text('runs') ?? '2';
  if (!/^\d{1,3}$/.test(text))
    throw new RunError('command.invalid', `--runs is a number of runs, and not “${text}”.`, {
      hint: 'Write for example --runs 4.',
    });
  if (Number(text) === 0) return undefined;
  const { runnerPart } = await import('../service/start/runs-module.ts');
  return runnerPart({
    command: ownCommand(),
    concurrency: Number(text),
    environment: reachEnvironment(args, process.env),
  });
}

/** What looks at APIs and tries sources out. */
export async function sourcesPart(args: Args): Promise<MakePart> {
  const { workshopPart } = await import('../service/start/builder-module.ts');
  return workshopPart({ command: ownCommand(), environment: reachEnvironment(args, process.env) });
}

function ownCommand(): readonly [string, string] {
  const [, script = ''] = process.argv;
  return [process.execPath, script];
}
