import { render, screen, within } from '@testing-library/preact';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../../console/data/client.ts';
import { queries } from '../../../console/data/query.ts';
import { BarChart } from '../../../console/ui/chart.tsx';
import { countText } from '../../../console/ui/values.tsx';
import { Calendar } from '../../../console/views/runs/calendar.tsx';
import { curlOf } from '../../../console/views/runs/curl.ts';
import { partsOf } from '../../../console/views/runs/spent.tsx';
import { effectsOf } from '../../../console/views/sources/version-effect.tsx';
import { answer, signIn } from './service.ts';

function runOf(about: Partial<Run>): Run {
  return {
    id: '1',
    status: 'success',
    branchId: 1,
    component: 'ex',
    configuration: 'a',
    asked: {},
    configurationVersion: 1,
    schedule: null,
    scheduledTime: null,
    creatorToken: { id: '1', description: 'x' },
    createdTime: '2026-01-01T00:00:00+0000',
    startTime: '2026-01-01T00:00:05+0000',
    endTime: '2026-01-01T00:00:15+0000',
    cancelTime: null,
    attempt: 1,
    verdict: 'complete',
    exitCode: 0,
    error: null,
    log: { lines: 0 },
    ...about,
  };
}

describe('a chart', () => {
  test('has its numbers in a table, the newest first, and says in words what it shows', () => {
    render(
      <BarChart
        title="Runs"
        of="Day"
        series={[
          { name: 'Done', tone: 'good' },
          { name: 'Failed', tone: 'bad' },
        ]}
        bars={[
          { key: '1', name: 'Monday', values: [1200, 3] },
          { key: '2', name: 'Tuesday', values: [0, 0] },
        ]}
        format={countText}
      />,
    );
    const drawn = screen.getByRole('img', { name: /2 bars, from 0 to 1,203; the last, Tuesday, is 0/ });
    // One place for each bar, and a part for each series.
    expect(drawn.querySelectorAll('rect')).toHaveLength(6);
    const [head, ...rows] = within(screen.getByRole('table', { hidden: true })).getAllByRole('row', {
      hidden: true,
    });
    expect(head?.textContent).toBe('DayDoneFailed');
    expect(rows.map(({ textContent }) => textContent)).toEqual(['Tuesday00', 'Monday1,2003']);
  });

  test('of one bar says so in the singular', () => {
    render(
      <BarChart
        title="Runs"
        of="Day"
        series={[{ name: 'Runs', tone: 'accent' }]}
        bars={[{ key: '1', name: 'Monday', values: [3] }]}
        format={countText}
      />,
    );
    const drawn = screen.getByRole('img', { name: /^1 bar, 3; the last, Monday, is 3\./ });
    // It does not fill the chart.
    const [place, bar] = [...drawn.querySelectorAll('rect')].map((each) =>
      Number(each.getAttribute('width')),
    );
    expect(bar).toBeLessThan((place ?? 0) / 10);
  });

  test('of nothing is not drawn', () => {
    const { container } = render(<BarChart title="Runs" of="Day" series={[]} bars={[]} format={countText} />);
    expect(container.textContent).toBe('');
  });
});

const hour = (i: number, runs: number, schedules: number) => ({
  time: `2026-01-01T0${i}:00:00+0000`,
  runs,
  schedules,
  first: [{ component: 'ex', configuration: 'a/b', name: 'Shop' }].slice(0, schedules),
});

describe('the calendar', () => {
  test('draws the runs of each hour, and names some of the sources that begin them', async () => {
    signIn();
    answer({ 'GET schedules/calendar': { hours: [hour(6, 12, 3), hour(7, 0, 0), hour(8, 1, 1)] } });
    render(<Calendar />);
    await screen.findByRole('img', { name: /^3 bars, from 0 to 12/ });
    const [, ...rows] = within(screen.getByRole('table', { hidden: true })).getAllByRole('row', {
      hidden: true,
    });
    expect(rows.map(({ textContent }) => textContent?.replace(/^.*\d\d:\d\d /, ''))).toEqual([
      'Shop1',
      '0',
      'Shop, and 2 more12',
    ]);
    const [link] = screen.getAllByRole('link', { hidden: true });
    expect(link?.getAttribute('href')).toBe('/runs/schedules/ex/a%2Fb');
  });

  test('of nothing says so', async () => {
    signIn();
    answer({ 'GET schedules/calendar': { hours: [hour(6, 0, 0)] } });
    queries.clear();
    render(<Calendar />);
    await screen.findByText('Nothing runs by itself within the next day.');
  });
});

describe('versions', () => {
  test('tell what runs by them gave beside those by earlier ones, of whole runs alone', () => {
    const effects = effectsOf([
      runOf({ id: '5', configurationVersion: 2, status: 'error' }),
      runOf({ id: '4', configurationVersion: 2, asked: { rows: ['x'] }, rowCount: 1 }),
      runOf({ id: '3', configurationVersion: 2, rowCount: 120 }),
      runOf({ id: '2', configurationVersion: 1, rowCount: 100 }),
      runOf({ id: '1', configurationVersion: null, rowCount: 7 }),
    ]);
    expect([...effects.keys()]).toEqual([2, 1]);
    expect(effects.get(2)).toMatchObject({ runs: 3, failed: 1, last: { id: '3' }, before: { id: '2' } });
    expect(effects.get(1)).toMatchObject({ runs: 1, failed: 0, last: { id: '2' } });
    expect(effects.get(1)?.before).toBeUndefined();
  });
});

describe('the time of a run', () => {
  const spent = {
    startMs: 500,
    loginMs: 0,
    requestsMs: 4000,
    waitingMs: 0,
    inputMs: 0,
    writingMs: 300,
    uploadMs: 0,
    importMs: 200,
  };

  test('has the queue and what is not known of it, and no parts without time', () => {
    expect(partsOf(runOf({ spent }))).toEqual([
      { name: 'Queue', ms: 5000, hue: 'sky' },
      { name: 'Start', ms: 500, hue: 'muted' },
      { name: 'Requests', ms: 4000, hue: 'accent' },
      { name: 'Writing', ms: 300, hue: 'teal' },
      { name: 'Import', ms: 200, hue: 'pink' },
      { name: 'Runner', ms: 5000, hue: 'muted' },
    ]);
    expect(partsOf(runOf({}))).toEqual([]);
    expect(partsOf(runOf({ spent, startTime: null }))).toEqual([]);
  });
});

test('a request is copied as a command that a shell takes as it is', () => {
  expect(curlOf({ method: 'GET', url: 'https://api.example.com/users?page=2' })).toBe(
    "curl 'https://api.example.com/users?page=2'",
  );
  expect(curlOf({ method: 'POST', url: 'https://a.example.com/x', body: `{"a":"it's"}` })).toBe(
    `curl -X POST https://a.example.com/x -d '{"a":"it'\\''s"}'`,
  );
});
