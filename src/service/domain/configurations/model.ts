import type { Env } from '../../../lib/env.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import { newIdentifier } from '../../stores/metadata/identifier.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type {
  Author,
  ConfigurationHead,
  ConfigurationKey,
  ConfigurationVersionRow,
  RowHead,
  RowVersionRow,
} from '../../stores/metadata/tables.ts';
import { changeRows, type Order, type RowPair, type RowsChange } from './history.ts';
import { writeTogether, type Write } from '../../stores/metadata/write-together.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';

/** Configuration with its current version. */
export interface LoadedConfiguration {
  readonly head: ConfigurationHead;
  readonly version: ConfigurationVersionRow;
}

/** Configuration with its content. */
export interface WholeConfiguration extends LoadedConfiguration {
  /** JSON text. */
  readonly configuration: string;
  /** True when it has live rows. */
  readonly hasRows: boolean;
}

export interface LoadedRow {
  readonly head: RowHead;
  readonly version: RowVersionRow;
}

/** Author of a change, with its text (a default when undefined), and the environment. */
export interface Change {
  readonly author: Author;
  readonly env: Env;
  readonly text: string | undefined;
  /** The run that asked for it. */
  readonly runId?: string | null;
  /** True when a run of the service does it, by its own token. */
  readonly isOfRun?: boolean | undefined;
}

/** Author of a state, and the value of the counter of ids then. */
export interface StateWriter extends Author {
  readonly at: number;
}

// Written by this module only.
export const sortOrder = (head: ConfigurationHead): string[] => JSON.parse(head.rows_sort_order) as string[];

/** Difference of a version to the one before it. */
export interface VersionChange extends RowsChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly isDisabled?: boolean | undefined;
  readonly isDeleted?: boolean;
  /** New content as JSON text. */
  readonly configuration?: string | undefined;
  /** JSON text. It belongs to the configuration, not to the version. */
  readonly state?: string | undefined;
  /** Content of an older version. */
  readonly contentVersion?: number;
}

/** Adds the next version of a configuration: the one before with the changes. Must run in a transaction. */
export async function appendVersion(
  meta: Meta,
  before: LoadedConfiguration,
  changed: VersionChange,
  change: Change,
): Promise<LoadedConfiguration> {
  const number = before.head.version + 1;
  const order = await changeRows(meta, before.head, number, orderOf(before), changed);
  const writer = await stateWriterOf(meta, changed.state, change);
  const old = before.version;
  const version: ConfigurationVersionRow = {
    ...keyOf(before.head),
    version: number,
    identifier: newIdentifier(change.env),
    name: changed.name ?? old.name,
    description: changed.description ?? old.description,
    is_disabled: flag(changed.isDisabled, old.is_disabled),
    is_deleted: flag(changed.isDeleted, old.is_deleted),
    change_description: change.text ?? '',
    created: isoTime(change.env.now()),
    content_version:
      changed.configuration === undefined ? (changed.contentVersion ?? old.content_version) : number,
    order_version: order.version,
    ...change.author,
  };
  const head: ConfigurationHead = {
    ...before.head,
    version: number,
    is_deleted: version.is_deleted,
    rows_sort_order: JSON.stringify(order.ids),
    state: changed.state ?? before.head.state,
    state_writer: writer === undefined ? before.head.state_writer : writer,
  };
  await writeTogether(meta, [
    ...(changed.configuration === undefined ? [] : [insertContent(meta, version, changed.configuration)]),
    meta.insertInto('configuration_versions').values(version),
    updateHead(meta, before, head),
  ]);
  return { head, version };
}

