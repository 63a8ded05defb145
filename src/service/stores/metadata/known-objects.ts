import type { Meta } from './database.ts';
import { keysOfFiles } from './files.ts';

/**
 * Those of the keys whose objects belong to something: a file, a run, or an export that is at work. A key that is not of a
 * form that this service gives counts as one.
 */
export async function knownObjects(meta: Meta, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const known = new Set(await keysOfFiles(meta, keys));
  await forgetUnknown(known, runOf, async (ids) => {
    const rows = await meta.selectFrom('runs').select('id').where('id', 'in', ids.map(Number)).execute();
    return rows.map(({ id }) => String(id));
  });
  await forgetUnknown(known, exportOf, async (places) => await exportsAmong(meta, places));
  return known;
}

/** Removes keys whose owner no longer exists. */
async function forgetUnknown(
  keys: Set<string>,
  ownerOf: (key: string) => string | undefined,
  among: (owners: string[]) => Promise<readonly string[]>,
): Promise<void> {
  const owners = new Map([...keys].map((key) => [key, ownerOf(key)] as const));
  const asked = [...new Set(owners.values())].filter((owner) => owner !== undefined);
  if (asked.length === 0) return;
  const there = new Set(await among(asked));
  for (const [key, owner] of owners) if (owner !== undefined && !there.has(owner)) keys.delete(key);
}

/** The id of the run in the key of what is kept of it: `recordings/1234/…`. */
const runOf = (key: string): string | undefined => /^recordings\/(\d{1,15})\//.exec(key)?.[1];

/** The key of the file in that of a slice or the manifest of an export: `exp-2/1/table-exports/in/c-main/users/1234.csv`. */
const exportOf = (key: string): string | undefined =>
  /^(exp-\d+\/\d+\/table-exports\/.+\/\d{1,15}(?:-\d+)?\.csv(?:\.gz)?)(?:_0_0_\d+\.csv(?:\.gz)?|manifest)$/.exec(
    key,
  )?.[1];

async function exportsAmong(meta: Meta, places: readonly string[]): Promise<string[]> {
  const files = await meta
    .selectFrom('files')
    .select('object_key')
    .where('object_key', 'in', places)
    .execute();
  const jobs = new Map(
    places.map((place) => [place, Number(/(\d+)(?:-\d+)?\.csv(?:\.gz)?$/.exec(place)?.[1])]),
  );
  const atWork = await meta
    .selectFrom('jobs')
    .select('id')
    .where('id', 'in', [...jobs.values()])
    .where('ended', 'is', null)
    .execute();
  const ids = new Set(atWork.map(({ id }) => id));
  const ofJobs = places.filter((place) => ids.has(jobs.get(place) ?? NaN));
  return [...files.map(({ object_key }) => object_key), ...ofJobs];
}
