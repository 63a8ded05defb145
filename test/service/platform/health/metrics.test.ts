import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPage } from '../../../repository/docs/markdown.ts';
import { clientOf } from '../../data/client.ts';
import { startService, type Running } from '../../harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService({ healthPort: 0 });
});
afterAll(async () => await api.stop());

async function scrape(service = api): Promise<string> {
  return await (await fetch(`${service.addresses.parts['health']}/metrics`)).text();
}

/** The value of a line such as `name{a="b"}`; undefined when there is none. */
function valueOf(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text
    .split('\n')
    .find(
      (each) =>
        /^[a-z_]+/.exec(each)?.[0] === name &&
        Object.entries(labels).every(([label, value]) => each.includes(`${label}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

test('requests are counted by the pattern of their address, in both its forms', async () => {
  const service = await startService({ healthPort: 0 });
  await service.call('GET', 'jobs/123');
  await service.call('GET', 'branch/default/jobs/456');
  await service.call('GET', 'no-such-thing-at-all');
  // A request is counted when its connection says that the answer has left.
  await expect.poll(async () => valueOf(await scrape(service), 'gex_http_requests_in_progress')).toBe(0);
  const text = await scrape(service);
  const route = '/v2/storage/jobs/:job';
  expect(valueOf(text, 'gex_http_requests_total', { method: 'GET', route, status: '404' })).toBe(2);
  expect(valueOf(text, 'gex_http_request_duration_seconds_count', { route })).toBe(2);
  expect(valueOf(text, 'gex_http_requests_total', { route: 'none', status: '404' })).toBe(1);
  const routes = [...text.matchAll(/ route="([^"]*)"|,route="([^"]*)"/g)].map(([line]) => line).join();
  for (const id of ['123', '456', 'no-such-thing']) expect(routes).not.toContain(id);
  expect(text).not.toContain('route="/ready"');
  await service.stop();
});

test('imports and exports are counted with their rows, and jobs by how they ended', async () => {
  const client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main' });
  const before = await scrape();
  await client.create('in.c-main', 'users', 'id,name\n1,Ann\n2,Bo\n');
  await client.create('in.c-main', 'wrong', 'id,id\n1,2\n');
  await client.rowsOf('in.c-main.users');
  const text = await scrape();
  const grown = (name: string, labels?: Record<string, string>): number =>
    (valueOf(text, name, labels) ?? 0) - (valueOf(before, name, labels) ?? 0);
  expect(grown('gex_imports_total')).toBe(1);
  expect(grown('gex_import_rows_total')).toBe(2);
  expect(grown('gex_import_bytes_total')).toBeGreaterThan(10);
  expect(grown('gex_exports_total')).toBe(1);
  expect(grown('gex_export_rows_total')).toBe(2);
  expect(grown('gex_job_duration_seconds_count', { operation: 'tableCreate', status: 'success' })).toBe(1);
  expect(grown('gex_job_duration_seconds_count', { operation: 'tableCreate', status: 'error' })).toBe(1);
  expect(valueOf(text, 'gex_jobs', { status: 'waiting' })).toBe(0);
  expect(valueOf(text, 'gex_jobs_oldest_waiting_seconds')).toBe(0);
});

test('what waits in the queue is seen with its age', async () => {
  const service = await startService({
    healthPort: 0,
    parts: [
      ({ meta, env }) => ({
        start: async () => {
          const { insertJob } = await import('../../../../src/service/stores/metadata/jobs.ts');
          const author = { creator_id: 1, creator_description: 'x' };
          const job = { branchId: 1, operation: 'x', params: {}, runId: null, author };
          await insertJob(meta, { ...env, now: () => env.now() - 60_000 }, job);
          await insertJob(meta, env, job);
        },
      }),
    ],
  });
  const text = await scrape(service);
  expect(valueOf(text, 'gex_jobs', { status: 'waiting' })).toBe(2);
  expect(valueOf(text, 'gex_jobs', { status: 'running' })).toBe(0);
  expect(valueOf(text, 'gex_jobs_oldest_waiting_seconds')).toBeGreaterThanOrEqual(60);
  await service.stop();
});

test('two services of one process count for themselves', async () => {
  const other = await startService({ healthPort: 0 });
  await other.call('GET', 'tokens/verify');
  await other.call('GET', 'tokens/verify');
  const route = '/v2/storage/tokens/verify';
  await expect.poll(async () => valueOf(await scrape(other), 'gex_http_requests_total', { route })).toBe(2);
  expect(valueOf(await scrape(), 'gex_http_requests_total', { route })).toBeUndefined();
  await other.stop();
});

test('the documentation names every metric, and none that there is not', async () => {
  const names = [...(await scrape()).matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(20);
  const { text } = readPage('docs/storage-service.md');
  const section = /\n### Metrics\n([^]*?)\n##/.exec(text)?.[1] ?? '';
  const documented = [...section.matchAll(/`((?:gex|process|nodejs)_\w+)(?:\{[^`]*\})?`/g)].map(
    ([, name]) => name ?? '',
  );
  expect(documented.toSorted()).toEqual(names.toSorted());
});
