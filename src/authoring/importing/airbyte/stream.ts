import { hostOf, partsOf, wholeEndpoint } from './address.ts';
import { readAuthentication } from './authentication.ts';
import { sendsAsBase } from './code/as-base.ts';
import type { ComponentCode } from './code/component-code.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import { putInto, type Authentication, type JobDraft } from './draft.ts';
import { liftEncoded } from './encoded.ts';
import type { ManifestFindings } from './findings.ts';
import { readExport } from './export.ts';
import { readFormat } from './format.ts';
import { plainPath, readIncremental, type IncrementalDraft } from './incremental.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { readPagination } from './pagination.ts';
import {
  partitionReference,
  readPartitions,
  type ListPartition,
  type ParentPartition,
} from './partitions.ts';
import { readReactions } from './reactions.ts';
import { readRecords, type RecordsDraft } from './records.ts';
import { readRequest } from './request.ts';
import { fieldSource, type TemplateScope } from './scope.ts';
import type { ConnectorSettings } from './airbyte-settings.ts';
import { call } from './translate/out.ts';
import { pathText, type TranslatedJson, type Reference } from './translate/position.ts';

export type TranslatedJob = Record<string, TranslatedJson>;

/** A stream as a job; below its parents where it has some. */
export interface JobTree {
  /** Jobs of a row; a child of several parents is below each of them. */
  readonly roots: readonly TranslatedJob[];
  readonly leaf: TranslatedJob;
  readonly slots: ReadonlyMap<string, Reference>;
  readonly records: RecordsDraft;
  readonly baseUrl: TranslatedJson;
  readonly authentication: Authentication | undefined;
  /** A request of it has a list in its query, or in a form. */
  readonly hasLists: boolean;
  readonly isIncremental: boolean;
  readonly primaryKey: readonly string[];
  /** Names of placeholders that are taken. */
  readonly names: readonly string[];
  /** Hosts that get the credentials besides those that the configuration names by itself. */
  readonly trustedHosts: readonly string[];
}

export interface StreamContext {
  readonly settings: ConnectorSettings;
  readonly findings: ManifestFindings;
  /** The Python code beside the manifest. */
  readonly code?: ComponentCode | undefined;
}

/** Most levels of parents. */
const MAX_PARENTS = 10;

/**
 * Takes one stream over. What can't be is among the findings; the tree is then only what is left of it.
 *
 * @param keepsState false for a parent that is read from its start in every run
 */
export function readStream(
  stream: ManifestComponent,
  context: StreamContext,
  keepsState = true,
  depth = 0,
): JobTree | undefined {
  const { findings } = context;
  const retriever = stream.child('retriever');
  if (depth > MAX_PARENTS) {
    findings.not(stream.at, 'Parents have parents without end');
    return undefined;
  }
  if (stream.type === 'StateDelegatingStream') {
    const full = stream.child('full_refresh_stream');
    findings.note(
      'Every run reads all rows, as the first one does: the other request for later runs is not used.',
    );
    return full === undefined ? undefined : readStream(full, context, keepsState, depth);
  }
  if (stream.className !== undefined || retriever?.className !== undefined) {
    findings.not(
      retriever?.at ?? stream.at,
      `Python code: ${retriever?.className ?? stream.className ?? ''}`,
    );
    return undefined;
  }
  if (retriever === undefined || !['SimpleRetriever', 'AsyncRetriever'].includes(retriever.type)) {
    findings.not(
      stream.place('retriever'),
      `No counterpart: ${retriever?.type ?? 'a stream without a retriever'}`,
    );
    return undefined;
  }
  return new StreamReader(stream, retriever, context, keepsState, depth).read();
}

class StreamReader {
  readonly #stream: ManifestComponent;
  readonly #retriever: ManifestComponent;
  readonly #context: StreamContext;
  readonly #keepsState: boolean;
  readonly #depth: number;
  readonly #parentIndex: number | undefined;
  readonly #slots = new Map<string, Reference>();
  readonly #sent = { lists: false };
  readonly #scope: TemplateScope;

  constructor(
    stream: ManifestComponent,
    retriever: ManifestComponent,
    context: StreamContext,
    keepsState: boolean,
    depth: number,
    parentIndex?: number,
  ) {
    this.#parentIndex = parentIndex;
    this.#stream = stream;
    this.#retriever = retriever;
    this.#context = context;
    this.#keepsState = keepsState;
    this.#depth = depth;
    this.#scope = { ...context, slots: this.#slots, sent: this.#sent };
  }

