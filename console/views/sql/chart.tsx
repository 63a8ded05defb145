import type { SqlResult } from '../../data/client.ts';
import { countText, Text } from '../../ui/values.tsx';

/** Rows that a chart shows. */
const MOST_BARS = 50;

const isNumber = (type: string): boolean =>
  /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DOUBLE|FLOAT|DECIMAL|BIGNUM)\b/.test(type);

/** Shows the first column of numbers as bars, named by the first other column. */
export function Chart({ result }: { readonly result: SqlResult }) {
  const { columns, rows } = result;
  const value = columns.findIndex(({ type }) => isNumber(type));
  if (value < 0)
    return (
      <p>A chart needs a column of numbers: count, sum, or cast one, as in TRY_CAST(price AS DOUBLE).</p>
    );
  const name = columns.findIndex((_, i) => i !== value);
  const bars = rows.slice(0, MOST_BARS).map((row, i) => ({
    name: (name < 0 ? String(i + 1) : row[name]) ?? 'NULL',
    text: row[value] ?? 'NULL',
    size: Number(row[value] ?? 0),
  }));
  const most = Math.max(...bars.map(({ size }) => Math.abs(size)).filter(Number.isFinite), 0);
  return (
    <figure class="sql-chart">
      <figcaption class="muted small">
        <Text>{columns[value]?.name ?? ''}</Text>
        {rows.length > MOST_BARS && `, the first ${MOST_BARS} of ${countText(rows.length)} rows`}
      </figcaption>
      <ul>
        {bars.map((bar, i) => (
          <li key={i}>
            <span class="sql-chart-name">
              <Text>{bar.name}</Text>
            </span>
            <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
              <rect
                class={bar.size < 0 ? 'sql-bar-below' : 'sql-bar'}
                width={most === 0 || !Number.isFinite(bar.size) ? 0 : (Math.abs(bar.size) / most) * 100}
                height="10"
              />
            </svg>
            <span class="number">
              <Text>{bar.text}</Text>
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
