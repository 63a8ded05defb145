import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  sizeOf,
  toText,
  withKey,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { isSecretName } from '../../../lib/secrets.ts';
import { asManyAtOnce, canBePlanned, rowsKeys } from '../configure.ts';
import { FoundCredentials } from '../credentials.ts';
import type { SecretStore } from '../secret-store.ts';
import type { FoundRequest } from '../target.ts';
import type { ListAttempt, ListAttempts } from './attempt.ts';
import { textAt, type ApiDocument } from './document.ts';
import { nest, type NestedList } from './nest.ts';
import { operationsOf, resourceOf, type ListOperation, type Skipped } from './operations.ts';
import { pagingOf, type Paging } from './paging.ts';
import { loginOf, type DescribedLogin } from './security.ts';

/** A list that became a job. */
export interface TakenList {
  /** Id of the row of the configuration. */
  readonly row: string;
  readonly path: string;
  readonly table: string;
  /** Path of the list whose rows it is asked for. */
  readonly parent: string | undefined;
  readonly rowsAt: string;
  readonly nextPage: string;
  /** Result of trying the list; absent if it was not tried. */
  readonly attempt?: Pick<ListAttempt, 'verdict' | 'why' | 'rows' | 'pages' | 'requests' | 'total' | 'id'> & {
    /** The way to the next page was tried, and is right. */
    readonly isProved: boolean;
  };
}

