import { dropAll, isOnPostgres, makeTemplate } from './storage/server/database.ts';

/** Before all tests: the database that those of services are copies of. Gives what is done after them. */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (!isOnPostgres) return undefined;
  await makeTemplate();
  return dropAll;
}