  read(): JobTree | undefined {
    const { findings } = this.#context;
    const isExport = this.#retriever.type === 'AsyncRetriever';
    const requester = this.#retriever.child(isExport ? 'creation_requester' : 'requester');
    const isCode = requester?.className !== undefined;
    if (requester === undefined || (!isCode && requester.type !== 'HttpRequester')) {
      findings.not(this.#retriever.place('requester'), 'No counterpart: a requester that is none of HTTP');
      return undefined;
    }
    if (
      isCode &&
      readCode(requester, this.#scope, (type) => sendsAsBase(type, requester, this.#scope)) === undefined
    )
      return undefined;
    for (const key of ['pagination_reset', 'page_size_reduction', 'request_window_splitting']) {
      if (this.#retriever.get(key) !== undefined)
        findings.not(this.#retriever.place(key), `No counterpart: ${key}`);
    }
    if (this.#stream.get('file_uploader') !== undefined)
      findings.not(this.#stream.place('file_uploader'), 'No counterpart: files as they are');
    const partitions = readPartitions(this.#retriever, this.#scope);
    if (this.#parentIndex === undefined && partitions.parents.length > 1)
      return this.#several(partitions.parents);
    const parent = partitions.parents[this.#parentIndex ?? 0];
    const above = parent === undefined ? undefined : this.#parent(parent);
    if (parent !== undefined && above === undefined) return undefined;
    const names = [...(above?.names ?? [])];
    const job: TranslatedJob = {};
    if (parent !== undefined && above !== undefined) this.#below(parent, above, job, names);
    this.#lists(partitions.lists, job, names);
    const incremental = readIncremental(this.#stream.child('incremental_sync'), this.#scope, {
      keepsState: this.#keepsState,
      isPartitioned: partitions.parents.length + partitions.lists.length > 0,
    });
    for (const [name, reference] of incremental.slots) this.#slots.set(name, reference);
    return this.#job({ requester, job, above, parent, lists: partitions.lists, incremental, names });
  }

  /** Returns a child of each of several parents: rows of all of them are one table. */
  #several(parents: readonly ParentPartition[]): JobTree | undefined {
    const trees = parents.map((_, index) =>
      new StreamReader(
        this.#stream,
        this.#retriever,
        this.#context,
        this.#keepsState,
        this.#depth,
        index,
      ).read(),
    );
    const [first, ...others] = trees;
    if (first === undefined || others.includes(undefined)) return undefined;
    const roots = withSharedParents(trees.flatMap((tree) => tree?.roots ?? []));
    // each of them has pages and a state of its own
    others.forEach((tree, index) => {
      if (tree !== undefined) tree.leaf['id'] = `${shown(tree.leaf['id'])}-${index + 2}`;
    });
    return { ...first, roots };
  }

  #parent(parent: ParentPartition): JobTree | undefined {
    const context = { ...this.#context, findings: this.#context.findings.ofParent() };
    // the state of a parent is kept in that of its child
    const hasState = this.#keepsState && this.#stream.get('incremental_sync') !== undefined;
    return readStream(parent.stream, context, parent.keepsState && hasState, this.#depth + 1);
  }

  /** Adds the values of the parent row that the child uses. */
  #below(parent: ParentPartition, above: JobTree, job: TranslatedJob, names: string[]): void {
    const { findings } = this.#context;
    for (const [name, reference] of above.slots) {
      // windows and other fields of the parent are not of its slice
      if (!isMap(reference.out) || reference.out['placeholder'] === undefined) continue;
      this.#slots.set(`parent_slice.${name}`, reference);
    }
    if (above.roots.length > 1)
      findings.not(parent.stream.at, 'No counterpart: a parent that has several parents itself');
    const used = [parent.parentKey.split('/'), ...parent.extraFields];
    if (used.some(([name = '']) => above.records.isChanged(name)))
      findings.not(parent.stream.at, 'The field of the parent is changed by Python code');
    if (
      !isTraced(parent.parentKey.split('/'), above.records, 'somewhere') ||
      parent.extraFields.some((keys) => !isTraced(keys, above.records, 'once'))
    )
      findings.not(parent.stream.at, 'The field of the parent has another name by then');
    const placeholder = freeName(parent.name, names);
    names.push(placeholder);
    const { source, path } = parentValue(parent.parentKey.split('/'), above.records);
    // several values at once are found by a path alone
    job['placeholders'] = { [placeholder]: parent.group === undefined ? source : (path ?? source) };
    const { where } = above.leaf;
    const filters = [
      ...(path === undefined ? [] : [{ value: path, is: 'present' }]),
      ...(where === undefined ? [] : [where]),
    ];
    if (filters.length > 0) job['recursionFilter'] = filters;
    readOnly(above.leaf);
    if (parent.group !== undefined) job['group'] = { size: parent.group, by: false };
    const inside = (keys: readonly (string | number)[]): Reference =>
      this.#part(parent, above.records, job, names, keys);
    this.#slots.set(parent.name, partitionReference(placeholder, parent.group, inside));
    if (parent.group !== undefined && parent.extraFields.length > 0)
      findings.not(parent.stream.at, 'No counterpart: further fields of several parent rows in one request');
    for (const field of parent.extraFields) {
      const inField = (keys: readonly (string | number)[]): Reference => ({
        out: parentSource([...field, ...keys.map(String)], above.records).parent,
      });
      this.#slots.set(`extra_fields.${field.join('.')}`, { ...inField([]), inside: inField });
    }
  }

  /** Returns a part of the value of the parent row, which has a placeholder of its own. */
  #part(
    parent: ParentPartition,
    records: RecordsDraft,
    job: TranslatedJob,
    names: string[],
    keys: readonly (string | number)[],
  ): Reference {
    const name = freeName([parent.name, ...keys].join('_'), names);
    names.push(name);
    const { source } = parentValue([...parent.parentKey.split('/'), ...keys.map(String)], records);
    job['placeholders'] = { ...(isMap(job['placeholders']) ? job['placeholders'] : {}), [name]: source };
    const part: Reference = { out: { placeholder: name } };
    this.#slots.set([parent.name, ...keys].join('.'), part);
    return part;
  }

  /** Leaves out the placeholder of an object of which only parts are sent: it is no value that can be. */
  #withoutWhole(job: TranslatedJob, parent: ParentPartition): void {
    const whole = this.#slots.get(parent.name)?.out;
    const hasParts = [...this.#slots.keys()].some((name) => name.startsWith(`${parent.name}.`));
    const { placeholders } = job;
    if (!hasParts || !isMap(whole) || !isMap(placeholders)) return;
    const name = shown(whole['placeholder']);
    const { [name]: _, ...others } = placeholders;
    const sent = JSON.stringify({ ...job, placeholders: others });
    if (sent.includes(JSON.stringify(whole)) || sent.includes(`{${name}}`)) return;
    job['placeholders'] = others;
    this.#slots.delete(parent.name);
  }

  #lists(lists: readonly ListPartition[], job: TranslatedJob, names: string[]): void {
    const over: Record<string, TranslatedJson> = {};
    for (const list of lists) {
      const placeholder = freeName(list.name, names);
      names.push(placeholder);
      over[placeholder] = list.values;
      this.#slots.set(list.name, partitionReference(placeholder, list.group));
    }
    if (lists.length > 0) job['over'] = over;
  }

  #job(parts: {
    readonly requester: ManifestComponent;
    readonly job: TranslatedJob;
    readonly above: JobTree | undefined;
    readonly parent: ParentPartition | undefined;
    readonly lists: readonly ListPartition[];
    readonly incremental: IncrementalDraft;
    readonly names: readonly string[];
  }): JobTree {
    const { requester, job, above, parent, lists, incremental, names } = parts;
    const scope = this.#scope;
    const request = readRequest(requester, scope);
    const paging = readPagination(this.#retriever.child('paginator'), request.tokens, scope);
    const draft: JobDraft = {
      query: { ...request.query },
      headers: { ...request.headers },
      body: request.body,
      bodyFormat: request.bodyFormat,
    };
    for (const { place, value } of paging.constants) putInto(draft, place, value, paging.isForm);
    if (paging.isForm) draft.bodyFormat ??= 'form';
    for (const { place, value, isForm } of incremental.options) putInto(draft, place, value, isForm);
    if (parent?.option !== undefined)
      putInto(draft, parent.option.place, this.#slots.get(parent.name)?.out ?? '', parent.option.isForm);
    for (const { name, option } of lists)
      if (option !== undefined) putInto(draft, option.place, this.#slots.get(name)?.out ?? '', option.isForm);
    const pagination = this.#retriever.flag('ignore_stream_slicer_parameters_on_paginated_requests')
      ? this.#firstPageAlone(paging.pagination, [
          ...incremental.options,
          ...[parent?.option, ...lists.map(({ option }) => option)].filter((option) => option !== undefined),
        ])
      : paging.pagination;
    const { baseUrl } = request.address;
    // a row has one base: a child with another one names the whole address
    const isElsewhere = above !== undefined && JSON.stringify(above.baseUrl) !== JSON.stringify(baseUrl);
    const address = isElsewhere ? wholeEndpoint(request.address, names) : request.address.endpoint;
    const endpoint = this.#withNameless(address, draft, pagination);
    const records = readRecords(this.#stream, this.#retriever.child('record_selector'), scope);
    const reactions = readReactions(requester.child('error_handler'), scope);
    const name = this.#stream.text('name') ?? '';
    Object.assign(job, {
      id: name,
      endpoint,
      ...(request.method === 'GET' ? {} : { method: request.method }),
      ...queryOf(request.method, draft),
      ...(Object.keys(draft.headers).length === 0 ? {} : { headers: draft.headers }),
      ...(draft.body === undefined ? {} : { body: draft.body }),
      ...(draft.bodyFormat === undefined ? {} : { bodyFormat: draft.bodyFormat }),
      dataType: name,
      dataField: records.dataField,
      ...readFormat(this.#retriever, scope),
      pagination: pagination ?? { method: 'none' },
      ...whereOf(
        records.where,
        incremental.where?.(
          fieldSource(records.names, [incremental.cursorField ?? ''], 'path') ?? {
            path: pathText([incremental.cursorField ?? '']),
          },
        ),
      ),
      ...(Object.keys(records.columns).length === 0 ? {} : { columns: records.columns }),
      ...(records.exclude.length === 0 ? {} : { exclude: records.exclude }),
      ...(records.case === undefined ? {} : { case: records.case }),
      ...(reactions.length === 0 ? {} : { reactions }),
    });
    if (this.#retriever.type === 'AsyncRetriever') {
      const made = readExport(this.#retriever, scope, request);
      if (made !== undefined)
        Object.assign(job, { export: made.export, ...made.format, dataField: made.dataField });
    }
    if (parent !== undefined) this.#withoutWhole(job, parent);
    const taken = [...names];
    liftEncoded(job, (wanted) => {
      const free = freeName(wanted, taken);
      taken.push(free);
      return free;
    });
    const isIncremental = this.#windows(job, incremental, records, above?.isIncremental === true);
    if (above !== undefined) {
      const { children } = above.leaf;
      above.leaf['children'] = [...(isSequence(children) ? children : []), job];
    }
    const authentication = readAuthentication(requester.child('authenticator'), scope);
    if (above !== undefined) this.#sameLogin(above, authentication);
    const trusted = isElsewhere ? this.#trustedHost(above, endpoint, baseUrl, authentication) : [];
    return {
      roots: above?.roots ?? [job],
      leaf: job,
      slots: this.#slots,
      records,
      baseUrl: above?.baseUrl ?? baseUrl,
      authentication: above?.authentication ?? authentication,
      hasLists: request.hasLists || this.#sent.lists || above?.hasLists === true,
      // rows below the new rows of a parent are new ones, too
      isIncremental: isIncremental || above?.isIncremental === true,
      primaryKey: keyColumns(this.#stream.get('primary_key')),
      names: taken,
      trustedHosts: [...new Set([...(above?.trustedHosts ?? []), ...trusted])],
    };
  }

  /** Puts a parameter without a name into the address, as `?=20`: everywhere else it would be left out. */
  #withNameless(
    endpoint: TranslatedJson,
    draft: JobDraft,
    pagination: TranslatedJob | undefined,
  ): TranslatedJson {
    const { '': value } = draft.query;
    if (value === undefined) return endpoint;
    delete draft.query[''];
    if (pagination?.['method'] === 'response.url' || shown(endpoint).includes('?'))
      this.#context.findings.not(
        this.#retriever.place('paginator'),
        'No counterpart: a place in the request without a name',
      );
    return typeof endpoint === 'string' && typeof value !== 'object'
      ? `${endpoint}?=${shown(value)}`
      : call('concat', ...partsOf(endpoint), '?=', value);
  }

  /** Parameters of the slice are sent with the first request alone. */
  #firstPageAlone(
    pagination: TranslatedJob | undefined,
    options: readonly { readonly place: ManifestNode }[],
  ): TranslatedJob | undefined {
    if (pagination === undefined || options.length === 0) return pagination;
    const names = options.map(({ place }) => (isMap(place) ? place['query'] : undefined));
    const known = names.filter((name) => typeof name === 'string');
    if (pagination['includeParams'] === true && known.length === names.length)
      return { ...pagination, includeParams: { except: known } };
    this.#context.findings.not(
      this.#retriever.place('ignore_stream_slicer_parameters_on_paginated_requests'),
      'No counterpart: parts of the slice in the first request alone',
    );
    return pagination;
  }

  /** Windows and state, where the request or the rows have a use for them. */
  #windows(
    job: TranslatedJob,
    { incremental, windows, cursorField, cursorOf }: IncrementalDraft,
    records: RecordsDraft,
    isBelowNew: boolean,
  ): boolean {
    const usesWindow = JSON.stringify(job).includes('{"window":');
    if (usesWindow && windows !== undefined) job['windows'] = windows;
    if (incremental === undefined) return false;
    const { first, ...rest } = incremental;
    const state = usesWindow || first === undefined ? rest : incremental;
    const isUsed =
      usesWindow ||
      incremental['filter'] === true ||
      incremental['order'] !== undefined ||
      incremental['to'] !== undefined;
    if (!isUsed) {
      this.#context.findings.note(
        isBelowNew
          ? 'Reads all rows of each new row of the parent: the API is not asked for newer ones.'
          : 'Reads all rows in every run: the API is not asked for newer ones.',
      );
      return false;
    }
    const field = cursorField ?? '';
    if (records.isChanged(field.split('.')[0] ?? field))
      this.#context.findings.not(
        this.#stream.place('transformations'),
        `The field “${field}” of the state is changed by Python code`,
      );
    const added = records.added.get(field);
    const named = added?.out ?? fieldSource(records.names, [field], 'path');
    if (named === undefined)
      this.#context.findings.not(
        this.#stream.place('incremental_sync'),
        `The field “${field}” of the state has another name by then`,
      );
    const isMoved = added === undefined && records.names.isChanged && named !== undefined;
    const cursor = added?.out ?? (isMoved ? plainPath(cursorOf?.(named) ?? named) : state['cursor']);
    // rows that are left out don't move the state
    const source = typeof cursor === 'string' ? { path: cursor } : cursor;
    const moving =
      records.isKept === undefined || source === undefined
        ? cursor
        : call('if', records.isKept, source, null);
    job['incremental'] = moving === undefined ? state : { ...state, cursor: moving };
    return true;
  }

