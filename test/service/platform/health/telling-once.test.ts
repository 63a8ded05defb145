import { expect, test } from 'vitest';
import { silentLog, type Log } from '../../../../src/lib/log.ts';
import { logOnChange } from '../../../../src/service/platform/health/log-on-change.ts';

test('work that goes on failing is told once, and that it works again', async () => {
  const lines: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (text) => void lines.push(`error ${text}`),
    info: (text) => void lines.push(`info ${text}`),
  };
  const telling = logOnChange(() => log, 'The queue cannot be read');
  const fail = async (): Promise<void> => await telling(Promise.reject(new Error('away')));
  const work = async (): Promise<void> => await telling(Promise.resolve());
  await work();
  expect(lines).toEqual([]);
  for (let i = 0; i < 5; i++) await fail();
  expect(lines).toEqual(['error The queue cannot be read']);
  await work();
  await work();
  await fail();
  expect(lines).toEqual([
    'error The queue cannot be read',
    'info Recovered',
    'error The queue cannot be read',
  ]);
});
