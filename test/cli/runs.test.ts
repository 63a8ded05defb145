// @module-tag thorough
import { describeProblems } from '../../src/cli/runs/problems.ts';
import { sparkline } from '../../src/cli/runs/sparkline.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunError } from '../../src/storage/protocol/run.ts';
import type { RunProblems } from '../../src/storage/protocol/problems.ts';
import { metaOf } from '../service/database.ts';
import { startService, type Running } from '../service/harness.ts';
import { gexHere, type Ended } from './support.ts';

const HOUR = 3_600_000;
const NOW = Date.now();
const ago = (hours: number): string => new Date(NOW - hours * HOUR).toISOString();

const failure = (code: string, message: string, url?: string): RunError => ({
  code,
  message,
  audience: 'user',
  hint: 'Look at it.',
  ...(url === undefined ? {} : { where: { url } }),
});

/** Five causes; what differs within one are ids, numbers, addresses and names. */
const CAUSES: readonly ((i: number) => RunError)[] = [
  (i) =>
    failure(
      'http.status',
      `The API answered 500 Internal Server Error to GET https://a.example.com/v1/users?page=${i}: request ${i}f3a9c21b${i} failed`,
      `https://a.example.com/v1/users?page=${i}`,
    ),
  (i) =>
    failure(
      'http.status',
      `The API answered 401 Unauthorized to GET https://a.example.com/v1/users?page=${i}.`,
      `https://a.example.com/v1/users?page=${i}`,
    ),
  (i) =>
    failure(
      'http.status',
      `The API answered 500 Internal Server Error to GET https://b.example.com/x/${i}.`,
      `https://b.example.com/x/${i}`,
    ),
  (i) => failure('run.doubtful', `The table “t${i}” may not have everything.`),
  () =>
    failure(
      'http.status',
      'The API answered 400 Bad Request to GET https://a.example.com/: {"error":"invalid_scope"}',
      'https://a.example.com/',
    ),
];

let running: Running;
const ids: string[] = [];
beforeAll(async () => {
  running = await startService();
  const meta = await metaOf(running.dir);
  for (const source of ['a', 'b', 'c']) {
    const made = { configurationId: source, name: source, configuration: {} };
    await running.call('POST', 'components/ex-generic-v2/configs', made);
  }
  const start = async (configuration: string): Promise<string> => {
    const body = { component: 'ex-generic-v2', configuration };
    return ((await running.call('POST', 'runs', body)).body as { id: string }).id;
  };
  for (let i = 0; i < 40; i++) ids.push(await start('abc'.charAt(i % 3)));
  // of 40 runs 20 failed, the last one of c by the fifth cause alone, and c succeeded again behind the others
  for (const [i, id] of ids.entries()) {
    const cause = i === 39 ? undefined : i < 20 ? CAUSES[i % 5] : undefined;
    await meta
      .updateTable('runs')
      .set({
        status: cause === undefined ? 'success' : 'error',
        verdict: i === 30 ? 'doubtful' : cause === undefined ? 'complete' : null,
        exit_code: cause === undefined ? 0 : 1,
        error: cause === undefined ? null : JSON.stringify(cause(i)),
        report: '[]',
        started: ago(40 - i),
        ended: ago(39.9 - i),
      })
      .where('id', '=', Number(id))
      .execute();
  }
  await meta.destroy();
});
afterAll(async () => await running.stop());

const problems = async (query: string): Promise<RunProblems> =>
  (await running.call('GET', `runs/problems${query}`)).body as RunProblems;

const runs = async (...args: readonly string[]): Promise<Ended> =>
  await gexHere('runs', ...args, '--storage', running.dir);

/** Returns what `gex runs --failed` tells, as one line. */
const failed = async (...args: readonly string[]): Promise<string> =>
  (await runs('--failed', ...args)).stdout.replaceAll(/\s+/g, ' ');

