import type { ComponentChildren } from 'preact';
import type { JobReport } from '../../../src/engine/completeness/report.ts';
import { client, type Run } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Select } from '../../ui/field.tsx';
import { RUN_STATUS, StatusBadge, VerdictBadge } from '../../ui/run-badges.tsx';
import { Badge, EmptyState, Loaded, type Tone } from '../../ui/states.tsx';
import { countText, durationText, relativeText, Text, timeOf } from '../../ui/values.tsx';
import { isOver, rowsOf, tookMs } from './words.tsx';

/** Compares a run with another one of the same configuration. */
export function Compare({ run }: { readonly run: Run }) {
  const { query } = usePlace();
  const { component, configuration, id } = run;
  const others = useQuery({
    key: ['runs', 'list', 'to-compare', component, configuration],
    load: async () => await client().runs.list({ component, configuration, limit: 100 }),
  });
  return (
    <Loaded query={others}>
      {(all) => {
        const ended = all.filter((each) => each.id !== id && isOver(each));
        const earlier = ended.find((each) => Number(each.id) < Number(id)) ?? ended[0];
        const chosen = ended.find((each) => each.id === query.get('with')) ?? earlier;
        if (chosen === undefined)
          return (
            <div class="card">
              <EmptyState icon="run" title="There is no other run of this source">
                When it has run again, the two stand side by side here: their tables, rows, pages and times.
              </EmptyState>
            </div>
          );
        return (
          <div class="stack">
            <div class="filters">
              <Select
                label="Compare with"
                value={chosen.id}
                options={ended.map((each) => ({
                  value: each.id,
                  text: `Run ${each.id}, ${RUN_STATUS[each.status][1].toLowerCase()} ${relativeText(timeOf(each.createdTime) - Date.now())}`,
                }))}
                onChange={(value) => setQuery({ with: value })}
              />
            </div>
            <Pair run={run} other={chosen.id} />
          </div>
        );
      }}
    </Loaded>
  );
}

function Pair({ run, other }: { readonly run: Run; readonly other: string }) {
  const found = useQuery({
    key: ['runs', other],
    load: async (signal) => await client().runs.detail(other, { signal }),
  });
  return <Loaded query={found}>{(second) => <Comparison first={second} second={run} />}</Loaded>;
}

interface Line {
  readonly key: string;
  readonly name: ComponentChildren;
  readonly left: ComponentChildren;
  readonly right: ComponentChildren;
  /** Description of the difference; undefined if there is none, or one without significance. */
  readonly change?: string | undefined;
  /** Description of one without significance; default: `same`. */
  readonly hardly?: string | undefined;
  /** Colour of the difference; default: that of a warning. */
  readonly tone?: Tone | undefined;
}

function Comparison({ first, second }: { readonly first: Run; readonly second: Run }) {
  const groups: readonly (readonly [title: string, lines: readonly Line[]])[] = [
    ['The run', wholeLines(first, second)],
    ['Tables', numberLines(tablesOf(first), tablesOf(second))],
    ['Rows of jobs', numberLines(jobsOf(first, 'rows'), jobsOf(second, 'rows'))],
    ['Pages of jobs', numberLines(jobsOf(first, 'pages'), jobsOf(second, 'pages'))],
  ];
  return (
    <div class="runs-scroll card">
      <table class="runs-table runs-compare">
        <thead>
          <tr>
            <th>
              <span class="visually-hidden">What</span>
            </th>
            <th class="runs-right">Run {first.id}</th>
            <th class="runs-right">Run {second.id}</th>
            <th>Difference</th>
          </tr>
        </thead>
        {groups.map(
          ([title, lines]) =>
            lines.length > 0 && (
              <tbody key={title}>
                <tr>
                  <th colSpan={4} scope="rowgroup">
                    {title}
                  </th>
                </tr>
                {lines.map(({ key, name, left, right, change, hardly = 'same', tone = 'warn' }) => (
                  <tr key={key} class={change === undefined || tone === 'good' ? '' : 'runs-other'}>
                    <td>{name}</td>
                    <td class="runs-right">{left}</td>
                    <td class="runs-right">{right}</td>
                    <td>
                      {change === undefined ? (
                        <span class="muted small">{hardly}</span>
                      ) : (
                        <Badge tone={tone} isPlain>
                          {change}
                        </Badge>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            ),
        )}
      </table>
    </div>
  );
}

function wholeLines(first: Run, second: Run): Line[] {
  const [a, b] = [tookMs(first), tookMs(second)];
  return [
    {
      key: 'status',
      name: 'Status',
      left: <StatusBadge run={first} />,
      right: <StatusBadge run={second} />,
      change: first.status === second.status ? undefined : 'other',
    },
    {
      key: 'verdict',
      name: 'Verdict',
      left: <VerdictBadge verdict={first.verdict} />,
      right: <VerdictBadge verdict={second.verdict} />,
      change: first.verdict === second.verdict ? undefined : 'other',
    },
    ...numberLines(new Map([['All rows', rowsOf(first) ?? 0]]), new Map([['All rows', rowsOf(second) ?? 0]])),
    {
      key: 'took',
      name: 'Took',
      left: a === undefined ? '–' : durationText(a),
      right: b === undefined ? '–' : durationText(b),
      change:
        a !== undefined && b !== undefined && isMuchOther(a, b) ? (a < b ? 'slower' : 'faster') : undefined,
      hardly: a === b ? undefined : a === undefined || b === undefined ? '–' : 'about the same',
      tone: (a ?? 0) < (b ?? 0) ? 'warn' : 'good',
    },
  ];
}

/** Tells whether two durations differ significantly, as they are never equal: by half, and by a second at least. */
function isMuchOther(a: number, b: number): boolean {
  return Math.abs(a - b) > 1000 && Math.max(a, b) > 1.5 * Math.min(a, b);
}

function numberLines(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): Line[] {
  return [...new Set([...left.keys(), ...right.keys()])].map((name) => {
    const [a, b] = [left.get(name), right.get(name)];
    return {
      key: name,
      name: <Text>{name}</Text>,
      left: a === undefined ? '–' : countText(a),
      right: b === undefined ? '–' : countText(b),
      change: changeText(a, b),
    };
  });
}

function changeText(a: number | undefined, b: number | undefined): string | undefined {
  if (a === b) return undefined;
  if (a === undefined) return 'new';
  if (b === undefined) return 'missing';
  return `${b > a ? '+' : '−'}${countText(Math.abs(b - a))}`;
}

function tablesOf({ rows = [] }: Run): Map<string, number> {
  return new Map(
    rows.flatMap(({ tables }) =>
      tables.map(({ name, destination, rows: count }) => [destination ?? name, count]),
    ),
  );
}

function jobsOf({ rows = [] }: Run, of: 'pages' | 'rows'): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { id, jobs } of rows)
    // Written by the command, of this version or an older one.
    for (const job of jobs as readonly JobReport[]) {
      const name = id === undefined ? job.job : `${id} / ${job.job}`;
      sums.set(name, (sums.get(name) ?? 0) + job[of]);
    }
  return sums;
}
