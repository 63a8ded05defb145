import type { Run, StorageClient } from '../../storage/client/index.ts';
import { listed, valued, type Args, type Command } from '../command.ts';
import { systemEnv } from '../../lib/env.ts';
import { formatTable } from '../format.ts';
import { refused } from '../parse.ts';
import { storageCommand } from '../storage/storage-command.ts';
import { momentOption } from './moment.ts';

const idsWord = {
  name: 'ids',
  describe: 'Numbers of runs',
  isRequired: false,
  isList: true,
} as const;

export const changeRunCommands: readonly Command[] = [
  storageCommand({
    name: 'rerun',
    describe:
      'Start runs again as they were asked for, each configuration once; those of a cause with --cause',
    words: [idsWord],
    options: {
      cause: listed(
        'RUN',
        'All configurations that went wrong for the same cause as this run, and were not solved since',
      ),
      since: valued('TIME', 'With --cause: runs from this time on; the last 24 hours by default'),
    },
    examples: [
      ['gex runs rerun 1004 1005', 'Two runs again'],
      ['gex runs rerun --cause 1004 --since yesterday', 'All that failed as that run did'],
    ],
    async run({ args, client, show }) {
      const runs = await Promise.all((await idsOf(args, client)).map((id) => client.runs.detail(id)));
      // one that failed three times is needed once
      const needed = new Map(
        runs.map((run) => [JSON.stringify([run.component, run.configuration, run.asked]), run]),
      );
      const started: Run[] = [];
      for (const { component, configuration, asked } of needed.values())
        started.push(await client.runs.start({ component, configuration, ...asked }));
      show(started, () => (started.length === 0 ? 'There is nothing to run again.' : describeRuns(started)));
    },
  }),
  storageCommand({
    name: 'cancel',
    describe: 'Ask runs to end',
    words: [{ ...idsWord, isRequired: true }],
    examples: [['gex runs cancel 1004', 'One run']],
    async run({ args, client, show }) {
      const runs: Run[] = [];
      for (const id of args.words('ids')) runs.push(await client.runs.cancel(id));
      show(runs, () => describeRuns(runs));
    },
  }),
];

async function idsOf(args: Args, { runs }: StorageClient): Promise<readonly string[]> {
  const [ids, causes] = [args.words('ids'), args.list('cause')];
  if (ids.length === 0 && causes.length === 0)
    throw refused('Say which runs.', 'Write their numbers, or --cause with the number of one of them.');
  if (causes.length === 0) {
    if (args.text('since') === undefined) return ids;
    throw refused('--since goes with --cause.', 'Leave it out.');
  }
  const { problems } = await runs.problems({ since: await momentOption(args, 'since', systemEnv.now()) });
  const found = causes.flatMap((run) => {
    const problem = problems.find(({ runIds }) => runIds.includes(run));
    if (problem !== undefined)
      return problem.sources.flatMap(({ lastRun, isSolved }) => (isSolved ? [] : [lastRun]));
    throw refused(
      `The run ${run} is not among those that went wrong in that time.`,
      'Look with gex runs --failed, and give the same --since.',
    );
  });
  return [...new Set([...ids, ...found])];
}

function describeRuns(runs: readonly Run[]): string {
  return formatTable(
    ['run', 'configuration', 'status'],
    runs.map(({ id, component, configuration, status }) => [id, `${component}/${configuration}`, status]),
  );
}
