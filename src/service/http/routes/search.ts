import { Type } from 'typebox';
import { Names, namesOf } from '../../../storage/protocol/common.ts';
import { Table } from '../../../storage/protocol/table.ts';
import type { Reply } from '../../domain/reply.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import type { Context } from '../../domain/context.ts';
import { badRequest } from '../../domain/api-error.ts';
import { listBranches } from '../../stores/metadata/branches.ts';
import { listOf, longJson } from '../lists/long-list.ts';
import type { TableRef } from '../lists/table-pages.ts';
import { listTableTexts } from '../lists/tables.ts';
import { listConfigurations } from '../../domain/configurations/list.ts';
import { configurationOwner, listMetadataOf } from '../../stores/metadata/metadata.ts';
import { searchByName, type SearchResult } from '../../stores/metadata/search.ts';
import type { BranchRow } from '../../stores/metadata/tables.ts';
import { mayUseBucket, mayUseComponent } from '../../domain/tokens/permissions.ts';
import { routesOf, type Route } from '../route.ts';
import { apiTime } from '../../domain/presenters/time.ts';
import { metadataReply } from '../../domain/presenters/metadata.ts';
import { requireParts } from '../lists/table-detail.ts';

const route = routesOf('Search');

/** Makes the routes of the search by metadata of configurations and tables, and by name over everything. */
export function searchRoutes(context: Context): Route[] {
  const { meta } = context;
  return [
    route('GET', '/search/component-configurations', {
      summary: 'Configurations by component, id and metadata',
      query: Type.Object({
        componentId: Type.Optional(Type.String()),
        idComponent: Type.Optional(Type.String()),
        configurationId: Type.Optional(Type.String()),
        metadataKeys: Type.Optional(Names),
        include: Type.Optional(Names),
      }),
      response: Type.Array(Type.Unknown()),
      handle: async ({ query, caller, branch }) => {
        const component = query.componentId ?? query.idComponent;
        const keys = namesOf(query.metadataKeys);
        const withMetadata = namesOf(query.include).includes('filteredMetadata');
        const metadata = await listMetadataOf(meta, branch.id, 'configuration', '');
        const byOwner = Map.groupBy(metadata, ({ owner }) => owner);
        const found: Reply[] = [];
        for (const { head } of await listConfigurations(meta, { branch_id: branch.id, isDeleted: false })) {
          if (component !== undefined && head.component_id !== component) continue;
          if (query.configurationId !== undefined && head.configuration_id !== query.configurationId)
            continue;
          if (!mayUseComponent(caller, head.component_id)) continue;
          const all = byOwner.get(configurationOwner(head)) ?? [];
          const wanted = keys.length === 0 ? all : all.filter(({ key }) => keys.includes(key));
          if (keys.length > 0 && wanted.length === 0) continue;
          found.push({
            idComponent: head.component_id,
            configurationId: head.configuration_id,
            ...(withMetadata ? { metadata: wanted.map((row) => metadataReply(row, false)) } : {}),
          });
        }
        return found;
      },
    }),
    route('GET', '/search/tables', {
      summary: 'Tables that have a metadata of a key, value and provider, as far as these are given',
      query: Type.Object({
        metadataKey: Type.Optional(Type.String()),
        metadataValue: Type.Optional(Type.String()),
        metadataProvider: Type.Optional(Type.String()),
        include: Type.Optional(Names),
      }),
      response: Type.Array(Table),
      handle: async ({ query, caller, branch, origin }) => {
        const { metadataKey: key = '', metadataValue: value = '', metadataProvider: provider = '' } = query;
        if (key === '' && value === '' && provider === '')
          throw badRequest('storage.validation', NO_METADATA);
        const matching = (await listMetadataOf(meta, branch.id, 'table', '')).filter(
          (row) =>
            (key === '' || row.key === key) &&
            (value === '' || row.value === value) &&
            (provider === '' || row.provider === provider),
        );
        const owners = new Set(matching.map(({ owner }) => owner));
        const isShown = ({ id, bucket_id }: TableRef): boolean =>
          owners.has(id) && mayUseBucket(caller, branch.id, bucket_id, 'read');
        const include =
          query.include === undefined
            ? ['buckets', 'metadata', 'columnMetadata']
            : requireParts(namesOf(query.include));
        return await longJson(
          listOf(listTableTexts(meta, { branchId: branch.id, isShown }, { origin, include })),
        );
      },
    }),
    route('GET', '/global-search', {
      summary: 'Everything whose name or id holds a text',
      query: Type.Object({
        query: Type.String({ minLength: 1 }),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 50 })),
        offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
        types: Type.Optional(Names),
        branchTypes: Type.Optional(Names),
        projectIds: Type.Optional(Names),
        branchIds: Type.Optional(Names),
      }),
      response: Type.Unknown(),
      handle: async ({ query, caller }) => {
        const branches = new Map((await listBranches(meta)).map((branch) => [branch.id, branch]));
        const items = (await searchByName(meta, query.query))
          .filter((found) => isVisible(found, caller))
          .map((found) => ({ found, branch: branches.get(found.branchId), type: typeOf(context, found) }))
          .filter(({ branch, type }) => isWanted(context, query, branch, type));
        const offset = query.offset ?? 0;
        const page = items.slice(offset, offset + (query.limit ?? 50));
        return {
          all: items.length,
          items: page.map(({ found, branch, type }) => itemReply(context, found, branch, type)),
          byType: countByType(items.map(({ type }) => type)),
          byProject: { [String(context.project.id)]: context.project.name },
        };
      },
    }),
  ];
}

