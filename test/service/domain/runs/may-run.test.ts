import { expect, test } from 'vitest';
import { books, startWorld } from './support.ts';

test('whether a token may run a source is told before it tries, with the reason', async () => {
  const world = await startWorld({ runner: { concurrency: 1 } });
  await world.configure('a', books('http://127.0.0.1:9/'));
  await world.call('POST', 'buckets', { name: 'library', stage: 'in' });
  const rights = async (token?: object) => {
    const made = token === undefined ? undefined : await world.call('POST', 'tokens', token);
    const headers =
      made === undefined ? {} : { 'X-StorageApi-Token': (made.body as { token: string }).token };
    return await world.call('GET', 'components/ex-generic-v2/configs/a/run-rights', undefined, headers);
  };
  expect((await rights()).body).toEqual({ canRun: true });
  const limited = { description: 'limited', componentAccess: ['ex-generic-v2'] };
  expect((await rights(limited)).body).toEqual({
    canRun: false,
    reason: 'The token “limited” may not write into the bucket in.c-library.',
    hint: 'Give it the right, or start the run with another token.',
  });
  const writing = { ...limited, bucketPermissions: { 'in.c-library': 'write' } };
  // the default bucket of the configuration is among them
  expect((await rights(writing)).body).toMatchObject({ canRun: false });
  expect((await rights({ ...limited, canManageBuckets: true })).body).toEqual({ canRun: true });
  expect((await rights({ ...limited, canManageBuckets: true, isReadOnly: true })).body).toMatchObject({
    canRun: false,
  });
  expect(await rights({ description: 'other' })).toMatchObject({ status: 403 });
});
