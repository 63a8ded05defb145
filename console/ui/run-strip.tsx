import type { Run } from '../data/client.ts';
import { Link } from '../route/link.tsx';
import { at } from '../route/router.ts';
import { BarChart, type Bar, type ChartTone } from './chart.tsx';
import { RUN_STATUS } from './run-badges.tsx';
import { countText, durationText, relativeText, timeOf } from './values.tsx';
import './run-strip.css';

/** Returns how a run stands in a word, with its verdict where that is a doubt. */
function stateOf({ status, verdict, cancelTime, accepted }: Run): {
  readonly kind: string;
  readonly text: string;
} {
  if (accepted !== undefined) return { kind: 'accepted', text: 'In doubt, accepted' };
  if (status === 'success' && (verdict === 'doubtful' || verdict === 'cut'))
    return { kind: 'doubtful', text: `Done, ${verdict}` };
  if (status === 'processing' && cancelTime !== null) return { kind: status, text: 'Ending' };
  return { kind: status, text: RUN_STATUS[status][1] };
}

const whenOf = (run: Run): string => relativeText(timeOf(run.endTime ?? run.createdTime) - Date.now());

/** Shows the last runs as a strip of states, the newest at its end; each is a link, and its form tells its state, too. */
export function RunStrip({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <ol class="run-strip" aria-label="Last runs, the oldest first">
      {runs.toReversed().map((run) => {
        const { kind, text } = stateOf(run);
        const words = `Run ${run.id}: ${text}, ${whenOf(run)}`;
        return (
          <li key={run.id} title={words}>
            <Link to={at`/runs/${run.id}`} class={`run-state run-state-${kind}`}>
              <span class="visually-hidden">{words}</span>
            </Link>
          </li>
        );
      })}
    </ol>
  );
}

const TONES: Readonly<Record<string, ChartTone>> = {
  error: 'bad',
  doubtful: 'warn',
  cancelled: 'muted',
};

const tookMs = ({ startTime, endTime }: Run): number =>
  Math.max(0, timeOf(endTime ?? '') - timeOf(startTime ?? ''));

/** Shows rows and durations of runs that have ended, from the oldest to the newest. */
export function RunCharts({ runs }: { readonly runs: readonly Run[] }) {
  const ended = runs.filter(({ endTime, startTime }) => endTime !== null && startTime !== null).toReversed();
  if (ended.length < 2) return null;
  const bars = (value: (run: Run) => number): readonly Bar[] =>
    ended.map((run) => {
      const { kind, text } = stateOf(run);
      const name = `Run ${run.id}, ${text}, ${whenOf(run)}`;
      const shown = (
        <>
          <Link to={at`/runs/${run.id}`}>Run {run.id}</Link>{' '}
          <span class="muted">{`${text}, ${whenOf(run)}`}</span>
        </>
      );
      return { key: run.id, name, shown, values: [value(run)], tone: TONES[kind] };
    });
  return (
    <div class="chart-pair">
      <BarChart
        title="Rows of each run"
        of="Run"
        series={[{ name: 'Rows', tone: 'accent' }]}
        bars={bars(({ rowCount }) => rowCount ?? 0)}
        format={countText}
      />
      <BarChart
        title="How long each run took"
        of="Run"
        series={[{ name: 'Took', tone: 'accent' }]}
        bars={bars(tookMs)}
        format={durationText}
      />
    </div>
  );
}
