import { getKey, isObject, objectOf, sizeOf, withKey, type Json } from '../../../lib/json/index.ts';
import type { StateTag } from './file-mapping.ts';
import { keyOfTags } from './state.ts';

/** Positions after this run, for the next state; undefined while there is nothing to remember. */
export interface Remembered {
  readonly tables: readonly RememberedTable[];
  readonly files: readonly RememberedFiles[];
}

export interface RememberedTable {
  readonly source: string;
  readonly lastImportDate: string | undefined;
}

export interface RememberedFiles {
  readonly tags: readonly StateTag[];
  readonly lastImportId: number | undefined;
}

/**
 * Returns the state to keep. Tables and files that are not adaptive any more are forgotten; other keys of the old state
 * stay. Undefined when there is nothing to keep.
 */
export function nextInputState(old: Json | undefined, { tables, files }: Remembered): Json | undefined {
  if (tables.length === 0 && files.length === 0 && (!isObject(old) || sizeOf(old) === 0)) return undefined;
  const storage = isObject(old) ? old : objectOf([]);
  const oldInput = getKey(storage, 'input');
  // Two entries with one source remember the earlier time, so that neither misses anything.
  const dates = new Map<string, string>();
  for (const { source, lastImportDate } of tables) {
    const known = dates.get(source);
    if (
      lastImportDate !== undefined &&
      (known === undefined || Date.parse(lastImportDate) < Date.parse(known))
    )
      dates.set(source, lastImportDate);
  }
  const ids = new Map<string, { tags: readonly StateTag[]; lastImportId: number }>();
  for (const { tags, lastImportId } of files) {
    const known = ids.get(keyOfTags(tags));
    if (lastImportId !== undefined && (known === undefined || lastImportId < known.lastImportId))
      ids.set(keyOfTags(tags), { tags, lastImportId });
  }
  const input = withKey(
    withKey(
      isObject(oldInput) ? oldInput : objectOf([]),
      'tables',
      [...dates].map(([source, lastImportDate]) => ({ source, lastImportDate })),
    ),
    'files',
    [...ids.values()].map(({ tags, lastImportId }) => ({
      tags: tags.map(({ name, match }) => (match === undefined ? { name } : { name, match })),
      lastImportId,
    })),
  );
  return withKey(storage, 'input', input);
}

/**
 * Returns the time from which the next export takes rows: that of the last import before this export, or the second
 * after it.
 *
 * Times of the API are whole seconds, so the rows of that second would come again every time. If the export was later
 * than that by the service's own clock, no further import can fall into that second, since the jobs of a table run one
 * after another: then it is the second after. A margin of one second is for services on several machines.
 */
export function dateToRemember(lastImportDate: string, exportedAt: string | undefined): string {
  const nextMs = Date.parse(lastImportDate) + 1000;
  const isOver = exportedAt !== undefined && Date.parse(exportedAt) > nextMs;
  return isOver ? `${new Date(nextMs).toISOString().slice(0, 19)}+0000` : lastImportDate;
}
