import type { Meta } from '../database.ts';
import type { ConfigurationKey } from '../tables.ts';
import { sortOrder, type Loaded, type LoadedRow } from './model.ts';
import { inOrder } from './read.ts';

/** Which configurations: live or deleted ones of a branch, of one component or of all. */
export interface Listing {
  readonly branch_id: number;
  readonly component_id?: string;
  readonly isDeleted: boolean;
}

/** A configuration with the parts that were asked for. */
export interface Listed extends Loaded {
  /** JSON text. */
  readonly configuration?: string;
  readonly rows?: readonly LoadedRow[];
}

/** Configurations by component and id. */
export async function listConfigurations(meta: Meta, of: Listing): Promise<Loaded[]> {
  const heads = await headsOf(meta, of)
    .selectAll('c')
    .orderBy('c.component_id')
    .orderBy('c.configuration_id')
    .execute();
  const versions = await versionsOf(meta, of).selectAll('v').execute();
  const current = new Map(versions.map((version) => [textKey(version), version]));
  return heads.flatMap((head) => {
    const version = current.get(textKey(head));
    return version === undefined ? [] : [{ head, version }];
  });
}

/**
 * The same with content and rows: one query for each kind of thing, however many configurations there are. What is
 * purged between two of them is left out.
 */
export async function listWithParts(
  meta: Meta,
  of: Listing,
  parts: { readonly configuration: boolean; readonly rows: boolean },
): Promise<Listed[]> {
  const found = await listConfigurations(meta, of);
  const texts = parts.configuration ? await contentsOf(meta, of).selectAll('t').execute() : [];
  const contents = new Map(texts.map((text) => [textKey(text), text.configuration]));
  const rows = parts.rows ? await liveRows(meta, of) : undefined;
  return found.flatMap((loaded) => {
    const key = textKey(loaded.head);
    const configuration = contents.get(key);
    if (parts.configuration && configuration === undefined) return [];
    const mine = rows && inOrder(rows.get(key) ?? [], ({ head }) => head.row_id, sortOrder(loaded.head));
    return [
      {
        ...loaded,
        ...(configuration === undefined ? {} : { configuration }),
        ...(mine === undefined ? {} : { rows: mine }),
      },
    ];
  });
}

const textKey = (key: ConfigurationKey): string => JSON.stringify([key.component_id, key.configuration_id]);

function headsOf(meta: Meta, of: Listing) {
  return meta
    .selectFrom('configurations as c')
    .where('c.branch_id', '=', of.branch_id)
    .where('c.is_deleted', '=', of.isDeleted ? 1 : 0)
    .$if(of.component_id !== undefined, (query) => query.where('c.component_id', '=', of.component_id ?? ''));
}

function versionsOf(meta: Meta, of: Listing) {
  return headsOf(meta, of).innerJoin('configuration_versions as v', (join) =>
    join
      .onRef('v.branch_id', '=', 'c.branch_id')
      .onRef('v.component_id', '=', 'c.component_id')
      .onRef('v.configuration_id', '=', 'c.configuration_id')
      .onRef('v.version', '=', 'c.version'),
  );
}

function contentsOf(meta: Meta, of: Listing) {
  return versionsOf(meta, of).innerJoin('configuration_contents as t', (join) =>
    join
      .onRef('t.branch_id', '=', 'v.branch_id')
      .onRef('t.component_id', '=', 'v.component_id')
      .onRef('t.configuration_id', '=', 'v.configuration_id')
      .onRef('t.version', '=', 'v.content_version'),
  );
}

function rowHeadsOf(meta: Meta, of: Listing) {
  return headsOf(meta, of)
    .innerJoin('configuration_rows as r', (join) =>
      join
        .onRef('r.branch_id', '=', 'c.branch_id')
        .onRef('r.component_id', '=', 'c.component_id')
        .onRef('r.configuration_id', '=', 'c.configuration_id'),
    )
    .where('r.is_deleted', '=', 0);
}

function rowVersionsOf(meta: Meta, of: Listing) {
  return rowHeadsOf(meta, of).innerJoin('row_versions as v', (join) =>
    join
      .onRef('v.branch_id', '=', 'r.branch_id')
      .onRef('v.component_id', '=', 'r.component_id')
      .onRef('v.configuration_id', '=', 'r.configuration_id')
      .onRef('v.row_id', '=', 'r.row_id')
      .onRef('v.version', '=', 'r.version'),
  );
}

/** The live rows of configurations, by the key of these. */
async function liveRows(meta: Meta, of: Listing): Promise<Map<string, LoadedRow[]>> {
  const heads = await rowHeadsOf(meta, of).selectAll('r').execute();
  const versions = await rowVersionsOf(meta, of).selectAll('v').execute();
  const current = new Map(versions.map((version) => [rowKey(version), version]));
  const rows = heads.flatMap((head) => {
    const version = current.get(rowKey(head));
    return version === undefined ? [] : [{ head, version }];
  });
  return Map.groupBy(rows, ({ head }) => textKey(head));
}

const rowKey = (row: ConfigurationKey & { readonly row_id: string }): string =>
  JSON.stringify([row.component_id, row.configuration_id, row.row_id]);
