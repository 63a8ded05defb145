import { ConfigError } from '../../lib/errors.ts';
import type { AnyObject, Json } from '../../lib/json/index.ts';
import { nearest } from '../../lib/suggest.ts';
import { componentPart, mergeConfigurations } from './merge.ts';
import type { ConfigResource, ConfigRow } from './resource.ts';

/** One run of the component. */
export interface RowRun {
  /** Absent when the configuration has no rows. */
  readonly id?: string;
  readonly name?: string;
  /** Its index in `rows` of the document. */
  readonly index?: number;
  /** Root and row merged, without `processors` and `runtime`. */
  readonly configuration: AnyObject;
  /** As it is kept with the configuration, wrapped or bare; undefined when there is none. */
  readonly state: Json | undefined;
  readonly disabled: boolean;
}

export interface RowPlan {
  /** In the order of the runs. Empty when all rows are disabled. */
  readonly runs: readonly RowRun[];
  /** Disabled rows that were not asked for. */
  readonly skipped: readonly RowRun[];
}

/**
 * Plans the rows that run, and their order. `rowsSortOrder` gives the order; rows that it does not name follow in
 * document order. Disabled rows are skipped unless they are named. Without rows, the root runs once with the root's
 * state; with rows, each has its own state and the root's is not used.
 *
 * @param named ids of the rows to run; all when absent or empty
 * @throws {ConfigError} when a named row is not there, or root and row both have `processors`
 */
export function planRows(resource: ConfigResource, named: readonly string[] = []): RowPlan {
  checkNames(resource, named);
  if (resource.rows.length === 0) return { runs: [rootRun(resource)], skipped: [] };
  const wanted = new Set(named);
  const runs: RowRun[] = [];
  const skipped: RowRun[] = [];
  for (const row of sortRows(resource)) {
    if (wanted.size > 0 && !wanted.has(row.id)) continue;
    const list = row.isDisabled && wanted.size === 0 ? skipped : runs;
    list.push(rowRun(resource, row));
  }
  return { runs, skipped };
}

/** The rows in the order of `rowsSortOrder`. */
function sortRows(resource: ConfigResource): readonly ConfigRow[] {
  const order = [...new Set(resource.rowsSortOrder)];
  const first = order.flatMap((id) => resource.rows.filter((row) => row.id === id));
  return [...first, ...resource.rows.filter((row) => !first.includes(row))];
}

function rootRun(resource: ConfigResource): RowRun {
  return {
    ...(resource.name === undefined ? {} : { name: resource.name }),
    configuration: componentPart(resource.configuration),
    state: resource.state,
    disabled: false,
  };
}

function rowRun(resource: ConfigResource, row: ConfigRow): RowRun {
  return {
    id: row.id,
    ...(row.name === undefined ? {} : { name: row.name }),
    index: row.index,
    configuration: mergeConfigurations(resource.configuration, row.configuration, row.id),
    state: row.state,
    disabled: row.isDisabled,
  };
}

function checkNames(resource: ConfigResource, named: readonly string[]): void {
  const ids = resource.rows.map((row) => row.id);
  const unknown = named.filter((id) => !ids.includes(id));
  if (unknown.length === 0) return;
  const quoted = unknown.map((id) => `“${id}”`).join(', ');
  if (ids.length === 0)
    throw new ConfigError('config.invalid', `The configuration has no rows, so there is no row ${quoted}.`, {
      hint: 'Run it without naming a row.',
    });
  const near = unknown.map((id) => nearest(id, ids)).filter((id) => id !== undefined);
  const known = ids.slice(0, 20).join(', ') + (ids.length > 20 ? ', …' : '');
  throw new ConfigError('config.invalid', `There is no row ${quoted}.`, {
    where: { path: 'rows' },
    hint: near.length > 0 ? `Did you mean ${near.join(', ')}?` : `The rows are: ${known}.`,
  });
}
