import { setImmediate } from 'node:timers/promises';
import { toldOf, toldOfRow } from '../events/of-configurations.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { configurationOwner, copyConfigurationMetadata } from '../../stores/metadata/metadata.ts';
import type {
  ConfigurationKey,
  ConfigurationVersionRow,
  RowVersionRow,
} from '../../stores/metadata/tables.ts';
import { orderAt, type RowPair } from './history.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';
import {
  appendVersion,
  completeVersion,
  insertConfiguration,
  type Change,
  type LoadedConfiguration,
  type LoadedRow,
} from './model.ts';
import { listConfigurations } from './list.ts';
import {
  contentOf,
  findConfiguration,
  listRowsOf,
  requireConfiguration,
  requireRow,
  requireRowVersion,
  requireVersion,
} from './read-configuration.ts';
import { appendRowVersion, dropRows, findRowHead, rowContent } from './row-model.ts';
import { configurationsOf, type Transact } from '../../stores/metadata/transaction.ts';

/**
 * Creates a configuration from a version of another, with its description unless one is given. Rows keep their ids
 * and their current state, and name their source, as the configuration does.
 */
export async function copyConfiguration(
  transact: Transact,
  from: ConfigurationKey & { version: number },
  to: { id: string; name: string; description?: string | undefined },
  change: Change,
): Promise<LoadedConfiguration> {
  return await transact(configurationsOf(from, { ...from, configuration_id: to.id }), async (tx) => {
    const source = await requireConfiguration(tx, from);
    const target = await requireVersion(tx, from, from.version);
    const text = copyText(source, from.version);
    const noted = { ...change, text: change.text ?? text };
    const key = { ...keyOf(from), configuration_id: to.id };
    const named = { name: to.name, description: to.description ?? target.description };
    const copy = await copyVersion(tx, target, key, named, {
      state: 'kept',
      change: noted,
      rowText: () => noted.text,
    });
    return await toldOf(tx, 'Copied', copy, change);
  });
}

/** A new row from a version of another, in the same configuration or in another one (5.3.10). */
export async function copyRow(
  transact: Transact,
  from: ConfigurationKey & { row: string; version: number },
  to: { configuration: string; row: string },
  change: Change,
): Promise<LoadedRow> {
  return await transact(
    configurationsOf(from, { ...from, configuration_id: to.configuration }),
    async (tx) => {
      const source = await requireConfiguration(tx, from);
      await requireRow(tx, from, from.row);
      const wanted = await requireRowVersion(tx, from, from.row, from.version);
      const key = { ...keyOf(from), configuration_id: to.configuration };
      const target = await requireConfiguration(tx, key);
      const origin = `"${source.version.name}" (${from.configuration_id}) row ${from.row} version ${from.version}`;
      const created = await appendRowVersion(tx, key, to.row, rowContent(wanted), '{}', {
        ...change,
        text: change.text ?? `Copied from configuration ${origin}`,
      });
      await appendVersion(
        tx,
        target,
        { row: { id: to.row, version: created.head.version } },
        {
          ...change,
          text: change.text ?? `Row ${to.row} copied from configuration ${origin}`,
        },
      );
      return await toldOfRow(tx, 'Copied', created, change);
    },
  );
}

/** Copies to a new branch every live configuration of the default branch with its metadata, without states (5.8). */
export async function copyToBranch(meta: Meta, from: number, to: number, change: Change): Promise<void> {
  const sources = await listConfigurations(meta, { branch_id: from, isDeleted: false });
  for (const [index, source] of sources.entries()) {
    // The database answers without a wait, so files being sent meanwhile would stand still.
    if (index % 20 === 19) await setImmediate();
    const key = { ...keyOf(source.head), branch_id: to };
    const { name, description } = source.version;
    await copyVersion(meta, source.version, key, { name, description }, branchTexts(source, change));
  }
  const owners = new Set(sources.map(({ head }) => configurationOwner(head)));
  await copyConfigurationMetadata(meta, from, to, owners);
}

/** Makes the current content of the default branch the next version of a configuration in another branch (5.8). */
export async function resetToDefault(
  transact: Transact,
  key: ConfigurationKey,
  defaultBranch: number,
  change: Change,
): Promise<void> {
  await transact(configurationsOf({ ...key, branch_id: defaultBranch }, key), async (tx) => {
    const source = await requireConfiguration(tx, { ...keyOf(key), branch_id: defaultBranch });
    const known = await findConfiguration(tx, key);
    const { name, description } = source.version;
    const texts = branchTexts(source, change);
    if (known === undefined) {
      const copy = await copyVersion(tx, source.version, keyOf(key), { name, description }, texts);
      await toldOf(tx, 'ResetToDefault', copy, change);
      return;
    }
    await dropRows(tx, known);
    const rows = await copyRows(tx, source.version, keyOf(key), { ...texts, state: 'last' });
    const reset = await appendVersion(
      tx,
      known,
      {
        name,
        description,
        isDisabled: source.version.is_disabled === 1,
        isDeleted: false,
        configuration: await contentOf(tx, source.version),
        rows,
        rowsSortOrder: await orderAt(tx, source.version),
      },
      texts.change,
    );
    await toldOf(tx, 'ResetToDefault', reset, change);
  });
}

interface CopyTexts {
  /** The state of a copied row: the one its source has now, none, or the last one of the row it replaces. */
  readonly state: 'empty' | 'kept' | 'last';
  readonly change: Change;
  readonly rowText: (row: RowVersionRow) => string;
}

function branchTexts(source: LoadedConfiguration, change: Change): CopyTexts {
  const { name } = source.version;
  const id = source.head.configuration_id;
  return {
    state: 'empty',
    change: {
      ...change,
      text: `Copied from default branch configuration "${name}" (${id}) version ${source.head.version}`,
    },
    rowText: (row) =>
      `Copied from default branch configuration row "${row.name}" (${row.row_id}) version ${row.version}`,
  };
}

async function copyVersion(
  meta: Meta,
  source: ConfigurationVersionRow,
  key: ConfigurationKey,
  named: { name: string; description: string },
  texts: CopyTexts,
): Promise<LoadedConfiguration> {
  const first = {
    ...named,
    isDisabled: source.is_disabled === 1,
    configuration: await contentOf(meta, source),
    state: '{}',
  };
  const created = await insertConfiguration(meta, key, first, texts.change);
  const rows = await copyRows(meta, source, key, texts);
  return await completeVersion(meta, created, rows, await orderAt(meta, source));
}

async function copyRows(
  meta: Meta,
  source: ConfigurationVersionRow,
  key: ConfigurationKey,
  texts: CopyTexts,
): Promise<RowPair[]> {
  const pairs: RowPair[] = [];
  for (const row of await listRowsOf(meta, source)) {
    const kept = texts.state === 'kept' ? (await findRowHead(meta, source, row.row_id))?.state : undefined;
    const state = texts.state === 'last' ? undefined : (kept ?? '{}');
    const change = { ...texts.change, text: texts.rowText(row) };
    const created = await appendRowVersion(meta, key, row.row_id, rowContent(row), state, change);
    pairs.push([row.row_id, created.head.version]);
  }
  return pairs;
}

function copyText(source: LoadedConfiguration, version: number): string {
  return `Copied from configuration "${source.version.name}" (${source.head.configuration_id}) version ${version}`;
}
