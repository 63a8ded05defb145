import { badRequest } from '../api-error.ts';
import { toldOfRow } from '../events/of-configurations.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { ConfigurationKey } from '../../stores/metadata/tables.ts';
import { checkVersion } from './check-version.ts';
import { appendVersion, stateWriterOf, type Change, type LoadedRow } from './model.ts';
import { requireConfiguration, requireRow, requireRowVersion } from './read-configuration.ts';
import {
  appendRowVersion,
  findRowHead,
  isSameRow,
  rowConfiguration,
  rowContent,
  updateRowHead,
  type RowContent,
} from './row-model.ts';
import { configurationsOf, type Transact } from '../../stores/metadata/transaction.ts';

export interface RowChanges extends NewRow {
  readonly ifVersion?: number | undefined;
}

export interface NewRow extends Partial<RowContent> {
  /** JSON text. */
  readonly state?: string | undefined;
}

/** Adds a row, and a version of the configuration with the same text. */
export async function createRow(
  transact: Transact,
  key: ConfigurationKey,
  row: string,
  given: NewRow,
  change: Change,
): Promise<LoadedRow> {
  return await transact(configurationsOf(key), async (tx) => {
    const configuration = await requireConfiguration(tx, key);
    if ((await findRowHead(tx, key, row))?.is_deleted === 0)
      throw badRequest('configurationRowAlreadyExists', `Row ${row} already exists`);
    const noted = { ...change, text: change.text ?? `Row ${row} added` };
    const content = {
      name: given.name ?? '',
      description: given.description ?? '',
      isDisabled: given.isDisabled ?? false,
      configuration: given.configuration ?? '',
    };
    const created = await appendRowVersion(tx, key, row, content, given.state ?? '{}', noted);
    await appendVersion(tx, configuration, { row: { id: row, version: created.head.version } }, noted);
    return await toldOfRow(tx, 'Created', created, change);
  });
}

/**
 * Changes the given fields; an update without changes, or of the state only, makes no version (5.3.5). The first
 * change of a row that was made without a configuration gives it one, and so is always a change; an empty list alone
 * is none.
 */
export async function updateRow(
  transact: Transact,
  key: ConfigurationKey,
  row: string,
  given: RowChanges,
  change: Change,
): Promise<LoadedRow> {
  return await transact(configurationsOf(key), async (tx) => {
    const configuration = await requireConfiguration(tx, key);
    const current = await requireRow(tx, key, row);
    checkVersion('row', current.head.version, given.ifVersion);
    const before = rowContent(current.version);
    const content = {
      name: given.name ?? before.name,
      description: given.description ?? before.description,
      isDisabled: given.isDisabled ?? before.isDisabled,
      configuration: nextConfiguration(before, given),
    };
    if (isSameRow(before, content)) return await withState(tx, current, given.state, change);
    const noted = { ...change, text: change.text ?? `Row ${row} changed` };
    const changed = await appendRowVersion(tx, key, row, content, given.state, noted);
    await appendVersion(tx, configuration, { row: { id: row, version: changed.head.version } }, noted);
    return await toldOfRow(tx, 'Changed', changed, change);
  });
}

export async function updateRowState(
  transact: Transact,
  key: ConfigurationKey,
  row: string,
  state: string,
  change: Change,
): Promise<LoadedRow> {
  return await transact(configurationsOf(key), async (tx) => {
    await requireConfiguration(tx, key);
    return await withState(tx, await requireRow(tx, key, row), state, change);
  });
}

/** Deletes a row for good; its past versions stay in those of the configuration. */
export async function deleteRow(
  transact: Transact,
  key: ConfigurationKey,
  row: string,
  change: Change,
): Promise<void> {
  await transact(configurationsOf(key), async (tx) => {
    const configuration = await requireConfiguration(tx, key);
    const known = await requireRow(tx, key, row);
    await updateRowHead(tx, known.head, { is_deleted: 1 });
    const noted = { ...change, text: change.text ?? `Row ${row} deleted` };
    await appendVersion(tx, configuration, { row: { id: row, version: undefined } }, noted);
    await toldOfRow(tx, 'Deleted', known, change);
  });
}

/** Makes an older version of a row its newest one (5.3.8). */
export async function rollbackRow(
  transact: Transact,
  key: ConfigurationKey,
  row: string,
  version: number,
  change: Change,
): Promise<LoadedRow> {
  return await transact(configurationsOf(key), async (tx) => {
    const configuration = await requireConfiguration(tx, key);
    await requireRow(tx, key, row);
    const target = await requireRowVersion(tx, key, row, version);
    const content = rowContent(target);
    const noted = { ...change, text: change.text ?? `Rollback to version ${version}` };
    const changed = await appendRowVersion(tx, key, row, content, undefined, noted, target.identifier);
    await appendVersion(
      tx,
      configuration,
      { row: { id: row, version: changed.head.version } },
      {
        ...change,
        text: change.text ?? `Row ${row} version ${version} rollback`,
      },
    );
    return await toldOfRow(tx, 'RolledBack', changed, change);
  });
}

async function withState(
  meta: Meta,
  row: LoadedRow,
  state: string | undefined,
  change: Change,
): Promise<LoadedRow> {
  if (state === undefined) return row;
  const changes = { state, state_writer: (await stateWriterOf(meta, state, change)) ?? null };
  await updateRowHead(meta, row.head, changes);
  return { ...row, head: { ...row.head, ...changes } };
}

function nextConfiguration(before: RowContent, given: NewRow): string {
  const isEmptyStill = before.configuration === '' && given.configuration === EMPTY_LIST;
  if (given.configuration !== undefined && !isEmptyStill) return given.configuration;
  if (!hasContent(given)) return before.configuration;
  return given.configuration ?? rowConfiguration(before);
}

/** Empty list of a client in PHP: no configuration, as before. */
const EMPTY_LIST = '[]';

const hasContent = ({ name, description, isDisabled }: NewRow): boolean =>
  name !== undefined || description !== undefined || isDisabled !== undefined;
