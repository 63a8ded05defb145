import { expect, test } from 'vitest';
import { mapConcurrent } from '../../../../src/runner/mapping/input/lanes.ts';

const never = new AbortController().signal;

test('results come in the order of the items, and no more than so many run at a time', async () => {
  let running = 0;
  let most = 0;
  const results = await mapConcurrent([30, 5, 20, 1, 10], 2, never, async (ms) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, ms));
    running--;
    return ms * 2;
  });
  expect(results).toEqual([60, 10, 40, 2, 20]);
  expect(most).toBe(2);
});

test('the first failure stops the others, and is what is thrown', async () => {
  const begun: number[] = [];
  const ended: unknown[] = [];
  const failure = new Error('the second');
  const work = mapConcurrent([1, 2, 3, 4], 2, never, async (item, signal) => {
    begun.push(item);
    if (item === 2) throw failure;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ended.push(signal.reason);
    throw new Error('a consequence');
  });
  await expect(work).rejects.toBe(failure);
  expect(begun).toEqual([1, 2]);
  expect(ended).toEqual([failure]);
});

test('nothing begins when it was aborted before', async () => {
  const reason = new Error('Ctrl-C');
  const work = mapConcurrent([1], 2, AbortSignal.abort(reason), () => Promise.reject(new Error('it began')));
  await expect(work).rejects.toBe(reason);
});
