import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { systemEnv } from '../../src/env.ts';
import { RunLog } from '../../src/runs/run-log.ts';
import { Secrets } from '../../src/secrets.ts';
import { DatabaseAway } from '../../src/storage/server/database/failures.ts';
import { openMeta } from '../../src/storage/server/meta/database.ts';
import { openProject } from '../../src/storage/server/meta/projects.ts';
import { readLog } from '../../src/storage/server/meta/run-log.ts';
import { insertRun, takeRun } from '../../src/storage/server/meta/runs.ts';

test('lines wait for a database that is away, and none is lost', async () => {
  const meta = await openMeta(':memory:');
  await openProject(meta, systemEnv, { name: 'Project', region: 'us-east-1' });
  const configuration = { branch_id: 1, component_id: 'ex-generic-v2', configuration_id: 'a' };
  const author = { creator_id: 1, creator_description: 'somebody' };
  await meta
    .transaction()
    .execute(async (tx) => await insertRun(tx, systemEnv, { configuration, asked: {}, author }));
  const run = await takeRun(meta, { runner: 'here', now: systemEnv.now() });
  if (run === undefined) throw new Error('no run');

  let refusals = 3;
  const refusing: KyselyPlugin = {
    transformQuery({ node }) {
      if (refusals-- > 0) throw new DatabaseAway('The database is starting.');
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const lost: unknown[] = [];
  const log = new RunLog({
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
  const lines = await readLog(meta, run.id, { offset: 0, limit: 10 });
  expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['first', 'second']);
  expect(lost).toEqual([]);
  expect(refusals).toBeLessThan(0);
  await meta.destroy();
});
