import { ApiError, badRequest, notFound } from '../api-error.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { configurationOwner } from '../../stores/metadata/metadata.ts';
import type { ConfigurationKey } from '../../stores/metadata/tables.ts';
import {
  appendVersion,
  insertConfiguration,
  saveState,
  sortOrder,
  type Change,
  type LoadedConfiguration,
  type WholeConfiguration,
} from './model.ts';
import { toldOf } from '../events/of-configurations.ts';
import { contentOf, findConfiguration, listRowIds, requireWhole } from './read-configuration.ts';
import { checkVersion } from './check-version.ts';
import { dropRows } from './row-model.ts';
import { configurationsOf, type Transact } from '../../stores/metadata/transaction.ts';

export interface NewConfiguration {
  readonly name: string;
  readonly description?: string | undefined;
  readonly isDisabled?: boolean | undefined;
  /** JSON text. */
  readonly configuration?: string | undefined;
  /** JSON text. */
  readonly state?: string | undefined;
}

/** Creates a configuration, or revives the id of a deleted one: its versions continue, its rows are gone (5.3.13). */
export async function createConfiguration(
  transact: Transact,
  key: ConfigurationKey,
  given: NewConfiguration,
  change: Change,
): Promise<LoadedConfiguration> {
  const noted = { ...change, text: change.text ?? 'Configuration created' };
  const first = {
    name: given.name,
    description: given.description ?? '',
    isDisabled: given.isDisabled ?? false,
    configuration: given.configuration ?? '{}',
    state: given.state ?? '{}',
  };
  return await transact(configurationsOf(key), async (tx) => {
    const known = await findConfiguration(tx, key);
    if (known === undefined)
      return await toldOf(tx, 'Created', await insertConfiguration(tx, key, first, noted), change);
    if (known.head.is_deleted === 0)
      throw badRequest('configurationAlreadyExists', `Configuration ${key.configuration_id} already exists`);
    await dropRows(tx, known);
    await deleteMetadata(tx, key);
    const changed = { ...first, isDeleted: false, rows: [], rowsSortOrder: [] };
    const revived = await appendVersion(tx, known, changed, noted);
    return await toldOf(tx, 'Created', revived, change);
  });
}

export interface ConfigurationChanges extends Omit<NewConfiguration, 'name'> {
  readonly name?: string | undefined;
  readonly rowsSortOrder?: readonly string[] | undefined;
  readonly ifVersion?: number | undefined;
}

/** Changes the given fields. An update without changes, or of the state only, makes no version (5.3.2, 5.3.3). */
export async function updateConfiguration(
  by: Changer,
  key: ConfigurationKey,
  given: ConfigurationChanges,
  change: Change,
): Promise<WholeConfiguration> {
  return await changeWhole(by, key, async (tx, now) => {
    const { state, rowsSortOrder: order, ifVersion } = given;
    checkVersion('configuration', now.head.version, ifVersion);
    if (order !== undefined) await checkOrder(tx, order, now);
    if (isChanged(now, given)) {
      const noted = { ...change, text: change.text ?? 'Configuration updated' };
      const changed = await toldOf(tx, 'Changed', await appendVersion(tx, now, given, noted), change);
      return { ...now, ...changed, configuration: given.configuration ?? now.configuration };
    }
    return state === undefined ? now : await saveState(tx, now, state, change);
  });
}

/** The state alone; never a version (5.3.3). */
export async function updateState(
  by: Changer,
  key: ConfigurationKey,
  state: string,
  change: Change,
): Promise<WholeConfiguration> {
  return await changeWhole(by, key, async (tx, now) => await saveState(tx, now, state, change));
}

/** Dependencies of a change: its transactions, and the database for reads after it. */
interface Changer {
  readonly meta: Meta;
  readonly transact: Transact;
}

async function changeWhole(
  by: Changer,
  key: ConfigurationKey,
  work: (tx: Meta, now: WholeConfiguration) => Promise<WholeConfiguration>,
): Promise<WholeConfiguration> {
  let content: string | undefined;
  const changed = await by.transact(configurationsOf(key), async (tx) => {
    const { configuration, ...rest } = await work(tx, await requireWhole(tx, key));
    // Not part of the transaction's result, which is stored for repetitions of the request: it may be long.
    content = configuration;
    return rest;
  });
  return { ...changed, configuration: content ?? (await contentOf(by.meta, changed.version)) };
}