/** Adds the first version of a configuration that wasn't there. Must run in a transaction. */
export async function insertConfiguration(
  meta: Meta,
  key: ConfigurationKey,
  first: { name: string; description: string; isDisabled: boolean; configuration: string; state: string },
  change: Change,
): Promise<LoadedConfiguration> {
  const created = isoTime(change.env.now());
  const head: ConfigurationHead = {
    ...key,
    version: 1,
    is_deleted: 0,
    state: first.state,
    state_writer: (await stateWriterOf(meta, first.state, change)) ?? null,
    rows_sort_order: '[]',
    created,
    ...change.author,
  };
  const version: ConfigurationVersionRow = {
    ...key,
    version: 1,
    identifier: newIdentifier(change.env),
    name: first.name,
    description: first.description,
    is_disabled: first.isDisabled ? 1 : 0,
    is_deleted: 0,
    change_description: change.text ?? '',
    created,
    content_version: 1,
    order_version: 0,
    ...change.author,
  };
  await writeTogether(meta, [
    meta.insertInto('configurations').values(head),
    insertContent(meta, version, first.configuration),
    meta.insertInto('configuration_versions').values(version),
  ]);
  return { head, version };
}

/**
 * Adds rows and their order to the version that was just added. Only for a version that no other transaction has
 * seen.
 */
export async function completeVersion(
  meta: Meta,
  loaded: LoadedConfiguration,
  rows: readonly RowPair[],
  rowsSortOrder: readonly string[],
): Promise<LoadedConfiguration> {
  const { head, version } = loaded;
  const order = await changeRows(meta, head, head.version, orderOf(loaded), { rows, rowsSortOrder });
  const rows_sort_order = JSON.stringify(order.ids);
  await meta
    .updateTable('configurations')
    .set({ rows_sort_order })
    .where((where) => where.and(keyOf(head)))
    .execute();
  await meta
    .updateTable('configuration_versions')
    .set({ order_version: order.version })
    .where((where) => where.and({ ...keyOf(head), version: version.version }))
    .execute();
  return {
    head: { ...head, rows_sort_order },
    version: { ...version, order_version: order.version },
  };
}

/** Gives a configuration another state, which makes no version. */
export async function saveState(
  meta: Meta,
  now: WholeConfiguration,
  state: string,
  change: Change,
): Promise<WholeConfiguration> {
  const changes = { state, state_writer: (await stateWriterOf(meta, state, change)) ?? null };
  await meta
    .updateTable('configurations')
    .set(changes)
    .where((where) => where.and(keyOf(now.head)))
    .execute();
  return { ...now, head: { ...now.head, ...changes } };
}

/**
 * Returns the JSON of the author of a state ({@link StateWriter}): a state that a user sets controls the next run as
 * the configuration does. An empty one controls nothing, and a run is the only author of the state that it stores.
 *
 * @returns undefined when there is no state to write
 */
export async function stateWriterOf(
  meta: Meta,
  state: string | undefined,
  { author, isOfRun = false }: Change,
): Promise<string | null | undefined> {
  if (state === undefined) return undefined;
  if (isOfRun || EMPTY.test(state)) return null;
  const writer: StateWriter = { ...author, at: await nextId(meta) };
  return JSON.stringify(writer);
}

const EMPTY = /^(?:\{\s*\}|\[\s*\])?$/;

const orderOf = ({ head, version }: LoadedConfiguration): Order => ({
  ids: sortOrder(head),
  version: version.order_version,
});

const insertContent = (meta: Meta, version: ConfigurationVersionRow, configuration: string): Write =>
  meta
    .insertInto('configuration_contents')
    .values({ ...keyOf(version), version: version.version, configuration });

/** Updates the current values of a configuration; its state, which may be long, only when it differs. */
function updateHead(meta: Meta, before: LoadedConfiguration, head: ConfigurationHead): Write {
  const { version, is_deleted, rows_sort_order, state, state_writer } = head;
  const isSameState = state === before.head.state;
  return meta
    .updateTable('configurations')
    .set({ version, is_deleted, rows_sort_order, state_writer, ...(isSameState ? {} : { state }) })
    .where((where) => where.and(keyOf(head)));
}

function flag(value: boolean | undefined, before: 0 | 1): 0 | 1 {
  if (value === undefined) return before;
  return value ? 1 : 0;
}
