import { expect, test } from 'vitest';
import { clientOf } from './support.ts';

const COUNT = 2500;
const timeOf = (id: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, id)).toISOString();

/** A service with 2500 jobs, one a second; the job `n` reads the file `10_000 + n`. */
function service(
  fileCreated: string | undefined,
  longestPage = 100,
): { seen: string[]; fetch: typeof fetch } {
  const seen: string[] = [];
  const answer = (url: URL): Response => {
    seen.push(url.pathname.replace('/v2/storage/', ''));
    const id = Number(url.pathname.split('/').at(-1));
    if (!url.pathname.endsWith('/jobs'))
      return fileCreated === undefined
        ? Response.json({ error: 'File not found', code: 'storage.files.notFound' }, { status: 404 })
        : Response.json({ id, created: fileCreated });
    const [offset = 0, limit = 0] = ['offset', 'limit'].map((name) => Number(url.searchParams.get(name)));
    const newestFirst = Array.from({ length: COUNT }, (_, i) => COUNT - i);
    const page = newestFirst.slice(offset, offset + Math.min(limit, longestPage));
    return Response.json(
      page.map((job) => ({
        id: job,
        status: 'success',
        createdTime: timeOf(job),
        operationParams: { source: { fileId: String(10_000 + job), type: 'file' } },
      })),
    );
  };
  return {
    seen,
    fetch: (input) => Promise.resolve(answer(new URL(input instanceof Request ? input.url : input))),
  };
}

test('an import is found by its file among the newest jobs, and behind thousands of others', async () => {
  const { fetch, seen } = service(timeOf(1));
  const { jobs } = clientOf('http://storage.invalid', { fetch });
  expect((await jobs.findByFile(12_500))?.id).toBe(2500);
  expect(seen).toEqual(['jobs']);
  expect((await jobs.findByFile(10_007))?.id).toBe(7);
  expect(seen.filter((path) => path.startsWith('files/'))).toHaveLength(1);
});

test('the search ends with the jobs that are older than the file', async () => {
  const { fetch, seen } = service(timeOf(2301));
  expect(await clientOf('http://storage.invalid', { fetch }).jobs.findByFile(5)).toBeUndefined();
  expect(seen).toEqual(['jobs', 'files/5', 'jobs', 'jobs']);
});

test('of a file that is gone, all jobs are looked at', async () => {
  const { fetch, seen } = service(undefined);
  expect(await clientOf('http://storage.invalid', { fetch }).jobs.findByFile(5)).toBeUndefined();
  expect(seen.filter((path) => path === 'jobs')).toHaveLength(26);
});

test('pages that are shorter than asked for hide no job', async () => {
  const { fetch } = service(timeOf(1), 20);
  expect((await clientOf('http://storage.invalid', { fetch }).jobs.findByFile(12_450))?.id).toBe(2450);
});
