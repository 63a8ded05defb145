import type { TestProject } from 'vitest/node';
import { startOwnPostgres } from '../../scripts/own-postgres.ts';
import { makeTemplate } from '../service/database.ts';

/** Before the tests of the project `postgres`: a server of their own, which other projects know nothing of. */
export default async function setUp(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const own = await startOwnPostgres();
  if (typeof own === 'string') {
    console.log(`Without the sample over PostgreSQL, which is skipped: ${own}`);
    return undefined;
  }
  Object.assign(project.config.env, await makeTemplate(own.url));
  return async () => await own.stop();
}
