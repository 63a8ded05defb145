import type { MetadataPair } from '../../../../storage/client/index.ts';
import type { PushTableSettings } from './plan-settings.ts';

/** Defaults of options that neither document gives. */
export const DEFAULTS = { incremental: false, delimiter: ',', enclosure: '"', deleteOperator: 'eq' } as const;

/**
 * Merges the mapping of a table into its manifest: the mapping wins, but a default or empty value in it does not count;
 * metadata is merged by key; a primary key in the mapping replaces the other, an empty one too.
 */
export function mergeSettings(manifest: PushTableSettings, mapping: PushTableSettings): PushTableSettings {
  return {
    destination: truthy(mapping.destination) ?? manifest.destination,
    columns: filled(mapping.columns) ?? manifest.columns,
    primaryKey: mapping.primaryKey ?? manifest.primaryKey,
    incremental: differing(mapping, 'incremental') ?? manifest.incremental,
    delimiter: differing(mapping, 'delimiter') ?? manifest.delimiter,
    enclosure: differing(mapping, 'enclosure') ?? manifest.enclosure,
    hasHeader: truthy(mapping.hasHeader) ?? manifest.hasHeader,
    deleteColumn: truthy(mapping.deleteColumn) ?? manifest.deleteColumn,
    deleteOperator: differing(mapping, 'deleteOperator') ?? manifest.deleteOperator,
    deleteValues: filled(mapping.deleteValues) ?? manifest.deleteValues,
    deleteRows: filled(mapping.deleteRows) ?? manifest.deleteRows,
    metadata: mergePairs(manifest.metadata, mapping.metadata),
    columnMetadata: mergeColumns(manifest.columnMetadata, mapping.columnMetadata),
  };
}

/** Merges pairs: the later value of a key wins; keys keep the order in which they first came. */
function mergePairs(
  first: readonly MetadataPair[],
  second: readonly MetadataPair[],
): readonly MetadataPair[] {
  const values = new Map([...first, ...second].map(({ key, value }) => [key, value]));
  return Array.from(values, ([key, value]) => ({ key, value }));
}

function mergeColumns(
  first: PushTableSettings['columnMetadata'],
  second: PushTableSettings['columnMetadata'],
): PushTableSettings['columnMetadata'] {
  const names = new Set([...first.keys(), ...second.keys()]);
  return new Map(
    Array.from(names, (name) => [name, mergePairs(first.get(name) ?? [], second.get(name) ?? [])] as const),
  );
}

function differing<K extends keyof typeof DEFAULTS>(
  settings: PushTableSettings,
  key: K,
): PushTableSettings[K] | undefined {
  return settings[key] === DEFAULTS[key] ? undefined : settings[key];
}

function truthy<T>(value: T): T | undefined {
  const isSaid = Boolean(value);
  return isSaid ? value : undefined;
}

function filled<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list;
}
