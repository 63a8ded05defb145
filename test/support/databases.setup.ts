/** Before all tests: the database that those of services are copies of. Gives what is done after them. */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  const server = process.env['TEST_DATABASE_URL'];
  if (!server) return undefined;
  const { dropAll, makeTemplate } = await import('../service/database.ts');
  Object.assign(process.env, await makeTemplate(server));
  return dropAll;
}