/** A configuration that was made of a document. */
export interface FromDocument {
  readonly kind: string;
  readonly title: string;
  readonly configuration: AnyObject;
  readonly lists: readonly TakenList[];
  readonly skipped: readonly Skipped[];
  /** Variables to be set before a run. */
  readonly variables: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Reads the lists of an OpenAPI document, with its server and login. Pure: it sends no request.
 *
 * @param from address of the document, where it has one: its servers may be relative to that
 */
export function fromOpenApi(document: ApiDocument, from: string | undefined): Described {
  const { lists, skipped } = operationsOf(document);
  const server = serverOf(document, from);
  const info = document.object(document.root, 'info');
  const name = document.version === 2 ? 'Swagger' : 'OpenAPI';
  return {
    kind: `${name} ${textAt(document.root, 'openapi') ?? textAt(document.root, 'swagger') ?? '2.0'}`,
    title: textAt(info, 'title') ?? '',
    lists,
    skipped,
    baseUrl: server.baseUrl,
    login: loginOf(document, undefined),
    notes: [
      ...server.notes,
      ...[...document.outside]
        .slice(0, 3)
        .map((reference) => `What ${reference} describes was not read: it is another document.`),
    ],
  };
}

/** Content of a document, in any of the supported formats. */
export interface Described {
  readonly kind: string;
  readonly title: string;
  readonly lists: readonly ListOperation[];
  readonly skipped: readonly Skipped[];
  readonly baseUrl: string;
  readonly login: DescribedLogin;
  /** A parameter is a list, whose name is sent once for each item. */
  readonly hasLists?: boolean;
  readonly notes: readonly string[];
}

/** Returns the lists that need nothing for which the document has no value. */
export function usableOf({ lists }: Described): readonly ListOperation[] {
  return withoutNeedy(lists).usable;
}

/**
 * Creates a configuration from the content of a document: a row for each list that needs nothing of another one, and below it the
 * lists that are asked for with the ids of its rows.
 *
 * @param attempts what came of the lists, where they were asked for: it goes before what the document says
 */
export function configurationFrom(described: Described, attempts: ListAttempts = new Map()): FromDocument {
  const { kind, title, login, notes } = described;
  const { usable, skipped: needy } = withoutNeedy(described.lists);
  const { tops, skipped: lost } = nest(usable, attempts.size > 0);
  const baseUrl = baseOf(described);
  const taken: TakenList[] = [];
  const tables = new Names();
  const ids = new Names();
  const plans: (Json | undefined)[] = [];
  const rows = tops.map((branch) => {
    const id = ids.take(resourceOf(branch.list.path));
    const { job, pagination } = jobOf(branch, {
      id,
      tables,
      taken,
      parent: undefined,
      server: baseUrl,
      attempts,
    });
    plans.push(pagination);
    const parameters = {
      ...(pagination === undefined ? {} : { api: { pagination } }),
      config: { jobs: [job] },
    };
    const isUseless = attempts.get(branch.list.path)?.verdict === 'failed';
    return { id, ...(isUseless ? { isDisabled: true } : {}), configuration: { parameters } };
  });
  const api = {
    baseUrl,
    ...(login.authentication === undefined ? {} : { authentication: login.authentication }),
    ...(described.hasLists === true ? { http: { lists: 'repeated' } } : {}),
  };
  const isFast = tops.some(({ children }) => children.length > 0) || plans.some(canBePlanned);
  const shared: AnyObject = {
    parameters: {
      api: isFast ? asManyAtOnce(api) : api,
      ...(sizeOf(login.attributes) > 0 ? { config: login.attributes } : {}),
    },
  };
  return {
    kind,
    title,
    configuration: { configuration: shared, rows, rowsSortOrder: rows.map(({ id }) => id) },
    lists: taken,
    skipped: [
      ...lost,
      ...lostBelow(
        tops.flatMap(({ children }) => children),
        attempts,
      ),
      ...needy,
      ...described.skipped,
    ],
    variables: login.variables,
    notes: [...notes, ...login.notes],
  };
}

/** Returns only the rows of a configuration that have a list with this text in its path. */
export function selected(document: FromDocument, text: string | undefined): FromDocument {
  if (text === undefined) return document;
  const wanted = new Set(document.lists.flatMap(({ path, row }) => (path.includes(text) ? [row] : [])));
  const { configuration } = document;
  const rows = getKey(configuration, 'rows');
  const kept = (isList(rows) ? rows : []).filter(
    (row) => isObject(row) && wanted.has(toText(getKey(row, 'id'))),
  );
  return {
    ...document,
    configuration: withKey(withKey(configuration, 'rows', kept), 'rowsSortOrder', [...wanted]),
    lists: document.lists.filter(({ row }) => wanted.has(row)),
  };
}

/** Removes lists that need a parameter for which the document has no value. */
function withoutNeedy(lists: readonly ListOperation[]): {
  readonly usable: readonly ListOperation[];
  readonly skipped: readonly Skipped[];
} {
  return {
    usable: lists.filter((list) => needsOf(list).length === 0),
    skipped: lists.flatMap((list) => {
      const names = needsOf(list);
      return names.length === 0
        ? []
        : [
            {
              what: `GET ${list.path}`,
              why: `it wants ${names.join(', ')}, and the document has no value for it`,
            },
          ];
    }),
  };
}

/** Parameters that must be there, and that the document has no value for. */
function needsOf({ parameters }: ListOperation): string[] {
  return parameters
    .filter(
      ({ isRequired, place, value, name }) =>
        isRequired && place !== 'path' && value === undefined && !isSecretName(name),
    )
    .map(({ name }) => `\`${name}\``);
}

interface JobContext {
  readonly id: string;
  readonly tables: Names;
  readonly taken: TakenList[];
  readonly parent: NestedList | undefined;
  readonly server: string;
  readonly attempts: ListAttempts;
}

function jobOf(
  branch: NestedList,
  context: JobContext,
): { readonly job: AnyObject; readonly pagination: AnyObject | undefined } {
  const { list, placeholder, children, endpoint } = branch;
  const { id, tables, taken, parent, server } = context;
  const attempt = context.attempts.get(list.path);
  const table = tables.take(
    parent === undefined ? resourceOf(list.path) : `${resourceOf(parent.list.path)}_${resourceOf(list.path)}`,
  );
  const paging: Paging = pagingOf(list, targetFor(server, endpoint));
  taken.push({
    row: id,
    path: list.path,
    table,
    parent: parent?.list.path,
    rowsAt: list.place.keys.join('.'),
    nextPage: attempt?.nextPage ?? paging.says,
    ...(attempt === undefined ? {} : { attempt: saidOf(attempt) }),
  });
  const params = paramsOf(list, paging);
  const headers = list.parameters.flatMap(({ name, place, isRequired, value }): [string, Json][] =>
    isRequired && place === 'header' && value !== undefined && !isSecretName(name) ? [[name, value]] : [],
  );
  const job: [string, Json][] = [['endpoint', endpoint]];
  if (placeholder !== undefined)
    job.push(['placeholders', objectOf([[placeholder.name, attempt?.above ?? placeholder.path]])]);
  // one page proves no pagination: that of the document stays
  const isProved = attempt?.job !== undefined && attempt.nextPage !== undefined;
  const pagination = isProved ? attempt.pagination : paging.pagination;
  const found = attempt?.job === undefined ? [] : entriesOf(attempt.job);
  const sent = isProved ? getKey(attempt.job ?? {}, 'params') : params;
  if (isObject(sent) && sizeOf(sent) > 0) job.push(['params', sent]);
  if (headers.length > 0) job.push(['headers', objectOf(headers)]);
  job.push(
    ...(found.length === 0 || attempt?.rows === 0
      ? entriesOf(rowsKeys(list.place))
      : found.filter(([key]) => !OWN.has(key))),
  );
  if (table !== endpoint) job.push(['dataType', table]);
  const isTop = parent === undefined;
  // a child has its own pagination, or says that it has none where the list above it has one
  if (!isTop) job.push(['pagination', pagination ?? { method: 'none' }]);
  const kept = children.filter((child) => context.attempts.get(child.list.path)?.verdict !== 'failed');
  if (kept.length > 0)
    job.push(['children', kept.map((child) => jobOf(child, { ...context, parent: branch }).job)]);
  return { job: objectOf(job), pagination: isTop ? pagination : undefined };
}

/** Finds lists below others that did not come: a run with them would fail at each row. */
function lostBelow(children: readonly NestedList[], attempts: ListAttempts): Skipped[] {
  return children.flatMap(({ list, children: below }) => {
    const attempt = attempts.get(list.path);
    return attempt?.verdict === 'failed'
      ? [{ what: `GET ${list.path}`, why: attempt.why }]
      : lostBelow(below, attempts);
  });
}

/** Keys of a job that were found, and that it has in another way here. */
const OWN = new Set(['endpoint', 'params', 'headers', 'dataType', 'method', 'paramsIn']);

function saidOf(attempt: ListAttempt): NonNullable<TakenList['attempt']> {
  const { verdict, why, rows, pages, requests, total, id, nextPage } = attempt;
  return { verdict, why, rows, pages, requests, total, id, isProved: nextPage !== undefined };
}

function paramsOf(list: ListOperation, paging: Paging): AnyObject {
  return objectOf([
    ...list.parameters.flatMap(({ name, place, isRequired, value }): [string, Json][] =>
      isRequired && place === 'query' && value !== undefined && getKey(paging.params, name) === undefined
        ? [[name, value]]
        : [],
    ),
    ...entriesOf(paging.params),
  ]);
}

/**
 * Returns the same with another login than that of the document.
 *
 * @param auth as in `--auth`
 * @throws {RunError} `command.invalid` for one that cannot be understood
 */
export function withLogin(described: Described, auth: string, vault: SecretStore): Described {
  const credentials = new FoundCredentials(vault);
  credentials.fromOption(auth);
  const { authentication, attributes, notes } = credentials;
  return { ...described, login: { authentication, attributes, variables: [], notes } };
}

function baseOf({ baseUrl }: Described): string {
  return baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`;
}

/** Returns the request of a list, with its login and the values of its placeholders. */
export function targetOfList(list: ListOperation, endpoint: string, described: Described): FoundRequest {
  const plain = targetFor(baseOf(described), endpoint);
  const { login } = described;
  return {
    ...plain,
    dataType: resourceOf(list.path),
    params: paramsOf(list, pagingOf(list, plain)),
    authentication: login.authentication,
    attributes: login.attributes,
    ...(described.hasLists === true ? { hasLists: true } : {}),
    headers: objectOf(
      list.parameters.flatMap(({ name, place, isRequired, value }): [string, Json][] =>
        isRequired && place === 'header' && value !== undefined && !isSecretName(name) ? [[name, value]] : [],
      ),
    ),
    documented: list.parameters.flatMap(({ name, place }) => (place === 'query' ? [name] : [])),
  };
}

function targetFor(baseUrl: string, endpoint: string): FoundRequest {
  return {
    baseUrl,
    endpoint,
    dataType: endpoint,
    method: 'GET',
    params: {},
    paramsIn: undefined,
    authentication: undefined,
    headers: {},
    secretHeaders: {},
    attributes: {},
    notes: [],
  };
}

/** Returns the first server, its variables with their defaults; `/` of the document's own host where it names none. */
function serverOf(
  document: ApiDocument,
  from: string | undefined,
): { readonly baseUrl: string; readonly notes: readonly string[] } {
  const text = document.version === 2 ? swaggerServer(document, from) : openApiServer(document);
  const base = from !== undefined && /^https?:/i.test(from) ? from : undefined;
  const whole = URL.canParse(text, base) ? new URL(text, base).href : undefined;
  const notes =
    whole === undefined ? ['The document names no server: set `api.baseUrl` to the address of the API.'] : [];
  const baseUrl = whole ?? `https://api.example.com${text.startsWith('/') ? text : ''}`;
  return { baseUrl: baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`, notes };
}

function openApiServer(document: ApiDocument): string {
  const [server] = document.list(document.root, 'servers');
  const variables = server === undefined ? undefined : document.object(server, 'variables');
  return (textAt(server, 'url') ?? '/').replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = variables === undefined ? undefined : document.object(variables, name);
    const value = variable === undefined ? undefined : getKey(variable, 'default');
    return typeof value === 'string' ? value : whole;
  });
}

function swaggerServer({ root }: ApiDocument, from: string | undefined): string {
  const host = textAt(root, 'host');
  const path = textAt(root, 'basePath') ?? '/';
  if (host === undefined) return path;
  const schemes = getKey(root, 'schemes');
  const known = Array.isArray(schemes) ? schemes : [];
  const scheme =
    known.includes('https') || known.length === 0
      ? from?.startsWith('http:') === true && known.length === 0
        ? 'http'
        : 'https'
      : 'http';
  return `${scheme}://${host}${path}`;
}

/** Names that are given once. */
class Names {
  readonly #taken = new Set<string>();

  take(name: string): string {
    for (let i = 1; ; i++) {
      const free = i === 1 ? name : `${name}_${i}`;
      if (this.#taken.has(free)) continue;
      this.#taken.add(free);
      return free;
    }
  }
}