  /** Returns the host of a child that asks another one than its parent, where a function makes the address. */
  #trustedHost(
    above: JobTree,
    endpoint: TranslatedJson,
    baseUrl: TranslatedJson,
    authentication: Authentication | undefined,
  ): readonly string[] {
    if (typeof endpoint === 'string' || authentication === undefined) return [];
    const { key, host } = hostOf(endpoint);
    const own = hostOf(baseUrl);
    const parents = hostOf(above.baseUrl).key;
    if (key === parents || own.key === parents) return [];
    const known = host ?? own.host;
    if (known !== undefined) return [known];
    this.#context.findings.not(
      this.#retriever.place('requester'),
      'No counterpart: a parent at another host, which is known only while it runs',
    );
    return [];
  }

  /** Reports a parent with another login, because a row of a configuration has only one. */
  #sameLogin(above: JobTree, authentication: Authentication | undefined): void {
    if (JSON.stringify(above.authentication) !== JSON.stringify(authentication))
      this.#context.findings.not(
        this.#retriever.place('requester'),
        'No counterpart: a parent that is authenticated in another way',
      );
  }
}

/** Returns the columns of a primary key: from a name, a list of names, or a list of paths. */
function keyColumns(node: ManifestNode | undefined): readonly string[] {
  if (typeof node === 'string') return node === '' ? [] : [node];
  if (!isSequence(node)) return [];
  return node.map((item) => (isSequence(item) ? item.map(shown).join('_') : shown(item)));
}

