import { StorageError } from '../../lib/errors.ts';
import type {
  Run,
  RunExplanation,
  RunLogLine,
  RunRequest,
  StorageClient,
} from '../../storage/client/index.ts';
import { formatTable } from '../format.ts';
import { facts, number, short, time } from '../storage/facts.ts';
import { storageCommand } from '../storage/storage-command.ts';
import { took } from './duration.ts';

/** Lines of the end of the log among which warnings and errors are looked for. */
const LOG_LINES = 1000;
const SHOWN_LINES = 10;
const REQUESTS = 1000;
const TEXT = 500;

export const showRunCommand = storageCommand({
  name: 'show',
  describe: 'Show a run: what it took, what it gave, why it failed, and the last answer that was no good',
  words: [{ name: 'id', describe: 'Number of the run', isRequired: true }],
  examples: [['gex runs show 1004', 'One run']],
  async run({ args, client, show }) {
    const id = args.word('id');
    const run = await client.runs.detail(id);
    const [requests, log] = [await requestsOf(client, run), await logOf(client, run)];
    const bad = (await lastBadOf(client, run)) ?? requests.bad;
    const next = await nextOf(client, run);
    show({ ...run, lastBadRequest: bad, problemsInLog: log }, () =>
      describeRun(run, { ...requests, bad }, log, next),
    );
  },
});

type Asked = RunExplanation['requests'][number];

interface RequestSum {
  readonly count: number;
  readonly ms: number;
  readonly retries: number;
  /** The last one whose answer was no good. */
  readonly bad: Asked | RunRequest | undefined;
}

/** More of those that failed are not kept. */
const BAD_REQUESTS = 1000;

/** Returns the last request that got no answer or a bad one, also of a run that failed by it or goes on. */
async function lastBadOf({ runs }: StorageClient, { id }: Run): Promise<RunRequest | undefined> {
  let last: RunRequest | undefined;
  for (let offset = 0; ;) {
    const part = await runs
      .requests(id, { isBad: true, offset, limit: BAD_REQUESTS })
      .catch((error: unknown) => {
        // A service of an older version has none.
        if (error instanceof StorageError && error.code === 'storage.notFound') return undefined;
        throw error;
      });
    if (part === undefined) return undefined;
    last = part.requests.at(-1) ?? last;
    if (part.requests.length < BAD_REQUESTS) return last;
    offset = part.next;
  }
}

/** Goes through the requests of a run that has ended; there are none of one that has not. */
async function requestsOf({ runs }: StorageClient, { id }: Run): Promise<RequestSum> {
  let sum: RequestSum = { count: 0, ms: 0, retries: 0, bad: undefined };
  for (let offset = 0; ;) {
    const part = await runs.explanation(id, { offset, limit: REQUESTS }).catch((error: unknown) => {
      if (error instanceof StorageError && error.code === 'storage.notFound') return undefined;
      throw error;
    });
    if (part === undefined) return sum;
    for (const each of part.requests) {
      const isBad = each.status >= 400 || each.fate === 'bad';
      sum = {
        count: sum.count + 1,
        ms: sum.ms + each.ms,
        retries: sum.retries + each.retries,
        bad: isBad ? each : sum.bad,
      };
    }
    if (part.isEnded) return sum;
    offset = part.next;
  }
}

/** Tells how to go on from a run that went wrong: by a command, or from a newer run of its configuration. */
async function nextOf({ runs }: StorageClient, run: Run): Promise<string> {
  const { id, component, configuration, accepted, error, status, verdict, rows = [] } = run;
  const isHeld = error?.code === 'run.doubtful' && rows.some((row) => row.isHeld === true);
  const isDoubtful = accepted === undefined && (isHeld || (status === 'success' && verdict === 'doubtful'));
  const isFailed = (status === 'error' && accepted === undefined) || status === 'cancelled';
  if (!isDoubtful && !isFailed) return '';
  const [last] = await runs.list({ component, configuration, limit: 1 });
  if (last !== undefined && last.id !== id) return `run ${last.id} is newer: gex runs show ${last.id}`;
  return isDoubtful ? `gex runs accept ${id} --because "…", or gex runs rerun ${id}` : `gex runs rerun ${id}`;
}

