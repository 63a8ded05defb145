import type { Run } from '../../data/client.ts';
import { durationText, timeOf } from '../../ui/values.tsx';
import '../../ui/chart.css';
import { tookMs } from './words.tsx';

type Spent = NonNullable<Run['spent']>;

/** Kinds of parts, of which those side by side have colours of their own. */
type Hue = 'accent' | 'muted' | 'olive' | 'pink' | 'sky' | 'teal' | 'warn';

const PARTS: readonly (readonly [part: keyof Spent, name: string, hue: Hue])[] = [
  ['startMs', 'Start', 'muted'],
  ['inputMs', 'Input', 'olive'],
  ['loginMs', 'Login', 'pink'],
  ['requestsMs', 'Requests', 'accent'],
  ['waitingMs', 'Waiting', 'warn'],
  ['writingMs', 'Writing', 'teal'],
  ['uploadMs', 'Upload', 'olive'],
  ['importMs', 'Import', 'pink'],
];

/** Whole seconds of the times of a run leave so much unknown. */
const ROUNDING_MS = 1500;

/** Returns what the time of a run went into, from its queue on; parts without time are left out. */
export function partsOf(run: Run): readonly { name: string; ms: number; hue: Hue }[] {
  const { spent, startTime, createdTime } = run;
  if (spent === undefined || startTime === null) return [];
  const known = PARTS.map(([part, name, hue]) => ({ name, ms: spent[part], hue }));
  const queueMs = Math.max(0, timeOf(startTime) - timeOf(createdTime));
  const restMs = (tookMs(run) ?? 0) - known.reduce((sum, { ms }) => sum + ms, 0);
  return [
    { name: 'Queue', ms: queueMs, hue: 'sky' as const },
    ...known,
    // Earlier attempts, and the runner before and behind its process.
    { name: 'Runner', ms: restMs > ROUNDING_MS ? restMs : 0, hue: 'muted' as const },
  ].filter(({ ms }) => ms > 0);
}

function shareText(share: number): string {
  const percent = Math.round(share * 100);
  return percent === 0 ? '< 1 %' : `${percent} %`;
}

/** Shows what the time of a run was spent on, as one bar and in numbers. */
export function SpentTime({ run }: { readonly run: Run }) {
  const parts = partsOf(run);
  const sum = parts.reduce((total, { ms }) => total + ms, 0);
  if (sum === 0) return null;
  let at = 0;
  return (
    <section class="card runs-spent" aria-label="What its time was spent on">
      <h2>What its time was spent on</h2>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        {parts.map(({ name, ms, hue }) => {
          const x = at;
          const width = (ms / sum) * 100;
          at += width;
          return (
            <g key={name}>
              <title>{`${name}: ${durationText(ms)}`}</title>
              <rect class={`chart-${hue}`} x={x} width={Math.max(0, width - 0.2)} height="10" />
            </g>
          );
        })}
      </svg>
      <dl class="runs-spent-parts">
        {parts.map(({ name, ms, hue }) => (
          <div key={name}>
            <dt>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <rect class={`chart-${hue}`} width="10" height="10" />
              </svg>{' '}
              {name}
            </dt>
            <dd>
              <span class="number">{durationText(ms)}</span>{' '}
              <span class="muted small">{shareText(ms / sum)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
