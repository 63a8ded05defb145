import { newIdentifier } from '../../stores/metadata/identifier.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { ConfigurationKey, RowHead, RowVersionRow } from '../../stores/metadata/tables.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';
import { stateWriterOf, type Change, type LoadedConfiguration, type LoadedRow } from './model.ts';

/** Content of a row, without author and time. */
export interface RowContent {
  readonly name: string;
  readonly description: string;
  readonly isDisabled: boolean;
  /** JSON text; empty as long as none was given. */
  readonly configuration: string;
}

export function rowContent(version: RowVersionRow): RowContent {
  return {
    name: version.name,
    description: version.description,
    isDisabled: version.is_disabled === 1,
    configuration: version.configuration,
  };
}

export function isSameRow(a: RowContent, b: RowContent): boolean {
  return (
    a.name === b.name &&
    a.description === b.description &&
    a.isDisabled === b.isDisabled &&
    a.configuration === b.configuration
  );
}

/** The content of a row as JSON text, also where none was given. */
export const rowConfiguration = ({ configuration }: Pick<RowVersionRow, 'configuration'>): string =>
  configuration === '' ? '{}' : configuration;

/**
 * Adds the next version of a row. A deleted row id comes back: its versions continue (5.3.6), and its time of
 * creation stays (5.2). The caller adds the version of the configuration.
 *
 * @param state the new state; the last one stays when undefined
 * @param identifier of the version whose content comes back; a new one is made when undefined
 */
export async function appendRowVersion(
  meta: Meta,
  key: ConfigurationKey,
  row: string,
  content: RowContent,
  state: string | undefined,
  change: Change,
  identifier = newIdentifier(change.env),
): Promise<LoadedRow> {
  const known = await findRowHead(meta, key, row);
  const now = isoTime(change.env.now());
  const writer = await stateWriterOf(meta, state, change);
  const head: RowHead = {
    ...keyOf(key),
    row_id: row,
    version: (known?.version ?? 0) + 1,
    is_deleted: 0,
    state: state ?? known?.state ?? '{}',
    state_writer: (writer === undefined ? known?.state_writer : writer) ?? null,
    created: known?.created ?? now,
    creator_id: known?.creator_id ?? change.author.creator_id,
    creator_description: known?.creator_description ?? change.author.creator_description,
  };
  const version: RowVersionRow = {
    ...keyOf(key),
    row_id: row,
    version: head.version,
    identifier,
    name: content.name,
    description: content.description,
    is_disabled: content.isDisabled ? 1 : 0,
    configuration: content.configuration,
    change_description: change.text ?? '',
    created: now,
    ...change.author,
  };
  await meta.insertInto('row_versions').values(version).execute();
  if (known === undefined) await meta.insertInto('configuration_rows').values(head).execute();
  else await updateRowHead(meta, head, head);
  return { head, version };
}

/** A row, deleted or not. */
export async function findRowHead(
  meta: Meta,
  key: ConfigurationKey,
  row: string,
): Promise<RowHead | undefined> {
  return await meta
    .selectFrom('configuration_rows')
    .selectAll()
    .where((where) => where.and({ ...keyOf(key), row_id: row }))
    .executeTakeFirst();
}

export async function updateRowHead(
  meta: Meta,
  key: ConfigurationKey & { row_id: string },
  changes: Partial<RowHead>,
): Promise<void> {
  await meta
    .updateTable('configuration_rows')
    .set(changes)
    .where((where) => where.and({ ...keyOf(key), row_id: key.row_id }))
    .execute();
}

/** Marks all rows of a configuration as deleted. */
export async function dropRows(meta: Meta, { head }: LoadedConfiguration): Promise<void> {
  await meta
    .updateTable('configuration_rows')
    .set({ is_deleted: 1 })
    .where((where) => where.and(keyOf(head)))
    .execute();
}
