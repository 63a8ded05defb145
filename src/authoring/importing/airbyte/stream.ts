import type { ConnectorSettings } from './airbyte-settings.ts';
import { sendsAsBase } from './code/as-base.ts';
import { asksForAll, keepsOwnState } from './code/own-cursor.ts';
import type { ComponentCode, ReadFileBeside } from './code/component-code.ts';
import { readsAsBase } from './code/retriever.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import type { ManifestFindings } from './findings.ts';
import { readIncremental } from './incremental.ts';
import type { Constant } from './jinja/ast.ts';
import { get, isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { withSharedParents, type JobTree, type TranslatedJob } from './parent-rows.ts';
import { readPartitions, type ParentPartition, type Partition } from './partitions.ts';
import { propertiesParent } from './query-properties.ts';
import { multiply, reportDistinct, reportNewParts, withLists, withParent, withProperties } from './slices.ts';
import { readJob } from './stream-job.ts';
import type { SharedParents } from './shared-parents.ts';
import type { StreamParts } from './stream-parts.ts';
import type { Reference } from './translate/position.ts';

export interface StreamContext {
  readonly settings: ConnectorSettings;
  readonly findings: ManifestFindings;
  /** The Python code beside the manifest. */
  readonly code?: ComponentCode | undefined;
  /** Reads the files of schemas beside the manifest. */
  readonly readBeside?: ReadFileBeside | undefined;
  /** Parents that were read for other streams. */
  readonly parents: SharedParents;
  /** False where no template of the manifest asks for a state. */
  readonly mentionsState: boolean;
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
    findings.moreRows(
      'Every run reads all rows, as the first one does: the other tool has another request for later runs, which asks for less.',
    );
    // a state of the first request would leave out what the other one finds: rows that are changed
    return full === undefined ? undefined : readStream(full, context, false, depth);
  }
  if (stream.className !== undefined) {
    findings.not(stream.at, `Python code: ${stream.className}`);
    return undefined;
  }
  const scope = { ...context, slots: new Map() };
  const isCode = retriever?.className !== undefined;
  if (isCode && readCode(retriever, scope, (type) => readsAsBase(type, retriever, scope)) === undefined)
    return undefined;
  if (
    retriever === undefined ||
    !(isCode || ['SimpleRetriever', 'AsyncRetriever'].includes(retriever.type))
  ) {
    findings.not(
      stream.place('retriever'),
      `No counterpart: ${retriever?.type ?? 'a stream without a retriever'}`,
    );
    return undefined;
  }
  const own = ofOwnCursor(stream, context);
  if (own === undefined) return undefined;
  const isStateSent = context.mentionsState && seesState(own);
  if (isStateSent && keepsState && own.has('incremental_sync'))
    findings.moreRows(
      'Every run reads all rows, as the first one does: templates of the other tool put its state into the request, or leave rows out by it.',
    );
  const read = isStateSent ? own.knowing(FIRST_STATE) : own;
  return new StreamReader(
    read,
    read.child('retriever') ?? retriever,
    context,
    keepsState && !isStateSent,
    depth,
  ).read();
}

/** Value of what templates say of a state in the first run. */
const FIRST_STATE = new Map<string, Constant>([['stream_state', {}]]);

