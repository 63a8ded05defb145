import type { MissedRun, RunProblem, RunProblems } from '../../storage/client/index.ts';
import { wrapped } from '../format.ts';
import { short, time } from '../storage/facts.ts';

const SHOWN_SOURCES = 5;
const WIDEST = 100;
const TEXT = 300;

/** Describes what went wrong by causes, each with its place in time, what to do and the configurations. */
export function describeProblems(problems: RunProblems, width = WIDEST): string {
  const { counts, since, until } = problems;
  const doubtful = counts.doubtful === 0 ? '' : ` (${counts.doubtful} in doubt)`;
  const accepted = counts.accepted > 0 ? `, ${counts.accepted} in doubt and accepted` : '';
  const head = `${time(since)} to ${time(until)}: ${counts.success} succeeded${doubtful}, ${counts.error} failed, ${counts.cancelled} cancelled${accepted}.`;
  const most = Math.min(width, WIDEST);
  const parts = [
    ...problems.problems.map((each) => describe(each, most, sinceOption(problems))),
    ...problems.missed.map(missedText),
  ];
  if (parts.length === 0) return `${head}\nNothing went wrong.`;
  if (problems.leftOut > 0) parts.push(`${problems.leftOut} more runs went wrong: give a shorter range.`);
  return [wrapped(head, most).join('\n'), ...parts].join('\n\n');
}

/** More than the range that the commands look at by themselves. */
const DAY_MS = 24 * 3_600_000 + 60_000;

/** Returns the option that has another command look at the same range; empty where it does so by itself. */
function sinceOption({ since, until }: RunProblems): string {
  return Date.parse(time(until)) - Date.parse(time(since)) > DAY_MS ? ` --since ${time(since)}` : '';
}

/** Returns the command that goes on from a cause; none where all of it is solved. */
function nextCommand({ error, runIds, sources }: RunProblem, since: string): readonly string[] {
  const [run] = runIds;
  if (run === undefined || sources.every(({ isSolved }) => isSolved)) return [];
  return error.code === 'run.doubtful'
    ? [`To accept it: gex runs accept --cause ${run}${since} --because "…"`]
    : [`Again, when it is mended: gex runs rerun --cause ${run}${since}`];
}

function describe(problem: RunProblem, width: number, since: string): string {
  const { error, host, sources, firstTime, lastTime } = problem;
  const when = firstTime === lastTime ? time(lastTime) : `${time(firstTime)} to ${time(lastTime)}`;
  const kind = problem.kind === 'failed' ? 'failed' : 'in doubt';
  const runs = problem.runs === 1 ? '1 run' : `${problem.runs} runs`;
  const title = [`${runs} ${kind}`, error.code, host, when].filter((part) => part !== undefined).join(' · ');
  const body = [
    short(error.message, TEXT),
    ...(error.hint === undefined ? [] : [`To do: ${error.hint}`]),
    `Of ${sourcesText(problem)}`,
    ...(sources.every(({ isSolved }) => isSolved) ? ['Newer runs of all of them succeeded.'] : []),
  ].flatMap((line) => wrapped(line, width - 2));
  // One that is broken into lines could not be copied.
  const commands = [`More: gex runs show ${problem.runIds[0]}`, ...nextCommand(problem, since)];
  return [...wrapped(title, width), ...[...body, ...commands].map((line) => `  ${line}`)].join('\n');
}

function sourcesText({ sources }: RunProblem): string {
  const some = sources
    .slice(0, SHOWN_SOURCES)
    .map(({ configuration, runs, lastRun, isSolved }) => {
      const times = runs === 1 ? '' : `${runs} times, last `;
      return `${configuration} (${times}run ${lastRun}${isSolved ? ', solved since' : ''})`;
    })
    .join(', ');
  const more = sources.length - SHOWN_SOURCES;
  return more > 0 ? `${some} and ${more} more` : some;
}

const REASONS: Readonly<Record<MissedRun['reason'], string>> = {
  away: 'no process of the service looked at schedules then',
  waiting: 'the run before it still waited',
  overdue: 'no process of the service looks at schedules now',
};

function missedText({
  configuration,
  cron,
  timeZone,
  reason,
  times,
  firstTime,
  lastTime,
}: MissedRun): string {
  const when = times === 1 ? time(firstTime) : `${times} times from ${time(firstTime)} to ${time(lastTime)}`;
  return `Not run · ${configuration} by its schedule ${cron} (${timeZone}) · ${when}\n  ${REASONS[reason]}`;
}
