import { expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { RunRequestWriter } from '../../../../src/service/domain/runs/run-requests.ts';
import { DatabaseUnavailable } from '../../../../src/service/platform/database/failures.ts';
import { openMeta, type Meta } from '../../../../src/service/stores/metadata/database.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import { takeRun } from '../../../../src/service/stores/metadata/run-leases.ts';
import { readRequests } from '../../../../src/service/stores/metadata/run-requests.ts';
import { insertRun } from '../../../../src/service/stores/metadata/runs.ts';
import type { RunRow } from '../../../../src/service/stores/metadata/tables.ts';

type Work = Parameters<ReturnType<Meta['transaction']>['execute']>[0];

/** A run at work, with a writer whose transactions are done as the test says. */
async function takenWhere(
  doing: (meta: Meta, work: Work) => Promise<unknown>,
): Promise<{ meta: Meta; run: RunRow; requests: RunRequestWriter }> {
  const meta = await openMeta(':memory:');
  await openProject(meta, systemEnv, { name: 'Project', region: 'us-east-1' });
  const configuration = { branch_id: 1, component_id: 'ex-generic-v2', configuration_id: 'a' };
  const author = { creator_id: 1, creator_description: 'somebody' };
  await meta
    .transaction()
    .execute(async (tx) => await insertRun(tx, systemEnv, { configuration, asked: {}, author }));
  const run = await takeRun(meta, { runner: 'here', now: systemEnv.now() });
  if (run === undefined) throw new Error('no run');
  const given = new Proxy(meta, {
    get: (target, name) => {
      if (name === 'transaction') return () => ({ execute: async (work: Work) => await doing(meta, work) });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const env = { ...systemEnv, sleep: async () => {} };
  return { meta, run, requests: new RunRequestWriter({ meta: given, run, env, log: silentLog }) };
}

test('requests that a heartbeat is writing are written when the run may end', async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const { meta, run, requests } = await takenWhere(async (meta, work) => {
    await gate;
    return await meta.transaction().execute(work);
  });
  requests.add(['1']);
  const beat = requests.write();
  let isOver = false;
  const ended = requests.end().then(() => (isOver = true));
  // All that could be done without the database is done by then.
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  letGo();
  await Promise.all([beat, ended]);
  expect(await readRequests(meta, run.id)).toEqual(['1']);
  await meta.destroy();
});

test('requests of the time in which the database was away are not lost, and none is there twice', async () => {
  let [refusals, breaks] = [3, 1];
  const { meta, run, requests } = await takenWhere(async (meta, work) => {
    if (refusals-- > 0) throw new DatabaseUnavailable('The database is starting.');
    const result = await meta.transaction().execute(work);
    if (breaks-- > 0) throw new DatabaseUnavailable('Connection terminated unexpectedly');
    return result;
  });
  requests.add(['1', '2']);
  await requests.write();
  expect(await readRequests(meta, run.id)).toEqual([]);
  requests.add(['3']);
  await requests.end();
  expect(await readRequests(meta, run.id)).toEqual(['1', '2', '3']);
  expect(breaks).toBeLessThan(0);
  await requests.end();
  expect(await readRequests(meta, run.id)).toEqual(['1', '2', '3']);
  await meta.destroy();
});
