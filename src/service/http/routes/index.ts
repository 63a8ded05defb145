import { Component, ComponentsQuery, Index, IndexQuery } from '../../../storage/protocol/component.ts';
import { namesOf } from '../../../storage/protocol/common.ts';
import type { ComponentEntry } from '../../domain/catalogue/catalogue.ts';
import type { Context } from '../../domain/context.ts';
import { RawJson, type Reply } from '../../domain/reply.ts';
import { encodeReply } from '../../domain/encode-reply.ts';
import { invalidField, notFound } from '../../domain/api-error.ts';
import { tablesKind } from '../../stores/tables/kind.ts';
import { listComponentIds, type ConfigurationListing } from '../lists/configuration-texts.ts';
import { listConfigurationTexts } from '../lists/configurations.ts';
import { listOf, longJson } from '../lists/long-list.ts';
import { mayUseComponent, requireAnyComponent } from '../../domain/tokens/permissions.ts';
import { route, type Route } from '../route.ts';
import { briefComponent, componentReply } from '../../domain/presenters/component.ts';

/**
 * Service that the index names; `url` may be a path below the address of this one, or a function when it isn't known
 * from the start.
 */
export interface NamedService {
  readonly id: string;
  readonly url: string | (() => string | undefined);
}

/** Makes the routes of the index of the API and the catalogue of components. */
export function indexRoutes(context: Context, services: readonly NamedService[]): Route[] {
  const components = componentsOf(context);
  return [
    route({
      method: 'GET',
      path: '',
      summary: 'What this service is, and its components',
      tag: 'Index',
      access: 'public',
      scope: 'plain',
      query: IndexQuery,
      response: Index,
      handle: async ({ query, origin }) => {
        const exclude = namesOf(query.exclude);
        return {
          host: new URL(origin).host,
          api: 'storage',
          version: 'v2',
          revision: '1',
          stack: new URL(origin).host,
          documentation: `${origin}/docs`,
          ...(exclude.includes('components')
            ? {}
            : {
                components: components(
                  exclude.includes('componentDetails') ? briefComponent : componentReply,
                  origin,
                ),
              }),
          services: services.flatMap(({ id, url }) => {
            const known = typeof url === 'string' ? url : url();
            if (known === undefined) return [];
            return [{ id, url: known.startsWith('/') || known === '' ? origin + known : known }];
          }),
          features: ['idempotency-key', `tables-${await storedIn(context)}`],
          urlTemplates: { orchestrationJob: `${origin}/jobs/%%JOB_ID%%` },
        };
      },
    }),
    route({
      method: 'GET',
      path: '/components/:component',
      summary: 'A component',
      tag: 'Components',
      access: 'public',
      response: Component,
      handle: ({ params, origin }) => {
        const component = context.catalogue.find(params.component);
        if (component === undefined) throw notFound(`Component ${params.component} not found`);
        return componentReply(component, origin);
      },
    }),
    route({
      method: 'GET',
      path: '/components',
      summary: 'The components that have configurations, with these',
      tag: 'Components',
      query: ComponentsQuery,
      handle: async ({ query, caller, branch, origin }) => {
        requireAnyComponent(caller);
        const include = checkInclude(namesOf(query.include));
        const type = query.componentType ?? '';
        const of = { branchId: branch.id, isDeleted: query.isDeleted ?? false };
        const used = await listComponentIds(context.meta, of);
        const components = context.catalogue.components.filter(
          (component) =>
            used.has(component.id) &&
            mayUseComponent(caller, component.id) &&
            (type === '' || type === component.type),
        );
        return await longJson(withConfigurations(context, components, { of, include, origin }));
      },
    }),
  ];
}

/** Returns the components of the catalogue as JSON, made once: they need no token, and their schemas are long. */
function componentsOf({
  catalogue,
}: Context): (
  show: (entry: ComponentEntry, origin: string) => Record<string, Reply>,
  origin: string,
) => RawJson {
  const texts = new Map<unknown, string>();
  return (show, origin) => {
    const text = texts.get(show) ?? encodeReply(catalogue.components.map((entry) => show(entry, ORIGIN)));
    texts.set(show, text);
    return new RawJson(text.replaceAll(ORIGIN, () => JSON.stringify(origin).slice(1, -1)));
  };
}

/** Placeholder for the address of the service, as the client knows it. */
const ORIGIN = '@origin@';

interface Shown {
  readonly of: Omit<ConfigurationListing, 'componentId'>;
  readonly include: readonly string[];
  readonly origin: string;
}

/** Yields components with their configurations, as JSON. */
async function* withConfigurations(
  { meta }: Context,
  components: readonly ComponentEntry[],
  { of, include, origin }: Shown,
): AsyncGenerator<string> {
  const parts = {
    configuration: include.includes('configuration'),
    rows: include.includes('rows'),
    state: include.includes('state'),
  };
  let before = '[';
  for (const component of components) {
    const own = encodeReply(componentReply(component, origin)).slice(0, -1);
    yield `${before}${own},"configurations":`;
    yield* listOf(listConfigurationTexts(meta, { ...of, componentId: component.id }, parts));
    before = '},';
  }
  yield before === '[' ? '[]' : '}]';
}

const PARTS = ['configuration', 'rows', 'state'];

function checkInclude(include: readonly string[]): readonly string[] {
  const unknown = include.filter((part) => !PARTS.includes(part));
  if (unknown.length === 0) return include;
  const names = unknown.map((part) => `"${part}"`).join(', ');
  throw invalidField(
    'storage.validation',
    'include',
    `Invalid include parameters: ${names}. Only following are allowed: ${PARTS.join(', ')}.`,
  );
}

/** Returns what the tables are kept in, for programs that read them where they are. */
async function storedIn({ meta, database }: Context): Promise<'duckdb' | 'lake' | 'postgres'> {
  if ((await tablesKind(meta)) === 'lake') return 'lake';
  return database === undefined ? 'duckdb' : 'postgres';
}
