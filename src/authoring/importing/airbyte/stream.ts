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
  MOST_IN_GROUP,
  partitionReference,
  readPartitions,
  type ListPartition,
  type ParentPartition,
  type Partition,
} from './partitions.ts';
import { propertiesParent, QUERY_PROPERTIES } from './query-properties.ts';
import { readReactions } from './reactions.ts';
import { readRecords, type RecordsDraft } from './records.ts';
import { readRequest } from './request.ts';
import { fieldSource, type TemplateScope } from './scope.ts';
import type { ConnectorSettings } from './airbyte-settings.ts';
import { call } from './translate/out.ts';
import {
  freeName,
  isTraced,
  parentSource,
  parentValue,
  needsRow,
  startBelow,
  underAll,
  withSharedParents,
  type JobTree,
  type TranslatedJob,
} from './parent-rows.ts';
import { pathText, type TranslatedJson, type Reference } from './translate/position.ts';

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
  readonly #way: number | undefined;
  readonly #slots = new Map<string, Reference>();
  readonly #sent = { lists: false };
  readonly #scope: TemplateScope;

  constructor(
    stream: ManifestComponent,
    retriever: ManifestComponent,
    context: StreamContext,
    keepsState: boolean,
    depth: number,
    way?: number,
  ) {
    this.#way = way;
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
    if (this.#retriever.get('page_size_reduction') !== undefined)
      findings.note(
        'A page that is too long for the API is asked for again as it is, and not a shorter one.',
      );
    for (const key of ['pagination_reset', 'request_window_splitting']) {
      if (this.#retriever.get(key) !== undefined)
        findings.not(this.#retriever.place(key), `No counterpart: ${key}`);
    }
    if (this.#stream.get('file_uploader') !== undefined)
      findings.not(this.#stream.place('file_uploader'), 'No counterpart: files as they are');
    const ways = readPartitions(this.#retriever, this.#scope);
    if (this.#way === undefined && ways.length > 1) return this.#several(ways);
    const way = ways[this.#way ?? 0];
    const properties = propertiesParent(requester, this.#scope);
    const slices = this.#multiplied(way?.parents ?? [], properties);
    if (slices === undefined) return undefined;
    const { parent, above } = slices;
    const lists = [...(way?.lists ?? []), ...slices.lists];
    const names = [...(above?.names ?? [])];
    const job: TranslatedJob = {};
    if (parent !== undefined && above !== undefined) this.#below(parent, above, job, names);
    this.#withProperties(properties, above);
    this.#lists(lists, job, names);
    const isPartitioned = (way?.parents.length ?? 0) + lists.length > 0;
    const incremental = readIncremental(this.#stream.child('incremental_sync'), this.#scope, {
      keepsState: this.#keepsState,
      isPartitioned,
    });
    for (const [name, reference] of incremental.slots) this.#slots.set(name, reference);
    const tree = this.#job({ requester, job, above, parent, lists, incremental, names });
    // all properties at once are no parts of a stream
    if (!isPartitioned && above !== undefined && isMap(job['incremental']))
      job['incremental'] = { ...job['incremental'], perParent: false };
    return tree;
  }

  /** Returns a job for each way to the slices of the stream: rows of all of them are one table. */
  #several(ways: readonly Partition[]): JobTree | undefined {
    const trees = ways.map((_, index) =>
      new StreamReader(
        this.#stream,
        this.#retriever,
        this.#context,
        this.#keepsState,
        this.#depth,
        index,
      ).read(),
    );
    if (trees.includes(undefined)) return undefined;
    const all = trees.filter((tree) => tree !== undefined);
    // a list without values asks for nothing
    const asking = all.filter(({ roots }) => !roots.every(isWithoutValues));
    const [first, ...others] = asking.length === 0 ? all : asking;
    if (first === undefined) return undefined;
    if (ways.some(({ isDistinct }) => isDistinct === true)) this.#distinct([first, ...others]);
    // each of them has pages and a state of its own
    others.forEach((tree, index) => {
      tree.leaf['id'] = `${shown(tree.leaf['id'])}-${index + 2}`;
    });
    return { ...first, roots: withSharedParents([first, ...others].flatMap(({ roots }) => roots)) };
  }

  /** Reports slices that may come several times, and are asked for once in the other tool. */
  #distinct(trees: readonly JobTree[]): void {
    const { findings } = this.#context;
    if (trees.every(({ roots, leaf }) => roots.length === 1 && roots[0] === leaf) && trees.length === 1)
      return;
    if (this.#stream.get('primary_key') === undefined)
      findings.not(
        this.#retriever.place('partition_router'),
        'No counterpart: slices that are asked for once',
      );
    else
      findings.column(
        'a slice that comes several times is asked for each time; its rows are merged by the primary key',
      );
  }

  /**
   * Returns the parent whose rows start the stream, and the values of all other parents as lists: they are multiplied
   * with each other.
   */
  #multiplied(
    parents: readonly ParentPartition[],
    properties: ParentPartition | undefined,
  ):
    | {
        readonly parent?: ParentPartition;
        readonly above?: JobTree;
        readonly lists: readonly ListPartition[];
      }
    | undefined {
    const { findings } = this.#context;
    const lists: ListPartition[] = [];
    const ordered = [
      ...(properties === undefined ? [] : [properties]),
      ...parents.toSorted((a, b) => Number(needsRow(a)) - Number(needsRow(b))),
    ];
    let last: { readonly parent: ParentPartition; readonly above: JobTree } | undefined;
    for (const parent of ordered) {
      const tree = this.#parent(parent, parents.length === 1);
      if (tree === undefined) return undefined;
      if (last === undefined) {
        last = { parent, above: tree };
        continue;
      }
      const isList = last.parent !== properties;
      if (
        (isList && needsRow(last.parent)) ||
        JSON.stringify(tree.baseUrl) !== JSON.stringify(last.above.baseUrl)
      )
        findings.not(
          parent.stream.at,
          'No counterpart: parents at several addresses, or with further fields',
        );
      this.#sameLogin(last.above, tree.authentication);
      const { above, name } = underAll(last.parent, last.above, tree, isList ? false : ',', findings);
      if (!isList) this.#slots.set(QUERY_PROPERTIES, partitionReference(name, MOST_IN_GROUP));
      else {
        const { option, name: field, stream } = last.parent;
        lists.push({
          name: field,
          values: { placeholder: name },
          ...(option === undefined ? {} : { option }),
        });
        findings.note(
          `“${parent.stream.text('name') ?? ''}” is asked for once for each page of “${stream.text('name') ?? ''}”.`,
        );
      }
      last = { parent, above };
    }
    return { ...last, lists };
  }

  /** Makes what properties stand for known to templates, too. */
  #withProperties(properties: ParentPartition | undefined, above: JobTree | undefined): void {
    const reference = this.#slots.get(QUERY_PROPERTIES);
    if (properties === undefined || reference === undefined || above === undefined) return;
    this.#slots.set(`extra_fields.${QUERY_PROPERTIES}`, reference);
    const [root] = above.roots;
    if (!isMap(root?.['pagination']) || root['pagination']['method'] !== 'none')
      this.#context.findings.not(properties.stream.at, 'No counterpart: properties on several pages');
  }

  #parent(parent: ParentPartition, isOnly: boolean): JobTree | undefined {
    const context = { ...this.#context, findings: this.#context.findings.ofParent() };
    // the state of a parent is kept in that of its child
    const hasState = isOnly && this.#keepsState && this.#stream.get('incremental_sync') !== undefined;
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
    if (parent.extraFields.some(([name = '']) => above.records.isChanged(name)))
      findings.not(parent.stream.at, 'The field of the parent is changed by Python code');
    if (parent.extraFields.some((keys) => !isTraced(keys, above.records, 'once')))
      findings.not(parent.stream.at, 'The field of the parent has another name by then');
    const placeholder = freeName(parent.name, names);
    names.push(placeholder);
    startBelow(job, parent, above, placeholder, findings);
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

  /** Leaves out a list of one value that no request has. */
  #withoutUnsent(job: TranslatedJob, lists: readonly ListPartition[]): void {
    const { over, ...others } = job;
    if (!isMap(over)) return;
    const sent = JSON.stringify(others);
    const single = lists
      .filter(({ isSingle }) => isSingle === true)
      .map(({ name }) => this.#slots.get(name)?.out);
    const left = Object.entries(over).filter(([placeholder]) => {
      const reference = JSON.stringify({ placeholder });
      const isSent = sent.includes(`{${placeholder}}`) || sent.includes(reference);
      return isSent || !single.some((out) => JSON.stringify(out) === reference);
    });
    if (left.length === Object.keys(over).length) return;
    if (left.length > 0) job['over'] = Object.fromEntries(left);
    else delete job['over'];
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
    this.#withoutUnsent(job, lists);
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
    const top = field.split('.')[0] ?? field;
    if (records.isChanged(top) && records.isConvertedTime(top))
      this.#context.findings.column(
        `“${field}” is converted by Python code: the state takes it for the same time`,
      );
    else if (records.isChanged(top))
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

/** Tells if a list above a job, or of its own, has no values. */
function isWithoutValues(job: TranslatedJob): boolean {
  const { over, children } = job;
  if (isMap(over) && Object.values(over).some((values) => isSequence(values) && values.length === 0))
    return true;
  const below = isSequence(children) ? children.filter(isMap) : [];
  return below.length > 0 && below.every((child) => isWithoutValues({ ...child }));
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
