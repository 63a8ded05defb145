import { expect, test, vi } from 'vitest';
import { boundYoungMemory } from '../../src/cli/heap-tuning.ts';

test('many commands in a process leave one listener of its end', async () => {
  const before = process.listenerCount('exit');
  for (let command = 0; command < 12; command++) boundYoungMemory(0);
  await vi.waitFor(() => expect(process.listenerCount('exit')).toBe(before + 1));
});
