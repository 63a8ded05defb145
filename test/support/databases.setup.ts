/** Before all tests: the database that those of services are copies of. Gives what is done after them. */
export default async function setUp(): Promise<(() => Promise<void>) | undefined> {
  if (!process.env['TEST_DATABASE_URL']) return undefined;
  const { dropAll, makeTemplate } = await import('../service/database.ts');
  await makeTemplate();
  return dropAll;
}
