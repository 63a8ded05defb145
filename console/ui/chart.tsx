import type { ComponentChildren } from 'preact';
import { plural, Text } from './values.tsx';
import './chart.css';

export type ChartTone = 'accent' | 'bad' | 'good' | 'muted' | 'warn';

/** Part of each bar of a chart: those of all series lie one upon the other. */
export interface Series {
  readonly name: string;
  readonly tone: ChartTone;
}

export interface Bar {
  readonly key: string;
  /** Name of the bar, such as a day. */
  readonly name: string;
  /** The same in the table of numbers, such as a link. */
  readonly shown?: ComponentChildren;
  /** One for each series. */
  readonly values: readonly number[];
  /** Another tone for all of it, such as that of a run that failed. */
  readonly tone?: ChartTone | undefined;
}

const HEIGHT = 100;
const STEP = 10;
/** No bar is wider than this part of a chart, however few there are. */
const WIDEST = 1 / 16;

/** Draws bars from the oldest to the newest in the colours of the page, with the numbers in a table. */
export function BarChart({
  title,
  of,
  series,
  bars,
  format,
  leavesEmpty = false,
}: {
  readonly title: string;
  /** Kind of the bars, as a heading of the table: `Run`, `Day`. */
  readonly of: string;
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  readonly format: (value: number) => string;
  /** Leaves bars without anything out of the table: for parts of a time, of which most are empty. */
  readonly leavesEmpty?: boolean;
}) {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const most = Math.max(0, ...sums);
  const width = Math.min(0.8 * STEP, bars.length * STEP * WIDEST);
  const [first, last] = [bars[0], bars.at(-1)];
  const listed = bars.filter((_, i) => !leavesEmpty || (sums[i] ?? 0) > 0);
  if (first === undefined || last === undefined) return null;
  return (
    <figure class="chart card">
      <figcaption class="spread">
        <strong>{title}</strong>
        {series.length > 1 && (
          <ul class="chart-key small" aria-hidden="true">
            {series.map(({ name, tone }) => (
              <li key={name}>
                <svg viewBox="0 0 10 10" width="10" height="10">
                  <rect class={`chart-${tone}`} width="10" height="10" />
                </svg>
                {name}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <div class="chart-plot">
        <span class="chart-most muted small number" aria-hidden="true">
          {format(most)}
        </span>
        <svg
          role="img"
          aria-label={summary({ bars, sums, most, format })}
          viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
        >
          {bars.map((bar, i) => (
            <Stack
              key={bar.key}
              bar={bar}
              at={i * STEP}
              width={width}
              most={most}
              series={series}
              format={format}
            />
          ))}
        </svg>
      </div>
      <div class={`chart-names muted small${bars.length < 3 ? ' chart-names-few' : ''}`} aria-hidden="true">
        <span>{first.name}</span>
        {bars.length > 1 && <span>{last.name}</span>}
      </div>
      <details class="chart-numbers">
        <summary class="small">Numbers</summary>
        <div class="chart-table" tabIndex={0} role="region" aria-label={`Numbers of ${title}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">{of}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="chart-right">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {listed.toReversed().map(({ key, name, shown, values }) => (
                <tr key={key}>
                  <th scope="row">{shown ?? <Text>{name}</Text>}</th>
                  {values.map((value, i) => (
                    <td key={series[i]?.name} class="chart-right number">
                      {format(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

function Stack({
  bar,
  at,
  width,
  most,
  series,
  format,
}: {
  readonly bar: Bar;
  readonly at: number;
  readonly width: number;
  readonly most: number;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}) {
  let top = HEIGHT;
  return (
    <g>
      <title>
        {`${bar.name}: ${bar.values
          .map((value, i) => (series.length > 1 ? `${series[i]?.name} ${format(value)}` : format(value)))
          .join(', ')}`}
      </title>
      {/* All of its place tells what it is, also where the bar is low. */}
      <rect class="chart-place" x={at} width={STEP} height={HEIGHT} />
      {bar.values.map((value, i) => {
        // A small value can be seen, too.
        const height = value <= 0 || most === 0 ? 0 : Math.max(1.5, (value / most) * HEIGHT);
        top -= height;
        return (
          <rect
            key={series[i]?.name}
            class={`chart-${bar.tone ?? series[i]?.tone ?? 'accent'}`}
            x={at + (STEP - width) / 2}
            y={Math.max(0, top)}
            width={width}
            height={height}
          />
        );
      })}
    </g>
  );
}

function summary({
  bars,
  sums,
  most,
  format,
}: {
  readonly bars: readonly Bar[];
  readonly sums: readonly number[];
  readonly most: number;
  readonly format: (value: number) => string;
}): string {
  const least = Math.min(...sums);
  const last = bars.at(-1);
  return `${plural(bars.length, 'bar')}, ${least === most ? format(most) : `from ${format(least)} to ${format(most)}`}; the last, ${last?.name ?? ''}, is ${format(sums.at(-1) ?? 0)}. The numbers are in the table below.`;
}
