import { expect, test, vi } from 'vitest';

test('many commands in a process leave no listener each', async () => {
  // other tests may have done commands in this process
  vi.resetModules();
  const { boundYoungMemory } = await import('../../src/cli/heap-tuning.ts');
  const before = process.listenerCount('exit');
  for (let command = 0; command < 12; command++) boundYoungMemory(0);
  await expect.poll(() => process.listenerCount('exit')).toBeGreaterThan(before);
  // one is of a command that was done before, at most
  expect(process.listenerCount('exit')).toBeLessThanOrEqual(before + 2);
});
