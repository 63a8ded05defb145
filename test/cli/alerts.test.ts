import { expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../src/storage/protocol/alert.ts';
import { startService } from '../service/harness.ts';
import { gexHere } from './support.ts';

test('alerts are made, tried, muted and deleted by the command', async () => {
  const service = await startService();
  onTestFinished(async () => await service.stop());
  const alerts = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await gexHere('alerts', ...args, '--storage', service.dir);
    return stdout + stderr;
  };
  expect(await alerts()).toContain('There are no alerts.');
  const made = await alerts('create', 'operations', 'http://127.0.0.1:9/hook', '--late', '60', '--json');
  const { id, kinds } = JSON.parse(made.slice(0, made.lastIndexOf('}') + 1)) as Alert;
  expect(kinds).toEqual(['failed', 'doubtful', 'late']);
  expect(await alerts('list')).toMatch(/operations +failed, doubtful, late +all configurations +on/);
  expect(await alerts('update', id, '--mute-until', '2100-01-01')).toMatch(
    /state +muted until 2100-01-01T00:00:00Z/,
  );
  expect(await alerts('update', id, '--off', '--on')).toContain('do not go together');
  expect(await alerts('update', id, '--off', '--kinds', 'nonsense')).toMatch(/kinds/);
  expect(await alerts('test', id)).toMatch(/test +waiting +0/);
  expect(await alerts('messages', id)).toMatch(/test +waiting/);
  expect(await alerts('delete', id)).toContain(`Deleted the alert ${id}.`);
  expect(await alerts('messages', id)).toContain('not found');
});