/** Moves a configuration to the trash; one that is there already is purged (5.3.11). */
export async function deleteConfiguration(
  transact: Transact,
  key: ConfigurationKey,
  rights: { mayPurge: () => void },
  change: Change,
): Promise<void> {
  await transact(configurationsOf(key), async (tx) => {
    const current = await findConfiguration(tx, key);
    if (current === undefined) throw notFound(`Configuration ${key.configuration_id} not found`);
    if (current.head.is_deleted === 1) {
      rights.mayPurge();
      await purge(tx, key);
      await toldOf(tx, 'Purged', current, change);
      return;
    }
    const text = change.text ?? 'Configuration deleted';
    const deleted = await appendVersion(tx, current, { isDeleted: true }, { ...change, text });
    await toldOf(tx, 'Deleted', deleted, change);
  });
}

/** Restores a configuration from the trash, with its rows (5.3.12). */
export async function restoreConfiguration(
  transact: Transact,
  key: ConfigurationKey,
  change: Change,
): Promise<LoadedConfiguration> {
  return await transact(configurationsOf(key), async (tx) => {
    const current = await findConfiguration(tx, key);
    if (current === undefined || current.head.is_deleted === 0)
      throw notFound(`Deleted configuration ${key.configuration_id} not found`);
    const noted = { ...change, text: change.text ?? 'Configuration restored' };
    return await toldOf(
      tx,
      'Restored',
      await appendVersion(tx, current, { isDeleted: false }, noted),
      change,
    );
  });
}

function isChanged(
  { head, version, configuration }: WholeConfiguration,
  given: ConfigurationChanges,
): boolean {
  if (given.name !== undefined && given.name !== version.name) return true;
  if (given.description !== undefined && given.description !== version.description) return true;
  if (given.isDisabled !== undefined && given.isDisabled !== (version.is_disabled === 1)) return true;
  const order = given.rowsSortOrder;
  if (order !== undefined && JSON.stringify(order) !== head.rows_sort_order) return true;
  return given.configuration !== undefined && given.configuration !== configuration;
}

/** An order names every row exactly once (5.4). */
async function checkOrder(
  meta: Meta,
  order: readonly string[],
  { head }: LoadedConfiguration,
): Promise<void> {
  if (order.length === 0 && sortOrder(head).length === 0) return;
  const rows = new Set(await listRowIds(meta, head));
  const unknown = order.find((row) => !rows.has(row));
  if (unknown !== undefined)
    throw badRequest('storage.components.validation', `rowsSortOrder: the row "${unknown}" does not exist.`);
  const missing = [...rows].filter((row) => !order.includes(row));
  if (missing.length > 0 || order.length !== rows.size) {
    const reason = missing.length > 0 ? `these are missing: ${missing.join(', ')}` : 'one is named twice';
    throw new ApiError(
      400,
      'validation.invalidRowSortOrder',
      `rowsSortOrder must name every row of the configuration once; ${reason}.`,
    );
  }
}

async function purge(meta: Meta, key: ConfigurationKey): Promise<void> {
  for (const table of [
    'schedules',
    'row_versions',
    'configuration_rows',
    'configuration_contents',
    'configuration_orders',
    'configuration_version_rows',
    'configuration_versions',
    'configurations',
  ] as const) {
    await meta
      .deleteFrom(table)
      .where('branch_id', '=', key.branch_id)
      .where('component_id', '=', key.component_id)
      .where('configuration_id', '=', key.configuration_id)
      .execute();
  }
  await deleteMetadata(meta, key);
}

async function deleteMetadata(meta: Meta, key: ConfigurationKey): Promise<void> {
  const owner = { branch_id: key.branch_id, scope: 'configuration', owner: configurationOwner(key) } as const;
  await meta
    .deleteFrom('metadata')
    .where((where) => where.and(owner))
    .execute();
}