describe('what went wrong', () => {
  test('is told by causes, with configurations, times and whether they were solved since', async () => {
    const all = await problems(`?since=${ago(100)}`);
    expect(all.counts).toMatchObject({ success: 20, doubtful: 1, error: 20 });
    const failed = all.problems.filter(({ kind }) => kind === 'failed');
    expect(failed.map(({ error, host, runs: count }) => [error.message.slice(0, 22), host, count])).toEqual(
      expect.arrayContaining([
        ['The API answered 500 I', 'a.example.com', 4],
        ['The API answered 401 U', 'a.example.com', 4],
        ['The API answered 500 I', 'b.example.com', 4],
        ['The table “t18” may no', undefined, 4],
        ['The API answered 400 B', 'a.example.com', 4],
      ]),
    );
    expect(failed).toHaveLength(5);
    const [first] = failed;
    expect(first?.sources.every(({ isSolved }) => isSolved)).toBe(true);
    expect(new Set(first?.sources.map(({ configuration }) => configuration)).size).toBe(3);
    const [doubtful] = all.problems.filter(({ kind }) => kind === 'doubtful');
    expect(doubtful).toMatchObject({ runs: 1, runIds: [ids[30]], sources: [{ isSolved: true }] });
  });

  test('is not solved by a run before it, or by one in doubt', async () => {
    const meta = await metaOf(running.dir);
    const of = async (set: object): Promise<void> => {
      await meta.updateTable('runs').set(set).where('id', '=', Number(ids[39])).execute();
    };
    await of({ status: 'error', error: JSON.stringify(CAUSES[0]?.(39)) });
    expect((await problems('?since=2020-01-01')).problems[0]).toMatchObject({
      runs: 5,
      sources: [{ configuration: 'a', isSolved: false, lastRun: ids[39] }, {}, {}],
    });
    await of({ status: 'success', error: null });
    await meta.destroy();
  });

  test('is that of the last day by default, and of a range by its edges', async () => {
    expect((await problems('')).counts).toMatchObject({ success: 20, doubtful: 1, error: 4 });
    const edge = await problems(`?since=${ago(39.9)}&until=${ago(37.9)}`);
    expect(edge.counts.error).toBe(2);
    expect((await problems('?configuration=a&since=2020-01-01')).counts).toMatchObject({
      success: 7,
      error: 7,
    });
  });

  test('refuses what is no range', async () => {
    for (const query of ['?since=nonsense', '?since=2026-13-01', '?since=2026-02-01&until=2026-01-01']) {
      const { status, text } = await running.call('GET', `runs/problems${query}`);
      expect([status, text]).toEqual([400, expect.stringContaining('since')]);
    }
  });

  test('shows a token the components that it may use alone', async () => {
    const made = await running.call('POST', 'tokens', { description: 'x', componentAccess: ['other'] });
    const { token } = made.body as { token: string };
    const { body } = await running.call('GET', 'runs/problems?since=2020-01-01', undefined, {
      'x-storageapi-token': token,
    });
    expect(body).toMatchObject({ counts: { error: 0, success: 0 }, problems: [] });
  });
});

