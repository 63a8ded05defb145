import { systemEnv } from '../../lib/env.ts';
import type { Run, RunProblems } from '../../storage/client/index.ts';
import { flag, valued } from '../command.ts';
import { fitTable } from '../fit-table.ts';
import { refused } from '../parse.ts';
import { countArg } from '../shared.ts';
import { number, short, time } from '../storage/facts.ts';
import { storageCommand, type StorageContext } from '../storage/storage-command.ts';
import { took } from './duration.ts';
import { momentOption } from './moment.ts';
import { describeProblems } from './problems.ts';
import { sparkline } from './sparkline.ts';

export const listRunsCommand = storageCommand({
  name: 'list',
  describe: 'List runs, the newest first; with --failed what went wrong, by causes',
  options: {
    failed: flag('What failed or is in doubt, grouped by causes, and times of schedules that gave no run'),
    since: valued('TIME', 'With --failed: from this time on; the last 24 hours by default'),
    until: valued('TIME', 'With --failed: up to before this time; now by default'),
    component: valued('ID', 'Only runs of this component'),
    config: valued('ID', 'Only runs of this configuration'),
    status: {
      type: 'list',
      value: 'STATUS',
      choices: ['waiting', 'processing', 'success', 'error', 'cancelled'],
      describe:
        'Only those that are waiting, processing, success, error or cancelled; may be given several times',
    },
    limit: valued('N', 'At most so many; 20 by default'),
  },
  examples: [
    ['gex runs', 'The last 20 runs'],
    ['gex runs --failed --since yesterday', 'What went wrong since yesterday, by causes'],
    ['gex runs list --config 42 --limit 50', 'Those of a configuration, with rows and times as a line'],
  ],
  async run(context) {
    if (context.args.isSet('failed')) await listProblems(context);
    else await listRuns(context);
  },
});

async function listRuns({ args, io, client, show }: StorageContext): Promise<void> {
  const stray = ['since', 'until'].find((name) => args.text(name) !== undefined);
  if (stray !== undefined)
    throw refused(`--${stray} goes with --failed.`, 'Without it, --limit says how many runs are listed.');
  const statuses = args.list('status') as Run['status'][]; // the option admits no other
  const runs = await client.runs.list({
    component: args.text('component'),
    configuration: args.text('config'),
    limit: countArg(args, 'limit'),
    ...(statuses.length === 0 ? {} : { status: statuses }),
  });
  show(runs, () => {
    if (runs.length === 0) return 'There are no such runs.';
    const isOne = args.text('config') !== undefined && runs.length > 2;
    return [...describeRuns(runs, io.width), ...(isOne ? chart(runs, io.width) : [])].join('\n');
  });
}

function describeRuns(runs: readonly Run[], width: number | undefined): readonly string[] {
  return fitTable(
    ['run', 'configuration', 'status', 'verdict', 'ended', 'took', 'rows', 'error'],
    runs.map((run) => [
      run.id,
      `${run.component}/${run.configuration}`,
      run.status,
      run.accepted === undefined ? (run.verdict ?? '') : `${run.verdict ?? ''}, accepted`,
      time(run.endTime),
      took(run.startTime, run.endTime),
      number(run.rowCount),
      short(run.error?.message ?? ''),
    ]),
    { right: ['took', 'rows'], elastic: ['error', 'configuration'], width },
  );
}

/** Rows and durations from the oldest run to the newest. */
function chart(runs: readonly Run[], width: number | undefined): readonly string[] {
  const ended = runs.filter(({ endTime }) => endTime !== null).toReversed();
  const seconds = ended.map(({ startTime, endTime }) => spanMs(startTime, endTime) / 1000);
  return [
    '',
    `rows  ${sparkline(
      ended.map(({ rowCount }) => rowCount ?? 0),
      width,
    )}`,
    `took  ${sparkline(seconds, width)}`,
  ];
}

const spanMs = (from: string | null, to: string | null): number =>
  from === null || to === null ? 0 : Date.parse(time(to)) - Date.parse(time(from));

async function listProblems({ args, io, client, show }: StorageContext): Promise<void> {
  const stray = ['limit', 'status'].find((name) => args.list(name).length > 0);
  if (stray !== undefined)
    throw refused(`--${stray} does not go with --failed.`, 'Leave one of the two out.');
  const now = systemEnv.now();
  const problems: RunProblems = await client.runs.problems({
    since: await momentOption(args, 'since', now),
    until: await momentOption(args, 'until', now),
    component: args.text('component'),
    configuration: args.text('config'),
  });
  show(problems, () => describeProblems(problems, io.width));
}