/** Tells if templates of a stream ask for its state, as those of older versions of the other tool may. */
function seesState({ node }: ManifestComponent): boolean {
  const retriever = get(node, 'retriever');
  const { partition_router: _, ...own } = isMap(retriever) ? retriever : {};
  return /\{[{%][^}]*\bstream_state\b/.test(JSON.stringify([own, get(node, 'transformations') ?? null]));
}

/** Values of what templates say of a state and a slice, where there is neither. */
const NO_STATE = new Map<string, Constant>(
  ['stream_state', 'stream_slice', 'stream_partition', 'stream_interval'].map((name) => [name, {}]),
);

/**
 * Returns a stream whose state a class of Python keeps as one that is read whole in every run, and any other one as it
 * is.
 */
function ofOwnCursor(stream: ManifestComponent, context: StreamContext): ManifestComponent | undefined {
  const { findings, code } = context;
  const cursor = stream.child('incremental_sync');
  const type = cursor?.className === undefined ? undefined : code?.find(cursor.className);
  if (cursor === undefined || type === undefined || !keepsOwnState(type)) return stream;
  const scope = { ...context, slots: new Map() };
  if (readCode(cursor, scope, () => asksForAll(type, cursor, scope)) === undefined) return undefined;
  if (stream.child('retriever')?.has('partition_router') === true)
    findings.not(cursor.at, 'No counterpart: slices of a router beside those of a cursor in Python');
  findings.moreRows(
    'Every run reads all rows, as the first one does: the other tool has a state of its own form, by which it leaves rows out in later runs.',
  );
  return stream.without('incremental_sync', NO_STATE);
}

/** Tells if a transformation removes the field of the state: it never moves then, and every run reads the same. */
function losesCursor(stream: ManifestComponent): boolean {
  const field = stream.child('incremental_sync')?.text('cursor_field');
  if (field === undefined) return false;
  return stream.children('transformations').reduce((isLost, transformation) => {
    if (transformation.type === 'AddFields')
      return isLost && !transformation.children('fields').some((added) => isAt(added.get('path'), field));
    const pointers = transformation.get('field_pointers');
    const isAlways = (transformation.text('condition') ?? '') === '';
    if (transformation.type !== 'RemoveFields' || !isAlways || !isSequence(pointers)) return isLost;
    return isLost || pointers.some((pointer) => isAt(pointer, field));
  }, false);
}

function isAt(pointer: ManifestNode | undefined, field: string): boolean {
  return isSequence(pointer) && pointer.length === 1 && pointer[0] === field;
}

class StreamReader implements StreamParts {
  readonly stream: ManifestComponent;
  readonly retriever: ManifestComponent;
  readonly findings: ManifestFindings;
  readonly slots = new Map<string, Reference>();
  readonly scope: StreamParts['scope'];
  readonly #context: StreamContext;
  readonly #keepsState: boolean;
  readonly #depth: number;
  readonly #way: number | undefined;
  readonly #reserved: readonly string[];

  constructor(
    stream: ManifestComponent,
    retriever: ManifestComponent,
    context: StreamContext,
    keepsState: boolean,
    depth: number,
    way?: number,
    reserved: readonly string[] = [],
  ) {
    this.#way = way;
    this.#reserved = reserved;
    this.stream = stream;
    this.retriever = retriever;
    this.#context = context;
    this.#keepsState = keepsState;
    this.#depth = depth;
    this.findings = context.findings;
    this.scope = { ...context, slots: this.slots, sent: { lists: false } };
  }

  read(): JobTree | undefined {
    const { findings } = this.#context;
    const isExport = this.retriever.type === 'AsyncRetriever';
    const requester = this.retriever
      .child(isExport ? 'creation_requester' : 'requester')
      ?.named(this.stream.text('name') ?? '');
    const isCode = requester?.className !== undefined;
    if (requester === undefined || (!isCode && requester.type !== 'HttpRequester')) {
      findings.not(this.retriever.place('requester'), 'No counterpart: a requester that is none of HTTP');
      return undefined;
    }
    if (
      isCode &&
      readCode(requester, this.scope, (type) =>
        sendsAsBase(type, requester, this.scope, this.retriever, this.stream),
      ) === undefined
    )
      return undefined;
    if (this.retriever.get('page_size_reduction') !== undefined)
      findings.note(
        'A page that is too long for the API is asked for again as it is, and not a shorter one.',
      );
    for (const key of ['pagination_reset', 'request_window_splitting']) {
      if (this.retriever.get(key) !== undefined)
        findings.not(this.retriever.place(key), `No counterpart: ${key}`);
    }
    if (this.stream.get('file_uploader') !== undefined)
      findings.not(this.stream.place('file_uploader'), 'No counterpart: files as they are');
    const ways = readPartitions(this.retriever, this.scope);
    if (this.#way === undefined && ways.length > 1) return this.#several(ways);
    const way = ways[this.#way ?? 0];
    const properties = propertiesParent(requester, this.scope);
    const slices = multiply(this, way?.parents ?? [], properties, (parent, isOnly) =>
      this.#parent(parent, isOnly),
    );
    if (slices === undefined) return undefined;
    const { parent, above } = slices;
    const lists = [...(way?.lists ?? []), ...slices.lists];
    const names = [...this.#reserved, ...(above?.names ?? [])];
    const job: TranslatedJob = {};
    if (parent !== undefined && above !== undefined) withParent(this, parent, above, job, names);
    withProperties(this, properties, above);
    withLists(this, lists, job, names);
    const isPartitioned = (way?.parents.length ?? 0) + lists.length > 0;
    const incremental = readIncremental(this.stream.child('incremental_sync'), this.scope, {
      keepsState: this.#keepsState,
      isLost: losesCursor(this.stream),
      isPartitioned,
    });
    for (const [name, reference] of incremental.slots) this.slots.set(name, reference);
    const tree = readJob(this, { requester, job, above, parent, lists, incremental, names });
    // all properties at once are no parts of a stream
    if (!isPartitioned && above !== undefined && isMap(job['incremental']))
      job['incremental'] = { ...job['incremental'], perParent: false };
    if (way !== undefined && isMap(job['incremental']) && job['incremental']['perParent'] === true)
      reportNewParts(this, way.parents);
    return tree;
  }

  /** Returns a job for each way to the slices of the stream: rows of all of them are one table. */
  #several(ways: readonly Partition[]): JobTree | undefined {
    const read = this.#ways(ways);
    // a child names the value of a slice in one way, whichever way it is on
    const all = read === undefined || isNamedAlike(read) ? read : this.#ways(ways, namesOf(read));
    if (all === undefined) return undefined;
    // a list without values asks for nothing
    const asking = all.filter(({ roots }) => !roots.every(isWithoutValues));
    const [first, ...others] = asking.length === 0 ? all : asking;
    if (first === undefined) return undefined;
    if (ways.some(({ isDistinct }) => isDistinct === true)) reportDistinct(this, [first, ...others]);
    // each of them has pages and a state of its own
    others.forEach((tree, index) => {
      tree.leaf['id'] = `${shown(tree.leaf['id'])}-${index + 2}`;
    });
    return {
      ...first,
      roots: withSharedParents([first, ...others].flatMap(({ roots }) => roots)),
      slots: commonSlots([first, ...others]),
      others: [...first.others, ...others.flatMap(({ leaf, others: more }) => [leaf, ...more])],
      isAlike: [first, ...others].every((tree) => tree.isAlike && isAlike(tree, first)),
      names: namesOf([first, ...others]),
    };
  }

  /** Reads each way to the slices of the stream; undefined where one of them can't be read. */
  #ways(ways: readonly Partition[], reserved: readonly string[] = []): readonly JobTree[] | undefined {
    const trees = ways.map((_, index) =>
      new StreamReader(
        this.stream,
        this.retriever,
        this.#context,
        this.#keepsState,
        this.#depth,
        index,
        reserved,
      ).read(),
    );
    return trees.includes(undefined) ? undefined : trees.filter((tree) => tree !== undefined);
  }

  #parent({ stream, keepsState }: ParentPartition, isOnly: boolean): JobTree | undefined {
    // the state of a parent is kept in that of its child
    const hasState = isOnly && this.#keepsState && this.stream.has('incremental_sync');
    const place = { stream, keepsState: keepsState && hasState, depth: this.#depth + 1 };
    return this.#context.parents.read(place, this.findings, (findings, parent) =>
      readStream(parent, { ...this.#context, findings }, place.keepsState, place.depth),
    );
  }
}

/** Returns the names of placeholders that are taken on any of the ways. */
function namesOf(trees: readonly JobTree[]): readonly string[] {
  return [...new Set(trees.flatMap(({ names }) => names))];
}

/** Tells if the placeholders of the slices have the same names on each way. */
function isNamedAlike([first, ...others]: readonly JobTree[]): boolean {
  return [...(first?.slots ?? [])].every(([name, slot]) =>
    others.every(({ slots }) => {
      const [one, other] = [placeholderOf(slot), placeholderOf(slots.get(name))];
      return one === undefined || other === undefined || one === other;
    }),
  );
}

function placeholderOf(slot: Reference | undefined): ManifestNode | undefined {
  return get(slot?.out, 'placeholder');
}

/** Returns what a child knows of a parent on each way to it under the same name. */
function commonSlots(trees: readonly JobTree[]): ReadonlyMap<string, Reference> {
  const [first, ...others] = trees;
  const isSame = ([name, { out }]: readonly [string, Reference]): boolean =>
    others.every(({ slots }) => JSON.stringify(slots.get(name)?.out) === JSON.stringify(out));
  return new Map([...(first?.slots ?? [])].filter(isSame));
}

/** Tells if two ways to a parent have the same address and login. */
function isAlike(a: JobTree, b: JobTree): boolean {
  const [one, other] = [a, b].map(({ baseUrl, authentication }) => JSON.stringify([baseUrl, authentication]));
  return one === other;
}

/** Tells if a list above a job, or of its own, has no values. */
function isWithoutValues(job: TranslatedJob): boolean {
  const { over, children } = job;
  if (isMap(over) && Object.values(over).some((values) => isSequence(values) && values.length === 0))
    return true;
  const below = isSequence(children) ? children.filter(isMap) : [];
  return below.length > 0 && below.every((child) => isWithoutValues({ ...child }));
}
