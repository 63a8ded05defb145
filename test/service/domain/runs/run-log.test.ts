import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { RunLogWriter } from '../../../../src/service/domain/runs/run-log.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { DatabaseUnavailable } from '../../../../src/service/platform/database/failures.ts';
import { openMeta, type Meta } from '../../../../src/service/stores/metadata/database.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import { readLog } from '../../../../src/service/stores/metadata/run-log.ts';
import type { RunRow } from '../../../../src/service/stores/metadata/tables.ts';
import { findRun, insertRun } from '../../../../src/service/stores/metadata/runs.ts';
import { takeRun } from '../../../../src/service/stores/metadata/run-leases.ts';

async function taken(): Promise<{ meta: Meta; run: RunRow }> {
  const meta = await openMeta(':memory:');
  await openProject(meta, systemEnv, { name: 'Project', region: 'us-east-1' });
  const configuration = { branch_id: 1, component_id: 'ex-generic-v2', configuration_id: 'a' };
  const author = { creator_id: 1, creator_description: 'somebody' };
  await meta
    .transaction()
    .execute(async (tx) => await insertRun(tx, systemEnv, { configuration, asked: {}, author }));
  const run = await takeRun(meta, { runner: 'here', now: systemEnv.now() });
  if (run === undefined) throw new Error('no run');
  return { meta, run };
}

const messagesOf = async (meta: Meta, { id }: RunRow): Promise<string[]> =>
  (await readLog(meta, id, { offset: 0, limit: 10 })).map(
    (line) => (JSON.parse(line) as { message: string }).message,
  );

test('lines wait for a database that is away, and none is lost', async () => {
  const { meta, run } = await taken();
  let refusals = 3;
  const refusing: KyselyPlugin = {
    transformQuery({ node }) {
      if (refusals-- > 0) throw new DatabaseUnavailable('The database is starting.');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const lost: unknown[] = [];
  const log = new RunLogWriter({
    meta: meta.withPlugin(refusing),
    run,
    env: { ...systemEnv, sleep: async () => {} },
    secrets: new Secrets(),
    folder: '/nowhere',
    onLost: (why) => lost.push(why),
  });
  log.tell('info', 'first');
  log.tell('info', 'second');
  await log.end();
  expect(await messagesOf(meta, run)).toEqual(['first', 'second']);
  expect(lost).toEqual([]);
  expect(refusals).toBeLessThan(0);
  await meta.destroy();
});

test('lines are there once when the connection breaks in the commit', async () => {
  const { meta, run } = await taken();
  let breaks = 2;
  const transaction = () => ({
    async execute<T>(work: Parameters<ReturnType<Meta['transaction']>['execute']>[0]): Promise<T> {
      const result = (await meta.transaction().execute(work)) as T; // what the work gives
      if (breaks-- > 0) throw new DatabaseUnavailable('Connection terminated unexpectedly');
      return result;
    },
  });
  const breaking = new Proxy(meta, {
    get: (target, name) => {
      const value: unknown = name === 'transaction' ? transaction : Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const env = { ...systemEnv, sleep: async () => {} };
  const given = { meta: breaking, run, env, secrets: new Secrets(), folder: '/nowhere' };
  const lost: unknown[] = [];
  const log = new RunLogWriter({ ...given, onLost: (why) => lost.push(why) });
  log.tell('info', 'first');
  log.tell('info', 'second');
  await log.end();
  const again = new RunLogWriter({
    ...given,
    run: (await findRun(meta, run.id)) ?? run,
    onLost: (why) => lost.push(why),
  });
  again.tell('info', 'third');
  await again.end();
  expect(await messagesOf(meta, run)).toEqual(['first', 'second', 'third']);
  expect(await findRun(meta, run.id)).toMatchObject({ log_lines: 3 });
  expect(lost).toEqual([]);
  expect(breaks).toBeLessThan(0);
  await meta.destroy();
});