describe('gex runs', () => {
  test('lists runs, and goes without the word “list”', async () => {
    const { stdout, code } = await runs('--limit', '3');
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(/^run +configuration +status +verdict +ended +took +rows +error$/);
    expect(stdout).toContain(ids[39]);
    expect((await runs('list', '--config', 'a')).stdout).toMatch(/\nrows {2}0 to 0\ntook /);
  });

  test.each([
    ['bars where it is a terminal', [1, 2, 4], 80, '▃▅█  1 to 4'],
    ['the last that fit', Array.from({ length: 100 }, (_, i) => i), 60, '▇▇████████  90 to 99'],
    ['the bounds alone for programs', [1, 2, 4], undefined, '1 to 4'],
    ['nothing of nothing', [], 80, ''],
  ] as const)('draws %s', (_what, values, width, drawn) => {
    expect(sparkline(values, width)).toBe(drawn);
  });

  test('tells what went wrong and what to do', async () => {
    const { stdout } = await runs('--failed', '--since', '-100 hours');
    expect(stdout).toContain('20 succeeded (1 in doubt), 20 failed, ');
    expect(stdout).toMatch(/^4 runs failed · http\.status · a\.example\.com · /m);
    expect(stdout).toContain('To do: Look at it.');
    expect(stdout).toContain('solved since');
    expect(
      (await runs('--failed', '--since', '-20 hours', '--until', '-10 hours', '--config', 'b')).stdout,
    ).toContain('Nothing went wrong.');
  });

  test('tells how to go on from what is not solved', async () => {
    const meta = await metaOf(running.dir);
    const last = async (set: object): Promise<void> => {
      await meta.updateTable('runs').set(set).where('id', '=', Number(ids[39])).execute();
    };
    expect(await failed('--since', '-100 hours')).not.toMatch(/gex runs (?:rerun|accept)/);
    await last({ status: 'error', error: JSON.stringify(CAUSES[0]?.(39)) });
    expect(await failed()).toContain(`Again, when it is mended: gex runs rerun --cause ${ids[39]}`);
    expect(await failed('--since', '-100 hours')).toMatch(
      new RegExp(`gex runs rerun --cause ${ids[39]} --since 20\\S+Z`),
    );
    // In a narrow terminal, too, a command stays one line that can be copied.
    const { stdout: json } = await runs('--failed', '--since', '-100 hours', '--json');
    const narrow = describeProblems(JSON.parse(json) as RunProblems, 40);
    expect(narrow).toMatch(new RegExp(`^  Again, .* --cause ${ids[39]} --since 20\\S+Z$`, 'm'));
    for (const line of narrow.split('\n'))
      if (line.includes(' ') && !line.includes('gex runs')) expect(line.length).toBeLessThan(60);
    await last({ error: JSON.stringify(CAUSES[3]?.(39)) });
    expect(await failed()).toContain(`To accept it: gex runs accept --cause ${ids[39]} --because "…"`);
    await last({ status: 'success', error: null });
    await meta.destroy();
  });

  test('shows one run', async () => {
    const { stdout } = await runs('show', ids[0] ?? '');
    expect(stdout).toMatch(/^error +http\.status: The API answered 500/m);
    expect(stdout).toMatch(/^to do +Look at it\.$/m);
    expect((await runs('show', '999999')).code).toBe(1);
  });

  test('shows how to go on from one that went wrong, or the newer one of its source', async () => {
    // of c, which no other test runs again
    const meta = await metaOf(running.dir);
    const next = async (set: object | undefined, id = ids[38] ?? ''): Promise<string | undefined> => {
      if (set !== undefined) await meta.updateTable('runs').set(set).where('id', '=', Number(id)).execute();
      return /^to go on +(.*)$/m.exec((await runs('show', id)).stdout)?.[1];
    };
    expect(await next(undefined)).toBe(undefined);
    expect(await next({ status: 'error', error: JSON.stringify(CAUSES[0]?.(39)) })).toBe(
      `gex runs rerun ${ids[38]}`,
    );
    const accept = `gex runs accept ${ids[38]} --because "…", or gex runs rerun ${ids[38]}`;
    const held = JSON.stringify([{ rows: 1, tables: [], isHeld: true }]);
    expect(await next({ error: JSON.stringify(CAUSES[3]?.(39)), report: held })).toBe(accept);
    expect(await next({ report: '[]' })).toBe(`gex runs rerun ${ids[38]}`);
    expect(await next({ status: 'success', error: null, verdict: 'doubtful' })).toBe(accept);
    expect(await next({ verdict: 'complete' })).toBe(undefined);
    expect(await next(undefined, ids[2])).toBe(`run ${ids[38]} is newer: gex runs show ${ids[38]}`);
    await meta.destroy();
  });

  test('goes on after a run that refuses, and tells of each', async () => {
    const both = await runs('cancel', '999998', '999999');
    expect([both.code, both.stderr]).toEqual([
      1,
      expect.stringMatching(/2 runs were not cancelled[^]*999999/),
    ]);
    // All of them were solved since.
    expect((await runs('rerun', '--failed', '--since', '-100 hours')).stdout).toBe(
      'There is nothing to run again.\n',
    );
    expect((await runs('rerun', '1', '--since', '-1 hour')).stderr).toContain('--cause or --failed');
  });

  test('runs each configuration of a cause once more, but those that were solved', async () => {
    expect((await runs('rerun', '--cause', ids[0] ?? '', '--since', '-100 hours')).stdout).toBe(
      'There is nothing to run again.\n',
    );
    const again = await runs('rerun', ids[0] ?? '', ids[3] ?? '', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject([{ configuration: 'a', status: 'waiting' }]);
    const [{ id }] = JSON.parse(again.stdout) as [{ id: string }];
    expect((await runs('cancel', id)).stdout).toMatch(/cancelled/);
    expect((await runs('rerun')).stderr).toContain('Say which runs.');
    expect((await runs('rerun', '--cause', ids[25] ?? '')).stderr).toContain(
      'not among those that went wrong',
    );
  });
});
