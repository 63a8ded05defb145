import { sql, type RawBuilder } from 'kysely';
import type { Meta } from '../../stores/metadata/database.ts';
import type { ConfigurationKey } from '../../stores/metadata/tables.ts';
import { jsonSql, type JsonSql } from './json-sql.ts';
import { sameConfiguration } from '../../stores/metadata/configuration-key.ts';

/** Live or deleted configurations of a component. */
export interface ConfigurationListing {
  readonly branchId: number;
  readonly componentId: string;
  readonly isDeleted: boolean;
}

/** Parts of a configuration that are shown besides itself. */
export interface ConfigurationParts {
  readonly configuration: boolean;
  readonly rows: boolean;
  readonly state: boolean;
}

/** Configuration as JSON: its rows stand between the two. */
export interface ConfigurationText extends Pick<ConfigurationKey, 'configuration_id'> {
  readonly before: string;
  readonly after: string;
  readonly rows_sort_order: string;
}

export interface RowText extends Pick<ConfigurationKey, 'configuration_id'> {
  readonly row_id: string;
  readonly text: string;
}

export interface ConfigurationPage {
  /** Id that the configurations follow. */
  readonly after?: string;
  readonly limit: number;
}

/** Lists the components that have such configurations. */
export async function listComponentIds(
  meta: Meta,
  { branchId, isDeleted }: Omit<ConfigurationListing, 'componentId'>,
): Promise<ReadonlySet<string>> {
  const rows = await meta
    .selectFrom('configurations')
    .select('component_id')
    .distinct()
    .where('branch_id', '=', branchId)
    .where('is_deleted', '=', isDeleted ? 1 : 0)
    .execute();
  return new Set(rows.map(({ component_id }) => component_id));
}

/** Reads configurations in the form of `configurationReply`, by id. */
export async function configurationTexts(
  meta: Meta,
  of: ConfigurationListing,
  { after, limit }: ConfigurationPage,
  parts: ConfigurationParts,
): Promise<ConfigurationText[]> {
  const json = jsonSql(meta);
  const { quoted, time, flag } = json;
  const content = parts.configuration ? sql`|| ',"configuration":' || t.configuration` : sql``;
  const state = parts.state ? sql`',"state":' || c.state ||` : sql``;
  const before = sql<string>`'{"id":' || ${quoted(sql.ref('c.configuration_id'))}
    || ',"name":' || ${quoted(sql.ref('v.name'))}
    || ',"description":' || ${quoted(sql.ref('v.description'))}
    || ',"created":' || ${time(sql.ref('c.created'))}
    || ',"creatorToken":' || ${creator(json, 'c')}
    || ',"version":' || c.version
    || ',"changeDescription":' || ${quoted(sql.ref('v.change_description'))}
    || ',"isDisabled":' || ${flag(sql.ref('v.is_disabled'))}
    || ',"isDeleted":' || ${flag(sql.ref('c.is_deleted'))} ${content}
    || ',"rowsSortOrder":' || c.rows_sort_order`;
  const behind = sql<string>`${state} ',"currentVersion":{"created":' || ${time(sql.ref('v.created'))}
    || ',"creatorToken":' || ${creator(json, 'v')}
    || ',"changeDescription":' || ${quoted(sql.ref('v.change_description'))}
    || ',"versionIdentifier":' || ${quoted(sql.ref('v.identifier'))} || '}}'`;
  return await headsOf(meta, of)
    .innerJoin('configuration_versions as v', (join) =>
      sameConfiguration(join, 'v', 'c', { version: 'version' }),
    )
    .$if(parts.configuration, (query) =>
      query.innerJoin('configuration_contents as t', (join) =>
        sameConfiguration(join, 't', 'v', { version: 'content_version' }),
      ),
    )
    .select(['c.configuration_id', 'c.rows_sort_order'])
    .select([before.as('before'), behind.as('after')])
    .$if(after !== undefined, (query) => query.where('c.configuration_id', '>', after ?? ''))
    .orderBy('c.configuration_id')
    .limit(limit)
    .execute();
}

/** Reads the live rows of the configurations from one to another, in the form of `rowReply`, in any order. */
export async function rowTexts(
  meta: Meta,
  of: ConfigurationListing,
  [first, last]: readonly [first: string, last: string],
  parts: ConfigurationParts,
): Promise<RowText[]> {
  const json = jsonSql(meta);
  const { quoted, time, flag } = json;
  const content = parts.configuration
    ? sql`|| ',"configuration":' || (case v.configuration when '' then '{}' else v.configuration end)`
    : sql``;
  const state = parts.state ? sql`|| ',"state":' || r.state` : sql``;
  const text = sql<string>`'{"id":' || ${quoted(sql.ref('r.row_id'))}
    || ',"name":' || ${quoted(sql.ref('v.name'))}
    || ',"description":' || ${quoted(sql.ref('v.description'))} ${content}
    || ',"isDisabled":' || ${flag(sql.ref('v.is_disabled'))}
    || ',"version":' || r.version
    || ',"created":' || ${time(sql.ref('r.created'))}
    || ',"creatorToken":' || ${creator(json, 'r')}
    || ',"changeDescription":' || ${quoted(sql.ref('v.change_description'))} ${state}
    || ',"versionIdentifier":' || ${quoted(sql.ref('v.identifier'))} || '}'`;
  return await headsOf(meta, of)
    .innerJoin('configuration_rows as r', (join) => sameConfiguration(join, 'r', 'c'))
    .innerJoin('row_versions as v', (join) =>
      sameConfiguration(join, 'v', 'r', { row_id: 'row_id', version: 'version' }),
    )
    .select(['r.configuration_id', 'r.row_id'])
    .select(text.as('text'))
    .where('r.is_deleted', '=', 0)
    .where('c.configuration_id', '>=', first)
    .where('c.configuration_id', '<=', last)
    .execute();
}

function creator({ quoted }: JsonSql, table: 'c' | 'r' | 'v'): RawBuilder<string> {
  return sql`'{"id":' || ${sql.ref(`${table}.creator_id`)} || ',"description":'
    || ${quoted(sql.ref(`${table}.creator_description`))} || '}'`;
}

function headsOf(meta: Meta, { branchId, componentId, isDeleted }: ConfigurationListing) {
  return meta
    .selectFrom('configurations as c')
    .where('c.branch_id', '=', branchId)
    .where('c.is_deleted', '=', isDeleted ? 1 : 0)
    .where('c.component_id', '=', componentId);
}