/** The last warnings and errors of the log. */
async function logOf({ runs }: StorageClient, { id, log }: Run): Promise<readonly RunLogLine[]> {
  const offset = Math.max(0, log.lines - LOG_LINES);
  const { lines } = await runs.log(id, { offset, limit: LOG_LINES });
  return lines.filter(({ level }) => level === 'warn' || level === 'error').slice(-SHOWN_LINES);
}

function describeRun(run: Run, requests: RequestSum, log: readonly RunLogLine[], next: string): string {
  const { error, rows = [] } = run;
  const known = facts([
    ['run', run.id],
    ['configuration', `${run.component}/${run.configuration}`],
    ['version', run.configurationVersion === null ? '' : String(run.configurationVersion)],
    ['status', run.status],
    ['verdict', run.verdict ?? ''],
    ['accepted', acceptedText(run)],
    ['loads', run.accepts === undefined ? '' : `what run ${run.accepts.run} held back`],
    ['asked by', run.schedule === null ? run.creatorToken.description : `schedule ${run.schedule}`],
    ['asked', time(run.createdTime)],
    ['waited', took(run.createdTime, run.startTime)],
    ['started', time(run.startTime)],
    ['ended', time(run.endTime)],
    ['took', took(run.startTime, run.endTime)],
    ['spent on', spentText(run)],
    ['attempts', run.attempt > 1 ? String(run.attempt) : ''],
    ['requests', requestText(requests)],
    ['error', error === null ? '' : `${error.code}: ${error.message}`],
    ['to do', error?.hint ?? ''],
    ['to go on', next],
    ['last bad answer', requests.bad === undefined ? '' : badText(requests.bad)],
  ]);
  const tables = rows.flatMap(({ id = '', verdict = '', tables: ofRow }) =>
    ofRow.map(({ name, rows: count, destination = '' }) => [id, verdict, name, number(count), destination]),
  );
  const parts = [known];
  if (tables.length > 0)
    parts.push(formatTable(['row', 'verdict', 'table', 'rows', 'pushed to'], tables, ['rows']));
  if (log.length > 0)
    parts.push(
      [
        'Warnings and errors of its log:',
        ...log.map(({ time: at, message }) => `  ${at}  ${short(message, TEXT)}`),
      ].join('\n'),
    );
  return parts.join('\n\n');
}

function acceptedText({ accepted }: Run): string {
  if (accepted === undefined) return '';
  const { because, creatorToken, run } = accepted;
  const by = creatorToken === undefined ? 'by the configuration' : `by ${creatorToken.description}`;
  return `${by}: ${because}${run === undefined ? '' : ` (loaded by run ${run})`}`;
}

function requestText({ count, ms, retries }: RequestSum): string {
  if (count === 0) return '';
  const again = retries === 0 ? '' : `, ${retries} sent again`;
  return `${count} in ${(ms / 1000).toFixed(1)} s${again}`;
}

function badText(bad: Asked | RunRequest): string {
  if (!('number' in bad)) return `${bad.status} to ${bad.request.method} ${bad.request.url}, at ${bad.at}`;
  const { status, failure, text, request, at, ms } = bad;
  const what = status === undefined ? `none (${failure ?? 'given up'})` : String(status);
  return `${what} to ${request}, at ${at}, after ${ms} ms${text === undefined ? '' : `\n${short(text, TEXT)}`}`;
}

const SPENT: readonly (readonly [part: keyof NonNullable<Run['spent']>, name: string])[] = [
  ['startMs', 'start'],
  ['inputMs', 'input'],
  ['loginMs', 'login'],
  ['requestsMs', 'requests'],
  ['waitingMs', 'waiting'],
  ['writingMs', 'writing'],
  ['uploadMs', 'upload'],
  ['importMs', 'import'],
];

function spentText({ spent }: Run): string {
  if (spent === undefined) return '';
  return SPENT.filter(([part]) => spent[part] > 0)
    .map(([part, name]) => `${name} ${(spent[part] / 1000).toFixed(1)} s`)
    .join(', ');
}