/** Joins parents that are the same into one, which starts the children of both; others get an id of their own. */
function withSharedParents(roots: readonly TranslatedJob[]): readonly TranslatedJob[] {
  const shared: TranslatedJob[] = [];
  for (const root of roots) {
    const alone = (job: TranslatedJob): string => JSON.stringify({ ...job, children: [] });
    const same = shared.find((other) => alone(other) === alone(root));
    const [mine, others] = [root['children'], same?.['children']];
    if (same !== undefined && isSequence(mine) && isSequence(others)) same['children'] = [...others, ...mine];
    else shared.push(root);
  }
  return shared.map((root, index) =>
    shared.slice(0, index).some(({ id }) => id === root['id'])
      ? { ...root, id: `${shown(root['id'])}-${index + 1}` }
      : root,
  );
}

function whereOf(...conditions: readonly (TranslatedJson | undefined)[]): TranslatedJob {
  const all = conditions.filter((condition) => condition !== undefined);
  const [only] = all;
  if (only === undefined) return {};
  return { where: all.length === 1 ? only : { all } };
}

function queryOf(method: 'GET' | 'POST', { query, body }: JobDraft): TranslatedJob {
  const isEmpty = Object.keys(query).length === 0;
  if (method === 'GET') return isEmpty ? {} : { params: query };
  // a POST without a body is sent without one
  const paramsIn = body === undefined ? { paramsIn: 'query' } : {};
  return isEmpty ? paramsIn : { query, ...paramsIn };
}

