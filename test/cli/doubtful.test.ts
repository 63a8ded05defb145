// @module-tag thorough
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';
import { configOf, dataFolder, filesOf, gex, json, startApi, type Api } from './support.ts';

/** Gives 100 of 131 users at once, whatever is asked for, or as many as `most`. */
const capped = (most = 100): Promise<Api> =>
  startApi(({ url }, response) => {
    const offset = Number(url.searchParams.get('offset') ?? 0);
    const limit = Math.min(Number(url.searchParams.get('limit') ?? 100), most);
    const users = Array.from({ length: 131 }, (_, i) => ({ id: i + 1 })).slice(offset, offset + limit);
    json(response, { users, meta: { total: 131 } });
  });

const paged = { pagination: { method: 'offset', limit: 1000 } };
const jobs = [{ endpoint: 'users', dataField: 'users' }];

const reportIn = (folder: string): Record<string, unknown> => {
  // the document that the command writes
  return JSON.parse(readFileSync(path.join(folder, 'out', 'report.json'), 'utf8')) as Record<string, unknown>;
};

describe('a job that may not have everything', { timeout: 120_000 }, () => {
  test('is not pushed, and can be pushed by hand with its state', async ({ expect }) => {
    const folder = dataFolder(configOf(await capped(), jobs, { api: paged }));
    const held = await gex('run', '--data', folder);
    expect(held.stderr).toContain(
      'The answer says `meta.total: 131`, and 100 rows came: the API gives at most 100 rows although 1000 were asked for. Set `limit` to 100.',
    );
    expect(held.stderr).toContain(`gex storage push ${folder}`);
    expect(held.stderr).toContain('--accept-doubtful');
    expect(held.code).toBe(1);
    expect(Object.keys(filesOf(path.join(folder, 'out')))).toEqual([
      'report.json',
      'state.json',
      'tables/library.users',
      'tables/library.users.manifest',
    ]);
    expect(Object.keys(filesOf(folder))).not.toContain('in/state.json');
    expect(reportIn(folder)).toMatchObject({
      held: true,
      jobs: [
        {
          job: 'users',
          verdict: 'doubtful',
          doubtful: [{ doubts: [{ code: 'totalAbove', path: 'meta.total' }] }],
        },
      ],
    });
    const pushed = await gex('storage', 'push', folder, '--storage', path.join(folder, 'storage'));
    expect(pushed.code).toBe(0);
    expect(Object.keys(filesOf(folder))).toContain('in/state.json');
  });

  test('is pushed with --accept-doubtful, and where the job accepts it', async ({ expect }) => {
    const folder = dataFolder(configOf(await capped(), jobs, { api: paged }));
    const taken = await gex('run', '--data', folder, '--accept-doubtful', '--json');
    expect(taken.code).toBe(0);
    expect(JSON.parse(taken.stdout)).toMatchObject({
      status: 'success',
      rows: [{ jobs: [{ verdict: 'doubtful' }], tables: [{ destination: 'in.c-library.users' }] }],
    });
    const words = { mode: 'accept', because: 'the first hundred are enough' };
    const other = dataFolder(configOf(await capped(), [{ ...jobs[0], completeness: words }], { api: paged }));
    const accepted = await gex('run', '--data', other);
    expect(accepted.stderr).toContain('It is accepted: the first hundred are enough');
    expect(accepted.code).toBe(0);
  });

  test('is a warning with --storage none, and an error with --strict', async ({ expect }) => {
    const folder = dataFolder(configOf(await capped(), jobs, { api: paged }));
    const warned = await gex('run', '--data', folder, '--storage', 'none');
    expect(warned.stderr).toContain('“users” may not have everything.');
    expect(warned.code).toBe(0);
    const strict = await gex('run', '--data', folder, '--storage', 'none', '--strict');
    expect(strict.stderr).toContain('“users” may not have everything: the tables are in');
    expect(strict.code).toBe(1);
  });

  test('is none where the field is said to be no sign', async ({ expect }) => {
    const notSigns = { notSigns: ['meta.total'] };
    const folder = dataFolder(
      // 100 rows would be a usual cap, and doubtful by themselves
      configOf(await capped(97), [{ ...jobs[0], completeness: notSigns }], { api: paged }),
    );
    const { code, stderr } = await gex('run', '--data', folder);
    expect(stderr).not.toContain('may not have everything');
    expect(code).toBe(0);
  });
});

describe('a trial', () => {
  test('is cut, and no doubt', async ({ expect }) => {
    const pagination = { method: 'offset', limit: 50 };
    const folder = dataFolder(configOf(await capped(), jobs, { api: { pagination } }));
    const { code } = await gex('run', '--data', folder, '--limit', '1', '--strict');
    expect(code).toBe(0);
    expect(reportIn(folder)).toMatchObject({ jobs: [{ verdict: 'cut', rows: 50 }] });
  });
});