const NO_METADATA = 'One of metadataKey, metadataValue and metadataProvider is needed.';

function isVisible(found: SearchResult, caller: Caller): boolean {
  if (found.componentId !== null) return mayUseComponent(caller, found.componentId);
  return mayUseBucket(caller, found.branchId, found.id.split('.').slice(0, 2).join('.'), 'read');
}

function isWanted(
  context: Context,
  query: {
    types?: string | string[];
    branchTypes?: string | string[];
    projectIds?: string | string[];
    branchIds?: string | string[];
  },
  branch: BranchRow | undefined,
  type: string,
): boolean {
  if (branch === undefined) return false;
  const kinds = namesOf(query.branchTypes);
  return (
    allows(namesOf(query.types), type) &&
    allows(namesOf(query.projectIds), String(context.project.id)) &&
    allows(namesOf(query.branchIds), String(branch.id)) &&
    allows(kinds, branch.is_default === 1 ? 'production' : 'development')
  );
}

const allows = (names: readonly string[], name: string): boolean =>
  names.length === 0 || names.includes(name);

/** Returns the type of a result: configurations of some components have one of their own. */
function typeOf(context: Context, found: SearchResult): string {
  if (found.type !== 'configuration' || found.componentId === null) return found.type;
  if (['keboola.flow', 'keboola.orchestrator'].includes(found.componentId)) return 'flow';
  if (found.componentId === 'keboola.shared-code') return 'shared-code';
  return context.catalogue.find(found.componentId)?.type === 'transformation'
    ? 'transformation'
    : 'configuration';
}

function itemReply(
  context: Context,
  found: SearchResult,
  branch: BranchRow | undefined,
  type: string,
): Record<string, Reply> {
  const component = found.componentId === null ? undefined : context.catalogue.find(found.componentId);
  return {
    id: found.id,
    type,
    name: found.name,
    fullPath: {
      project: { id: context.project.id, name: context.project.name },
      branch: { id: found.branchId, name: branch?.name ?? '' },
      ...(component === undefined ? {} : { component: { id: component.id, name: component.name } }),
    },
    componentId: found.componentId,
    organizationId: 1,
    projectId: context.project.id,
    created: apiTime(found.created),
  };
}

function countByType(types: readonly string[]): Record<string, Reply> {
  const counts: Record<string, Reply> = { total: types.length };
  for (const [type, items] of Map.groupBy(types, (type) => type)) counts[type] = items.length;
  return counts;
}
