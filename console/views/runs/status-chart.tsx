import type { Run, RunRequest } from '../../data/client.ts';
import { BarChart, type Bar, type Series } from '../../ui/chart.tsx';
import { countText, durationText, timeOf } from '../../ui/values.tsx';

const SERIES: readonly Series[] = [
  { name: 'Answered', tone: 'good' },
  { name: 'Refused (4xx)', tone: 'warn' },
  { name: 'Failed (5xx)', tone: 'bad' },
  { name: 'No answer', tone: 'muted' },
];

const BARS = 40;
/** Fewer requests are seen at a glance in their list. */
const LEAST = 5;

function seriesOf({ status }: RunRequest): number {
  if (status === undefined) return 3;
  if (status < 400) return 0;
  return status < 500 ? 1 : 2;
}

/** Counts requests by their status in equal parts of the time of a run, each attempt as one. */
export function statusBars(
  requests: readonly RunRequest[],
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): readonly Bar[] {
  const times = requests.map(({ at }) => Date.parse(at));
  const from = Math.min(startMs, ...times);
  const partMs = Math.max(1, (Math.max(endMs, ...times) - from) / BARS);
  const counts = Array.from({ length: BARS }, () => SERIES.map(() => 0));
  requests.forEach((request, i) => {
    const part = Math.min(BARS - 1, Math.floor(((times[i] ?? from) - from) / partMs));
    const values = counts[part] ?? [];
    const series = seriesOf(request);
    values[series] = (values[series] ?? 0) + 1;
  });
  return counts.map((values, part) => ({
    key: String(part),
    name: `+${durationText(part * partMs)}`,
    values,
  }));
}

/** Draws how requests of a run were answered, over its time. */
export function StatusChart({
  run,
  requests,
  total,
}: {
  readonly run: Run;
  readonly requests: readonly RunRequest[];
  /** How many are kept. */
  readonly total: number;
}) {
  if (requests.length < LEAST) return null;
  const startMs = timeOf(run.startTime ?? run.createdTime);
  const endMs = run.endTime === null ? Date.now() : timeOf(run.endTime);
  const isWhole = requests.length >= total;
  return (
    <BarChart
      title={isWhole ? 'Requests by status' : `Requests by status, the first ${countText(requests.length)}`}
      of="After"
      series={SERIES}
      bars={statusBars(requests, { startMs, endMs })}
      format={countText}
      leavesEmpty
    />
  );
}
