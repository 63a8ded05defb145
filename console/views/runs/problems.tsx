import { useRef, useState } from 'preact/hooks';
import { client, type MissedRun, type RunProblem, type RunProblems } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { nameOf, useSources, type SourceRef } from '../../data/sources.ts';
import { Link } from '../../route/link.tsx';
import { at, setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { SourceLink } from '../../ui/source-link.tsx';
import { Badge, EmptyState, Loaded } from '../../ui/states.tsx';
import { plural, relativeText, RelativeTime, Text, timeOf } from '../../ui/values.tsx';
import { cronText } from '../../ui/cron-words.ts';
import { AcceptForm, isDoubt } from './accept.tsx';
import { NotDone, useMany, type Many } from './many.tsx';
import { Words } from './words.tsx';

const HOUR_MS = 3_600_000;

interface Range {
  readonly value: string;
  readonly text: string;
  /** Returns when it begins. */
  readonly since: (now: number) => number;
}

const hours = (count: number) => (now: number) => now - count * HOUR_MS;

/** Returns an hour of the day before, by the clocks of the browser. */
const yesterdayAt =
  (hour: number) =>
  (now: number): number => {
    const day = new Date(now);
    return new Date(day.getFullYear(), day.getMonth(), day.getDate() - 1, hour).getTime();
  };

const DAY: Range = { value: '', text: 'Last 24 hours', since: hours(24) };
const RANGES: readonly Range[] = [
  DAY,
  { value: 'night', text: 'Last night, since 18:00', since: yesterdayAt(18) },
  { value: 'yesterday', text: 'Since yesterday, 00:00', since: yesterdayAt(0) },
  { value: 'days', text: 'Last 3 days', since: hours(72) },
  { value: 'week', text: 'Last 7 days', since: hours(168) },
  { value: 'month', text: 'Last 30 days', since: hours(720) },
];

/** Range whose ends are in the address. */
const OWN = { value: 'own', text: 'From … to …' } as const;

/** Returns a time as a field for local times has it. */
function localTime(time: number): string {
  const offset = new Date(time).getTimezoneOffset();
  return new Date(time - offset * 60_000).toISOString().slice(0, 16);
}

const isoOf = (local: string): string | undefined =>
  Number.isNaN(Date.parse(local)) ? undefined : new Date(local).toISOString();

/** Shows what went wrong in a range of time, by causes, and runs all of a cause again. */
export function Problems() {
  const { query } = usePlace();
  const isOwn = query.get('range') === OWN.value;
  const range = RANGES.find(({ value }) => value === query.get('range')) ?? DAY;
  const [since, until] = [query.get('since') ?? '', query.get('until') ?? ''];
  const own = { since: isoOf(since), until: isoOf(until) };
  const isEmpty = isOwn && own.since !== undefined && own.until !== undefined && own.since >= own.until;
  const sources = useSources();
  const problems = useQuery({
    key: ['runs', 'problems', isOwn ? own : range.value],
    load: async () =>
      await client().runs.problems(isOwn ? own : { since: new Date(range.since(Date.now())).toISOString() }),
    isEnabled: !isEmpty,
    everyMs: () => 15_000,
    keepsPrevious: true,
  });
  const again = useMany(async (run) => {
    const { component, configuration, asked } = await client().runs.detail(run);
    return await client().runs.start({ component, configuration, ...asked });
  }, 'started');
  const because = useRef('');
  const accept = useMany(
    async (run) => await client().runs.accept(run, { because: because.current }),
    'accepted',
  );
  const [accepted, setAccepted] = useState<readonly string[] | undefined>();
  const actions: Actions = {
    again,
    accept: setAccepted,
    failed: new Map([...again.failed, ...accept.failed]),
    isRunning: again.isRunning || accept.isRunning,
    done: new Set([...again.done, ...accept.done]),
  };
  return (
    <Page
      title="What went wrong"
      crumbs={[{ to: '/runs', text: 'Runs' }]}
      about="Runs that failed or are in doubt, by their causes, and runs that should have been."
      actions={
        <Select
          label="Range of time"
          isLabelHidden
          value={isOwn ? OWN.value : range.value}
          options={[...RANGES, OWN]}
          onChange={(value) =>
            setQuery(
              value === OWN.value
                ? // From what was shown, so that something is there to begin with.
                  { range: value, since: localTime(range.since(Date.now())), until: undefined }
                : { range: value, since: undefined, until: undefined },
            )
          }
        />
      }
    >
      {isOwn && (
        <div class="filters runs-range">
          <Input
            label="From"
            type="datetime-local"
            value={since}
            onInput={(value) => setQuery({ since: value })}
          />
          <Input
            label="To"
            hint="Now, when it is empty."
            type="datetime-local"
            value={until}
            problem={isEmpty ? 'The range ends before it begins.' : undefined}
            onInput={(value) => setQuery({ until: value })}
          />
        </div>
      )}
      {!isEmpty && (
        <Loaded query={problems}>
          {(found) => (
            <>
              <div class="spread">
                <p role="status">{sumOf(found)}</p>
                <span class="row">
                  <AcceptAll found={found} actions={actions} />
                  <AllAgain found={found} actions={actions} />
                </span>
              </div>
              {found.problems.length + found.missed.length === 0 && (
                <div class="card">
                  <EmptyState icon="check" title="Nothing went wrong">
                    Choose a longer range of time to look further back.
                  </EmptyState>
                </div>
              )}
              {found.problems.map((problem) => (
                <Problem key={problem.id} problem={problem} actions={actions} sources={sources.data} />
              ))}
              {found.missed.map((missed) => (
                <Missed
                  key={`${missed.schedule} ${missed.reason} ${missed.firstTime}`}
                  missed={missed}
                  sources={sources.data}
                />
              ))}
              {found.leftOut > 0 && (
                <p class="muted">{plural(found.leftOut, 'more run')} went wrong: choose a shorter range.</p>
              )}
            </>
          )}
        </Loaded>
      )}
      {accepted !== undefined && (
        <AcceptForm
          runs={accepted.length}
          isBusy={accept.isRunning}
          error={undefined}
          onAccept={(reason) => {
            because.current = reason;
            void accept.to(accepted).then(() => setAccepted(undefined));
          }}
          onClose={() => setAccepted(undefined)}
        />
      )}
    </Page>
  );
}

/** Actions on runs that went wrong. */
interface Actions {
  readonly again: Many;
  /** Asks why the doubts of these runs are accepted. */
  readonly accept: (runs: readonly string[]) => void;
  /** Runs with which it could not be done, with the reasons. */
  readonly failed: Many['failed'];
  readonly isRunning: boolean;
  /** Runs with which something was done. */
  readonly done: Many['done'];
}

function sumOf({ counts }: RunProblems): string {
  const doubtful = counts.doubtful === 0 ? '' : ` (${counts.doubtful} in doubt)`;
  const accepted = counts.accepted > 0 ? `, ${counts.accepted} in doubt and accepted` : '';
  return `${plural(counts.success, 'run')} succeeded${doubtful}, ${counts.error} failed, ${counts.cancelled} cancelled${accepted}.`;
}

/** Returns the last runs of sources that are not solved, and with which nothing was done here. */
const openRuns = ({ sources }: RunProblem, { done }: Actions): readonly string[] =>
  sources.flatMap(({ component, isSolved, lastRun }) =>
    mayUse(component) && !isSolved && !done.has(lastRun) ? [lastRun] : [],
  );

/** Runs all that is not solved again, whatever its cause; with one cause, its own button does. */
function AllAgain({ found, actions }: { readonly found: RunProblems; readonly actions: Actions }) {
  const { again, isRunning } = actions;
  const open = [...new Set(found.problems.flatMap((problem) => openRuns(problem, actions)))];
  if (open.length < 2 || found.problems.length < 2) return null;
  return (
    <Button icon="run" isBusy={isRunning} onPress={() => void again.to(open)}>
      Run all {String(open.length)} again
    </Button>
  );
}

/** Accepts all doubts, whatever they are about; with one cause, its own button does. */
function AcceptAll({ found, actions }: { readonly found: RunProblems; readonly actions: Actions }) {
  const doubts = found.problems.filter(isDoubt);
  const open = [...new Set(doubts.flatMap((problem) => openRuns(problem, actions)))];
  if (open.length < 2 || doubts.length < 2) return null;
  return (
    <Button icon="check" isBusy={actions.isRunning} onPress={() => actions.accept(open)}>
      Accept all {String(open.length)} doubts
    </Button>
  );
}

const ageOf = (time: string): string => relativeText(timeOf(time) - Date.now());

/** Shows when something was first and last; once where both are told the same. */
function Between({ first, last }: { readonly first: string; readonly last: string }) {
  if (ageOf(first) === ageOf(last)) return <RelativeTime value={last} />;
  return (
    <>
      <RelativeTime value={first} /> to <RelativeTime value={last} />
    </>
  );
}

const SHOWN_SOURCES = 8;

function Problem({
  problem,
  actions,
  sources,
}: {
  readonly problem: RunProblem;
  readonly actions: Actions;
  readonly sources: readonly SourceRef[] | undefined;
}) {
  const { error, host, firstTime, lastTime, runIds } = problem;
  const [isWhole, setWhole] = useState(false);
  const { again, isRunning } = actions;
  const open = openRuns(problem, actions);
  const shown = isWhole ? problem.sources : problem.sources.slice(0, SHOWN_SOURCES);
  const failed = new Map([...actions.failed].filter(([run]) => open.includes(run)));
  return (
    <section class="card runs-problem" aria-label={error.message}>
      <div class="spread">
        <div class="row">
          <Badge tone={problem.kind === 'failed' ? 'bad' : 'warn'}>
            {plural(problem.runs, 'run')} {problem.kind === 'failed' ? 'failed' : 'in doubt'}
          </Badge>
          {host !== undefined && (
            <span class="mono small">
              <Text>{host}</Text>
            </span>
          )}
          <span class="muted small">
            <Between first={firstTime} last={lastTime} />
          </span>
          {problem.sources.every(({ isSolved }) => isSolved) && <Badge tone="good">Solved since</Badge>}
        </div>
        {open.length > 0 && (
          <span class="row">
            {isDoubt(problem) && (
              <Button icon="check" isBusy={isRunning} onPress={() => actions.accept(open)}>
                {open.length === 1 ? 'Accept the doubt' : `Accept ${open.length} doubts`}
              </Button>
            )}
            <Button icon="run" isBusy={isRunning} onPress={() => void again.to(open)}>
              {open.length === 1 ? 'Run again' : `Run ${open.length} sources again`}
            </Button>
          </span>
        )}
      </div>
      <p class="runs-cause">
        <Words text={error.message} />
      </p>
      {error.hint !== undefined && (
        <p>
          <strong>To do:</strong> <Words text={error.hint} />
        </p>
      )}
      <ul class="runs-sources">
        {shown.map(({ component, configuration, runs, lastRun, isSolved }) => (
          <li key={`${component}/${configuration}`}>
            <SourceLink {...{ component, configuration }} name={nameOf(sources, component, configuration)} />{' '}
            <span class="muted small">
              {runs === 1 ? 'once' : `${runs} times`}, <Link to={at`/runs/${lastRun}`}>run {lastRun}</Link>
              {isSolved && ', solved since'}
            </span>
          </li>
        ))}
      </ul>
      <div class="row">
        {shown.length < problem.sources.length && (
          <Button onPress={() => setWhole(true)}>Show all {problem.sources.length} sources</Button>
        )}
        <Link to={at`/runs/${runIds[0] ?? ''}`}>Look at the newest run</Link>
      </div>
      <NotDone runs={failed} title="With these it was not done:" />
    </section>
  );
}

const REASONS: Readonly<Record<MissedRun['reason'], string>> = {
  away: 'No process of the service looked at schedules then; of the times that were missed the last one was made up for.',
  waiting: 'The run before it still waited for a runner.',
  overdue: 'No process of the service looks at schedules now.',
};

function Missed({
  missed,
  sources,
}: {
  readonly missed: MissedRun;
  readonly sources: readonly SourceRef[] | undefined;
}) {
  const { component, configuration, cron, timeZone, times, firstTime, lastTime, reason } = missed;
  return (
    <section class="card runs-problem" aria-label={`A schedule of ${configuration} gave no run`}>
      <div class="row">
        <Badge tone="warn">{plural(times, 'time')} not run</Badge>
        <SourceLink {...{ component, configuration }} name={nameOf(sources, component, configuration)} />
        <span class="muted small">
          <Between first={firstTime} last={lastTime} />
        </span>
      </div>
      <p>
        {cronText(cron)} ({timeZone}). {REASONS[reason]}
      </p>
    </section>
  );
}
