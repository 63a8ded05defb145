import type { RunExplanation } from '../../data/client.ts';
import { countText, durationText, plural, Text, timeOf } from '../../ui/values.tsx';

type Change = NonNullable<RunExplanation['recordings'][number]['limits']>[number];

const WIDTH = 600;
const HEIGHT = 64;
const SPACE = 4;

/** Shows how many requests at once an API took in the time of a run, and why the number changed: a chart for each host. */
export function LimitTrace({
  recordings,
  startMs,
  endMs,
}: {
  readonly recordings: RunExplanation['recordings'];
  readonly startMs: number;
  readonly endMs: number;
}) {
  const hosts = Map.groupBy(
    recordings.flatMap(({ limits = [] }) => limits),
    ({ origin, credential = '' }) => `${origin} ${credential}`,
  );
  return [...hosts].map(([key, changes]) => (
    // rows beside each other share a limit, and each recording has a part of its changes
    <Host
      key={key}
      changes={changes.toSorted((a, b) => a.sent - b.sent || timeOf(a.at) - timeOf(b.at))}
      startMs={startMs}
      endMs={endMs}
    />
  ));
}

function Host({
  changes,
  startMs,
  endMs,
}: {
  readonly changes: readonly Change[];
  readonly startMs: number;
  readonly endMs: number;
}) {
  const [first] = changes;
  const last = changes.at(-1);
  if (first === undefined || last === undefined) return null;
  const most = Math.max(...changes.map(({ from, to }) => Math.max(from, to)));
  const cuts = changes.filter(({ from, to }) => to < from).length;
  const name = first.credential === undefined ? first.origin : `${first.origin} as ${first.credential}`;
  const words = `from ${first.from} to ${last.to}, ${most} at most, lowered ${cuts === 1 ? 'once' : `${cuts} times`}`;
  return (
    <section class="card runs-limit" aria-label={`Requests at once to ${name}`}>
      <div class="spread">
        <h2>Requests at once</h2>
        <span class="muted small">
          <Text>{name}</Text>
        </span>
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Requests at once: ${words}`}
      >
        <path d={pathOf(changes, { startMs, endMs, most })} />
      </svg>
      <p class="muted small">{`It went ${words}.`}</p>
      <details>
        <summary>{plural(changes.length, 'change')} with reasons</summary>
        <div class="runs-scroll">
          <table class="runs-table">
            <thead>
              <tr>
                <th class="runs-right">After</th>
                <th class="runs-right">Requests sent</th>
                <th>At once</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ at, sent, from, to, why }, i) => (
                <tr key={i}>
                  <td class="runs-right">{durationText(Math.max(0, timeOf(at) - startMs))}</td>
                  <td class="runs-right">{countText(sent)}</td>
                  <td class={to < from ? 'runs-warn' : undefined}>
                    {from === to ? `still ${to}` : `${from} → ${to}`}
                  </td>
                  <td>
                    <Text>{why}</Text>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

/** Returns the steps of the limit, from the beginning of the run to its end. */
function pathOf(
  changes: readonly Change[],
  { startMs, endMs, most }: { readonly startMs: number; readonly endMs: number; readonly most: number },
): string {
  const x = (ms: number): number =>
    Math.round(Math.min(1, Math.max(0, (ms - startMs) / Math.max(1, endMs - startMs))) * WIDTH);
  const y = (limit: number): number => Math.round(HEIGHT - SPACE - (limit / most) * (HEIGHT - 2 * SPACE));
  const steps = changes.map(({ at, to }) => `H${x(timeOf(at))}V${y(to)}`);
  return `M0 ${y(changes[0]?.from ?? 0)}${steps.join('')}H${WIDTH}`;
}
