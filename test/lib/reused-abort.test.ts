import { expect, test } from 'vitest';
import { onAbort, reusedController } from '../../src/lib/reused-abort.ts';

test.each([
  ['used again', reusedController],
  ['of the platform', () => new AbortController()],
])('a signal %s calls those back that still wait for it', (_, make) => {
  const controller = make();
  const called: string[] = [];
  const ends = ['a', 'b', 'c'].map((name) => onAbort(controller.signal, () => called.push(name)));
  ends[1]?.();
  controller.abort();
  expect(called).toEqual(['a', 'c']);
});
