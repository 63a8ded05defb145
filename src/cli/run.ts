import { systemEnv } from '../lib/env.ts';
import type { RowResult, RunResult } from '../runner/run.ts';
import { RunError } from '../lib/errors.ts';
import type { FileFormat } from '../runner/typed-files.ts';
import type { Progress } from '../engine/extract/progress.ts';
import type { Log } from '../lib/log.ts';
import type { PreviewRunOptions } from '../runner/preview.ts';
import { openTarget, type RunTarget } from '../service/open/open-target.ts';
import { givenByRunner, keptBySomebody, toldToRunner } from './by-runner.ts';
import { flag, listed, valued, type Args, type Command, type Io } from './command.ts';
import { periodArg, periodOptions } from './period-options.ts';
import { recordingArgs, recordingOptions } from './recording-options.ts';
import type { GivenLineage, LineageTeller } from './openlineage/teller.ts';
import { isRemote, remoteOptions } from './remote-options.ts';
import { countArg, logOptions, openLog, strictOption, urlArg } from './shared.ts';
import { storedArg } from './stored-arg.ts';
import { boundYoungMemory } from './heap-tuning.ts';

/** Returns the number of threads; 0 is one. */
function threadsArg(args: Args): number | undefined {
  return args.text('threads') === '0' ? 0 : countArg(args, 'threads');
}

/** @throws {RunError} where the tables are to be pushed, which takes CSV */
function formatArg(args: Args): FileFormat | undefined {
  const given = args.text('format');
  const format = given === 'parquet' || given === 'jsonl' ? given : undefined;
  if (format !== undefined && args.text('storage') !== 'none')
    throw new RunError('command.invalid', `--format ${format} is for runs that push nothing.`, {
      hint: 'Add --storage none, or leave --format out: a storage takes CSV, with the types of the manifest.',
    });
  if (args.text('partition-by') !== undefined && format !== 'parquet')
    throw new RunError('command.invalid', '--partition-by goes with --format parquet.', {
      hint: 'Add --format parquet and --storage none, or leave --partition-by out.',
    });
  return format;
}

