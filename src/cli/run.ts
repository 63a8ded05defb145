import { systemEnv } from '../env.ts';
import { RunError } from '../errors.ts';
import type { PreviewRunOptions } from '../runner/preview.ts';
import type { RowResult } from '../runner.ts';
import type { Args, Command, Io } from './command.ts';
import { countArg, dataOption, logOptions, openLog, strictOption } from './shared.ts';
import { boundYoungMemory } from '../young-memory.ts';

export const runCommand: Command = {
  name: 'run',
  describe: 'Run the jobs of a data folder and write their tables to its out/',
  options: {
    data: dataOption,
    row: {
      type: 'list',
      value: 'ID',
      describe: 'Run only this row, even a disabled one; may be given several times',
    },
    limit: { type: 'string', value: 'PAGES', describe: 'End each job after so many pages' },
    'dry-run': { type: 'boolean', describe: 'Show the first request of each job, and send nothing' },
    'reset-state': { type: 'boolean', describe: 'Begin as a first run, whatever the last one left' },
    storage: {
      type: 'string',
      default: 'none',
      describe: 'Where the tables go; “none” leaves them in the data folder',
    },
    json: { type: 'boolean', describe: 'Print the result as JSON' },
    ...logOptions,
    strict: strictOption,
  },
  examples: [
    ['gex run', 'Run ./config.json'],
    ['gex run --data my-api --limit 2', 'Try the first two pages of each job'],
    ['gex run --data my-api --dry-run', 'See what would be asked for'],
    ['gex run --data my-api --row users --reset-state', 'Run one row from the beginning'],
  ],
  async run(args, io) {
    refuseStorage(args.text('storage') ?? 'none');
    const log = await openLog(args, io);
    const common = {
      dataFolder: args.text('data') ?? '.',
      rows: args.list('row'),
      resetState: args.isSet('reset-state'),
      strict: args.isSet('strict'),
      log,
      secrets: io.secrets,
    };
    const limit = countArg(args, 'limit');
    if (args.isSet('dry-run')) return dryRun(args, io, common);

    const { run } = await import('../runner.ts');
    boundYoungMemory();
    const { createProgress } = await import('./progress.ts');
    const isLive = io.isTerminal && args.text('log-format') === 'text';
    const progress = createProgress(io, log, systemEnv, isLive);
    const done: RowResult[] = [];
    const show = async (error?: unknown): Promise<void> => {
      const { describeRun } = await import('./run-result.ts');
      io.print(describeRun(done, { json: args.isSet('json'), error, secrets: io.secrets }));
    };
    try {
      await run({
        ...common,
        limit,
        signal: io.signal,
        command: ['gex', ...process.argv.slice(2)].join(' '),
        onDebug: () => log.setLevel('debug'),
        progress: { ...progress, rowEnd: (result) => done.push(result) },
      });
    } catch (error) {
      progress.stop();
      if (done.length > 0 || args.isSet('json')) await show(error);
      throw error;
    }
    progress.stop();
    await show();
    return 0;
  },
};

async function dryRun(args: Args, io: Io, options: PreviewRunOptions): Promise<number> {
  const { previewRun } = await import('../runner/preview.ts');
  const rows = await previewRun(options);
  const { describePreview } = await import('./dry-run.ts');
  io.print(args.isSet('json') ? JSON.stringify(rows, null, 2) : describePreview(rows));
  return 0;
}

function refuseStorage(storage: string): void {
  if (storage === 'none') return;
  throw new RunError('command.invalid', `Pushing to a storage (“${storage}”) is not in this version.`, {
    hint: 'Write --storage none, or leave it out: the tables are then in the out/ of the data folder.',
  });
}