/**
 * Makes a parent write no table: its rows start its children, and its table belongs to another row of the
 * configuration.
 */
function readOnly(parent: TranslatedJob): void {
  for (const key of ['columns', 'exclude', 'case', 'where']) delete parent[key];
  parent['table'] = false;
}

/**
 * Returns a name for a placeholder: braces and colons have a meaning there, and names of parents are visible below
 * them.
 */
function freeName(name: string, taken: readonly string[]): string {
  const plain = name.replaceAll(/[{}:]/g, '_');
  if (!taken.includes(plain)) return plain;
  for (let count = 2; ; count++) if (!taken.includes(`${plain}_${count}`)) return `${plain}_${count}`;
}

/** Returns the path of a placeholder's value in the parent row, which may have got it from elsewhere. */
function parentValue(
  keys: readonly string[],
  records: RecordsDraft,
): { readonly source: TranslatedJson; readonly path?: TranslatedJson } {
  const { parent, path } = parentSource(keys, records);
  // by a path it would also become a column of the child
  return { source: parent, ...(path === undefined ? {} : { path }) };
}

function parentSource(
  keys: readonly string[],
  records: RecordsDraft,
): { readonly parent: TranslatedJson; readonly path?: TranslatedJson } {
  const added = records.added.get(keys.join('.'));
  if (added !== undefined) {
    const { out } = added;
    if (isMap(out) && typeof out['path'] === 'string' && Object.keys(out).length === 1)
      return { parent: { parent: out['path'] }, path: out['path'] };
    return { parent: inParent(out) };
  }
  const path = fieldSource(records.names, keys, 'path');
  if (path === undefined) return { parent: { parent: pathText(keys) } };
  return { parent: fieldSource(records.names, keys, 'parent') ?? null, path: plainPath(path) };
}

/** Tells if it is known where the parent row has a field that may have got another name: at one place, or at one of several. */
function isTraced(keys: readonly string[], records: RecordsDraft, where: 'once' | 'somewhere'): boolean {
  if (records.added.has(keys.join('.'))) return true;
  const paths = records.names.pathsOf(keys);
  return paths !== undefined && (where === 'somewhere' || paths.length === 1);
}

/** Converts a value of the row to one that a child of it can read. */
function inParent(out: ManifestNode): TranslatedJson {
  if (Array.isArray(out)) return out.map((item: ManifestNode) => inParent(item));
  if (!isMap(out)) return out;
  const { path } = out;
  if (typeof path === 'string' && Object.keys(out).length === 1) return { parent: path };
  return Object.fromEntries(Object.entries(out).map(([key, value]) => [key, inParent(value)]));
}