export const runCommand: Command = {
  name: 'run',
  describe: 'Run the jobs of a configuration, write their tables and push them into a storage',
  options: {
    data: valued(
      'DIR',
      'The data folder: it holds config.json. The current one by default; with --component, runs/COMPONENT/CONFIG',
    ),
    row: listed('ID', 'Run only this row, even a disabled one; may be given several times'),
    'rows-at-once': valued(
      'COUNT',
      'Rows that run beside each other, 1 by default; tables, states and their order are the same',
    ),
    limit: valued('PAGES', 'A trial: end each job after so many pages, and push nothing'),
    'dry-run': flag('Show the first request of each job, and send nothing'),
    threads: valued(
      'COUNT',
      'Threads that write the rows of large pages beside the requests: one for each processor but one by default, 0 for none',
    ),
    'accept-doubtful': flag('Push also what may not be everything'),
    'reset-state': flag('Begin as a first run, whatever the last one left'),
    ...periodOptions,
    ...recordingOptions,
    storage: valued(
      'DIR|URL|none',
      'Where inputs come from and tables go to: a folder (./storage beside the data), postgres://… for a database, a service (its token in KBC_TOKEN), or none',
    ),
    format: valued(
      'FORMAT',
      'Write tables as typed files in place of CSV, with --storage none: parquet, or jsonl for lines of JSON',
      { choices: ['csv', 'parquet', 'jsonl'], default: 'csv' },
    ),
    'partition-by': valued(
      'COLUMN',
      'With --format parquet: a folder for each day of this column, in tables where it is one of days or times',
    ),
    component: valued(
      'ID',
      'Run a configuration of this component that the storage keeps, such as ex-generic-v2',
    ),
    config: valued('ID', 'Id of the configuration that the storage keeps'),
    branch: valued('ID', 'Development branch of the stored configuration'),
    ...remoteOptions,
    notify: valued(
      'URL',
      'Post a message here when the run fails or is in doubt, and when it is well again; signed where GEX_NOTIFY_SECRET is set',
    ),
    openlineage: valued(
      'URL',
      'Tell this receiver of OpenLineage what the run reads and which tables it fills; GEX_OPENLINEAGE_URL by default, with GEX_OPENLINEAGE_KEY as its key',
    ),
    json: flag('Print the result as JSON'),
    'show-requests': flag('Print every request and answer as they go, without secrets'),
    ...logOptions,
    strict: {
      ...strictOption,
      describe: 'Make warnings about the configuration, and doubts about completeness, errors',
    },
  },
  examples: [
    ['gex run', 'Run ./config.json and push its tables into ./storage'],
    ['gex run --data my-api --storage none', 'Leave the tables in my-api/out'],
    ['gex run --storage postgres://me@localhost/tables', 'Push them straight into PostgreSQL'],
    [
      'gex run --data my-api --storage none --format parquet',
      'Leave typed files, with the types of the jobs',
    ],
    ['gex run --data my-api --limit 2', 'Try the first two pages of each job'],
    ['gex run --data my-api --dry-run', 'See what would be asked for'],
    ['gex run --data my-api --row users --reset-state', 'Run one row from the beginning'],
    ['gex run --from 2026-01-01 --to 2026-02-01', 'Fill January again; no state moves'],
    ['gex run --data my-api --replay last', 'Try a changed mapping on the answers of the last run'],
    ['gex run --data my-api --restart', 'Ask for everything again after a run that was stopped'],
    ['gex run --component ex-generic-v2 --config 42', 'Run a configuration that ./storage keeps'],
    [
      'gex run --remote --component ex-generic-v2 --config 42 --storage https://storage.example.com',
      'Let the service run it, and follow it',
    ],
  ],
  async run(args, io) {
    if (isRemote(args, runCommand.options)) {
      const { runRemote } = await import('./remote-run.ts');
      return await runRemote(args, io);
    }
    const notify = urlArg(args, 'notify');
    const isTrial = args.isSet('dry-run') || args.text('limit') !== undefined;
    const outcome: RunOutcome = { rows: [], dataFolder: args.text('data') ?? '.' };
    try {
      return await runHere(args, io, outcome);
    } catch (error) {
      outcome.error = error;
      throw error;
    } finally {
      const told = outcome.lineage?.end(outcome);
      if (notify !== undefined && !isTrial) {
        const { notifyOf } = await import('./notify.ts');
        await notifyOf(outcome, notify, { args, io });
      }
      await told;
    }
  },
};

/** How a run ended. */
export interface RunOutcome {
  /** The rows that have ended. */
  readonly rows: RowResult[];
  dataFolder: string;
  error?: unknown;
  /** Tells a receiver of OpenLineage of the run. */
  lineage?: LineageTeller | undefined;
}

