// @module-tag thorough
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Log, LogFields } from '../../../../src/lib/log.ts';
import { route } from '../../../../src/service/http/route.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import { matching, startService, type Running } from '../../harness.ts';

interface Line extends LogFields {
  readonly text: string;
}

const lines: Line[] = [];
const write = (text: string, fields: LogFields = {}): void => void lines.push({ text, ...fields });
const log: Log = { debug: write, info: write, warn: write, error: write };

const failing = route({
  method: 'POST',
  path: '/fail',
  summary: 'Fails',
  tag: 'Test',
  handle: () => {
    throw new Error('unforeseen');
  },
});

let api: Running;
beforeEach(async () => {
  lines.length = 0;
  api = await startService({ log, parts: [dataPart, () => ({ routes: [failing] })] });
});
afterEach(async () => await api.stop());

const idOf = async (headers: Record<string, string>): Promise<string | null> =>
  (await api.call('GET', 'tokens/verify', undefined, headers)).headers.get('x-request-id');

test('the id of a request is taken over when it is sane, or follows from its trace, or is new', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  expect(await idOf({ 'x-request-id': 'shop-42/a.b:c' })).toBe('shop-42/a.b:c');
  expect(await idOf({ traceparent: `00-${trace}-00f067aa0ba902b7-01` })).toBe(trace);
  expect(await idOf({ 'x-request-id': 'mine', traceparent: `00-${trace}-00f067aa0ba902b7-01` })).toBe('mine');
  const made = [
    await idOf({}),
    await idOf({ 'x-request-id': 'a b' }),
    await idOf({ 'x-request-id': '{"a":1}' }),
    await idOf({ 'x-request-id': 'x'.repeat(129) }),
    await idOf({ traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }),
    await idOf({ traceparent: 'nonsense' }),
  ];
  for (const id of made) expect(id).toMatch(/^[\da-f]{32}$/);
  expect(new Set(made).size).toBe(made.length);
});

test('an error is found by its request, and the request by its error', async () => {
  const { body } = await api.call('POST', 'fail', {}, { 'x-request-id': 'the-one' });
  const { exceptionId } = body as { exceptionId: string };
  expect(lines).toContainEqual(
    expect.objectContaining({ text: 'Request failed', requestId: 'the-one', exceptionId }),
  );
  const refused = await api.call('GET', 'jobs/1', undefined, { 'x-request-id': 'refused' });
  expect(refused.headers.get('x-request-id')).toBe('refused');
  expect(lines).toContainEqual(
    expect.objectContaining({
      text: 'Request refused',
      requestId: 'refused',
      exceptionId: (refused.body as { exceptionId: string }).exceptionId,
      code: matching(/./),
    }),
  );
});

test('a job carries the id of the request that asked for it into its own lines', async () => {
  await api.call('POST', 'buckets', { name: 'main' });
  const headers = { 'x-request-id': 'asked-by' };
  const made = await api.call(
    'POST',
    'buckets/in.c-main/tables-async',
    { name: 't', dataFileId: 99 },
    headers,
  );
  expect(made.status).toBeGreaterThanOrEqual(400);
  const file = (await api.call('POST', 'files/prepare', { name: 'x' })).body as { id: number };
  const asked = { name: 't', dataFileId: file.id };
  const { status, body } = await api.call('POST', 'buckets/in.c-main/tables-async', asked, headers);
  expect(status).toBe(202);
  const { id } = body as { id: number };
  await expect
    .poll(async () => ((await api.call('GET', `jobs/${id}`)).body as { status: string }).status)
    .toBe('error');
  const ofJob = lines.filter((line) => line['job'] === id);
  expect(ofJob.length).toBeGreaterThan(0);
  for (const line of ofJob) expect(line['requestId']).toBe('asked-by');
});
