import { createEmpty } from '../duckdb/load.ts';
import { commentOn } from './catalogue.ts';
import type { DuckSession } from '../duckdb/session.ts';
import type { LakeTable } from './catalogue.ts';

/** Makes a table without rows in place of the one that may be there; versions before stay what they were. */
export async function makeTable(
  session: DuckSession,
  target: string,
  { columns, primaryKey, forms }: Pick<LakeTable, 'columns' | 'forms' | 'primaryKey'>,
): Promise<void> {
  await createEmpty(session, target, columns, forms);
  if (primaryKey.length > 0) await session.run(commentOn(target, primaryKey));
}