async function runHere(args: Args, io: Io, outcome: RunOutcome): Promise<number> {
  const log = await openLog(args, io);
  const isDryRun = args.isSet('dry-run');
  const format = formatArg(args);
  const { createProgress, withProgress } = await import('./progress.ts');
  const isLive = io.isTerminal && args.text('log-format') === 'text';
  const told = await toldToRunner();
  const progress = withProgress(createProgress(io, log, systemEnv, isLive), told);
  const shownRequests = args.isSet('show-requests') ? await requestLines(args, io) : {};
  const limit = countArg(args, 'limit');
  const period = await periodArg(args, systemEnv.now());
  const isJson = args.isSet('json');
  const done = outcome.rows;
  const show = async (error?: unknown, limits: RunResult['limits'] = []): Promise<void> => {
    progress.stop();
    if (error !== undefined && done.length === 0 && !isJson) return;
    const { describeRun } = await import('./run-result.ts');
    io.print(describeRun(done, { json: isJson, error, limits, secrets: io.secrets }));
  };
  const shown = async (error: unknown): Promise<never> => {
    if (!isDryRun) await show(error);
    throw error;
  };
  const { run: runId, lineage, accepting, ...given } = await givenByRunner();
  outcome.lineage = await lineageTeller(args, io, { runId, receiver: lineage });
  // behind the credentials, which are the first message
  const kept = await keptBySomebody();
  const signal = kept === undefined ? io.signal : AbortSignal.any([io.signal, kept.gone]);
  const target = await openTarget({
    ...given,
    dataFolder: args.text('data'),
    storage: args.text('storage'),
    stored: storedArg(args),
    needsStorage: !isDryRun && args.text('replay') === undefined,
    log,
    secrets: io.secrets,
    signal,
    onProgress: progress.transfer,
    beforeChange: kept?.keep,
  }).catch(shown);
  outcome.dataFolder = target.options.dataFolder;
  try {
    if (target.isDisabled && args.list('row').length === 0) {
      log.warn('The configuration is disabled: nothing is run. Enable it, or name a row with --row');
      if (isJson && isDryRun) io.print('[]');
      else if (isJson) await show();
      return 0;
    }
    const common = {
      ...target.options,
      rows: args.list('row'),
      resetState: args.isSet('reset-state'),
      strict: args.isSet('strict'),
      period,
      log,
      secrets: io.secrets,
      signal,
    };
    if (isDryRun) return await dryRun(args, io, common);
    boundYoungMemory();
    const { run } = await import('../runner/run.ts');
    const { rows, limits } = await run({
      ...common,
      id: runId ?? kept?.id,
      accepting,
      acceptDoubtful: args.isSet('accept-doubtful'),
      limit,
      threads: threadsArg(args),
      rowsAtOnce: countArg(args, 'rows-at-once'),
      ...(await recordingArgs(args)),
      debug: args.text('log-level') === 'debug',
      command: ['gex', ...process.argv.slice(2)].join(' '),
      onDebug: () => log.setLevel('debug'),
      progress: {
        ...progress,
        ...shownRequests,
        planned: (planned) => outcome.lineage?.begin(planned),
        rowEnd: (result) => done.push(result),
      },
    }).catch(shown);
    if (format !== undefined) {
      const { withFileNames, writeTypedFiles } = await import('../runner/typed-files.ts');
      const partitionBy = args.text('partition-by');
      const parted: string[] = [];
      for (const { out } of rows)
        parted.push(...(await writeTypedFiles(out, { format, partitionBy, signal }).catch(shown)));
      if (partitionBy !== undefined && parted.length === 0)
        log.warn(`No table has a column ${partitionBy} of days or times, so none is parted by it`, {
          hint: 'Give its job "types": true, or name another column',
        });
      for (const [i, result] of done.entries()) done[i] = withFileNames(result, format);
    }
    const { doubtError } = await import('../runner/doubt.ts');
    const doubt = doubtError(rows, {
      dataFolder: target.options.dataFolder,
      isStrict: args.isSet('strict'),
    });
    await show(doubt, limits);
    await tellOfChange(target, log);
    if (doubt !== undefined) throw doubt;
    return 0;
  } finally {
    await target.close();
  }
}

/** Returns the teller of the run to a receiver of OpenLineage; undefined without one, and for a trial. */
async function lineageTeller(args: Args, io: Io, given: GivenLineage): Promise<LineageTeller | undefined> {
  const url = urlArg(args, 'openlineage') ?? given.receiver?.url ?? process.env['GEX_OPENLINEAGE_URL'] ?? '';
  const isTrial = args.isSet('dry-run') || ['limit', 'replay'].some((name) => args.text(name) !== undefined);
  if (url === '' || isTrial) return undefined;
  const { openTeller } = await import('./openlineage/teller.ts');
  return openTeller(url, given, { args, io });
}

/** Prints lines for requests and answers, at any log level. */
async function requestLines(args: Args, io: Io): Promise<Pick<Progress, 'request'>> {
  const log = await openLog(args, io, 'info');
  const { requestLine } = await import('./request-line.ts');
  return { request: (event) => log.info(requestLine(event)) };
}

async function dryRun(args: Args, io: Io, options: PreviewRunOptions): Promise<number> {
  const { previewRun } = await import('../runner/preview.ts');
  const rows = await previewRun(options);
  const { describePreview } = await import('./dry-run.ts');
  io.print(args.isSet('json') ? JSON.stringify(rows, null, 2) : describePreview(rows));
  return 0;
}

/** Logs that the configuration has changed: a run goes by the version that it began with. */
async function tellOfChange({ newerVersion }: RunTarget, log: Log): Promise<void> {
  const newer = await newerVersion();
  if (newer !== undefined)
    log.info(
      `The configuration was changed while it ran: it is at version ${newer} now. Run it again to use that`,
    );
}
