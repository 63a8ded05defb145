import type { Run, RunProblem, StorageClient } from '../../storage/client/index.ts';
import { flag, listed, valued, type Args, type Command } from '../command.ts';
import { systemEnv } from '../../lib/env.ts';
import { reasonOf, StorageError } from '../../lib/errors.ts';
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
      failed: flag('All configurations that went wrong and were not solved since, whatever the cause'),
      since: valued('TIME', 'With --cause or --failed: runs from this time on; the last 24 hours by default'),
    },
    examples: [
      ['gex runs rerun 1004 1005', 'Two runs again'],
      ['gex runs rerun --cause 1004 --since yesterday', 'All that failed as that run did'],
      ['gex runs rerun --failed --since yesterday', 'All that failed, each configuration once'],
    ],
    async run({ args, client, show }) {
      const runs = await Promise.all(
        (await idsOf(args, client, 'failed')).map((id) => client.runs.detail(id)),
      );
      // one that failed three times is needed once
      const needed = new Map(
        runs.map((run) => [JSON.stringify([run.component, run.configuration, run.asked]), run]),
      );
      const { done, failed } = await toEach(
        [...needed.values()],
        async ({ component, configuration, asked }) =>
          await client.runs.start({ component, configuration, ...asked }),
      );
      const isNothing = done.length + failed.length === 0;
      show(done, () => (isNothing ? 'There is nothing to run again.' : describeRuns(done)));
      requireAll(failed, 'started again');
    },
  }),
  storageCommand({
    name: 'accept',
    describe: 'Accept the doubts of runs: what they held back is loaded, and they are no failure any longer',
    words: [idsWord],
    options: {
      because: valued('TEXT', 'Why the tables are good all the same: it goes into the report'),
      cause: listed('RUN', 'All configurations whose last run is in doubt for the same cause as this run'),
      doubtful: flag('All configurations whose last run is in doubt, whatever the cause'),
      since: valued(
        'TIME',
        'With --cause or --doubtful: runs from this time on; the last 24 hours by default',
      ),
    },
    examples: [
      ['gex runs accept 1004 --because "the total counts deleted users, too"', 'Load what one run held back'],
      [
        'gex runs accept --cause 1004 --because "checked" --since yesterday',
        'The same of all with that doubt',
      ],
    ],
    async run({ args, client, show }) {
      const because = args.text('because')?.trim() ?? '';
      if (because === '')
        throw refused(
          'Say why the doubt is accepted.',
          'Write --because "the total counts deleted users, too".',
        );
      const ids = (await idsOf(args, client, 'doubtful')).map((id) => ({ id }));
      const { done, failed } = await toEach(ids, async ({ id }) => await client.runs.accept(id, { because }));
      const isNothing = done.length + failed.length === 0;
      show(done, () => (isNothing ? 'There is nothing to accept.' : describeRuns(done)));
      requireAll(failed, 'accepted');
    },
  }),
  storageCommand({
    name: 'cancel',
    describe: 'Ask runs to end',
    words: [{ ...idsWord, isRequired: true }],
    examples: [['gex runs cancel 1004', 'One run']],
    async run({ args, client, show }) {
      const ids = args.words('ids').map((id) => ({ id }));
      const { done, failed } = await toEach(ids, async ({ id }) => await client.runs.cancel(id));
      show(done, () => describeRuns(done));
      requireAll(failed, 'cancelled');
    },
  }),
];

interface Failed {
  readonly id: string;
  readonly error: unknown;
}

/** Does something to one run after the other: what one of them refuses stops no other. */
async function toEach<T extends { readonly id: string }>(
  runs: readonly T[],
  work: (run: T) => Promise<Run>,
): Promise<{ readonly done: readonly Run[]; readonly failed: readonly Failed[] }> {
  const [done, failed]: [Run[], Failed[]] = [[], []];
  for (const run of runs)
    try {
      done.push(await work(run));
    } catch (error) {
      failed.push({ id: run.id, error });
    }
  return { done, failed };
}

/** @throws what stopped the only one, or an error that says it of each */
function requireAll(failed: readonly Failed[], did: string): void {
  const [first, ...more] = failed;
  if (first === undefined) return;
  if (more.length === 0) throw first.error;
  throw new StorageError('storage.refused', `${failed.length} runs were not ${did}.`, {
    hint: failed.map(({ id, error }) => `Run ${id}: ${reasonOf(error)}`),
    cause: first.error,
  });
}

/** @param all the flag that takes all */
async function idsOf(
  args: Args,
  { runs }: StorageClient,
  all: 'doubtful' | 'failed',
): Promise<readonly string[]> {
  const [ids, causes] = [args.words('ids'), args.list('cause')];
  const isAll = args.isSet(all);
  if (ids.length === 0 && causes.length === 0 && !isAll)
    throw refused(
      'Say which runs.',
      `Write their numbers, --cause with the number of one of them, or --${all} for all.`,
    );
  if (causes.length === 0 && !isAll) {
    if (args.text('since') === undefined) return ids;
    throw refused(`--since goes with --cause or --${all}.`, 'Leave it out.');
  }
  const { problems } = await runs.problems({ since: await momentOption(args, 'since', systemEnv.now()) });
  const isMeant = ({ error }: RunProblem): boolean => all === 'failed' || error.code === 'run.doubtful';
  if (isAll) return [...new Set([...ids, ...problems.filter(isMeant).flatMap(openRuns)])];
  const found = causes.flatMap((run) => {
    const problem = problems.find(({ runIds }) => runIds.includes(run));
    if (problem !== undefined) return openRuns(problem);
    throw refused(
      `The run ${run} is not among those that went wrong in that time.`,
      'Look with gex runs --failed, and give the same --since.',
    );
  });
  return [...new Set([...ids, ...found])];
}

/** Returns the last runs of the configurations of a cause that had no good run since. */
const openRuns = ({ sources }: RunProblem): readonly string[] =>
  sources.flatMap(({ lastRun, isSolved }) => (isSolved ? [] : [lastRun]));

function describeRuns(runs: readonly Run[]): string {
  return formatTable(
    ['run', 'configuration', 'status'],
    runs.map(({ id, component, configuration, status }) => [id, `${component}/${configuration}`, status]),
  );
}
