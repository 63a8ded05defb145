import { TemplateError } from './jinja/ast.ts';
import type { CodeClass } from './code/component-code.ts';
import { codeSlices } from './code/partition-router.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { optionPlace } from './pagination.ts';
import { known, requestPosition, translated, type TemplateScope } from './scope.ts';
import { call } from './translate/out.ts';
import type { TranslatedJson, Reference } from './translate/position.ts';
import { valueOf } from './translate/value.ts';

export interface ListPartition {
  readonly name: string;
  readonly values: TranslatedJson;
  /** How many values each of them is, joined by commas. */
  readonly group?: number;
  readonly option?: PartitionOption;
}

export interface ParentPartition {
  readonly stream: ManifestComponent;
  readonly parentKey: string;
  readonly name: string;
  readonly extraFields: readonly (readonly string[])[];
  readonly option?: PartitionOption;
  readonly keepsState: boolean;
  /** Rows that one request is for. */
  readonly group?: number;
}

export interface PartitionOption {
  readonly place: ManifestNode;
  readonly isForm: boolean;
}

export interface Partitions {
  readonly lists: readonly ListPartition[];
  readonly parents: readonly ParentPartition[];
}

/** Reads the partition routers of a retriever: several are multiplied with each other. */
export function readPartitions(retriever: ManifestComponent, scope: TemplateScope): Partitions {
  const lists: ListPartition[] = [];
  const parents: ParentPartition[] = [];
  let routers = 0;
  for (const router of retriever.children('partition_router')) {
    const found = readRouter(router, scope, undefined);
    lists.push(...found.lists);
    if (found.parents.length > 0) routers++;
    parents.push(...found.parents);
  }
  if (routers > 1)
    scope.findings.not(
      retriever.place('partition_router'),
      'No counterpart: parents of several kinds, multiplied',
    );
  return { lists, parents };
}

function readRouter(router: ManifestComponent, scope: TemplateScope, group: number | undefined): Partitions {
  const none: Partitions = { lists: [], parents: [] };
  const { findings } = scope;
  if (router.className !== undefined)
    return readCode(router, scope, (type) => ofCode(type, router, scope, group)) ?? none;
  return (
    findings.attempt(router.at, router.node['values'] ?? router.type, () => {
      switch (router.type) {
        case 'ListPartitionRouter':
          return { lists: [listOf(router, scope, group)], parents: [] };
        case 'SubstreamPartitionRouter':
          return {
            lists: [],
            parents: router.children('parent_stream_configs').map((parent) => parentOf(parent, scope, group)),
          };
        case 'GroupingPartitionRouter': {
          const size = Number(router.get('group_size'));
          const inner = router.child('underlying_partition_router');
          if (inner === undefined || !Number.isInteger(size)) throw new TemplateError('a group without rows');
          return readRouter(inner, scope, size);
        }
        case 'CartesianProductStreamSlicer': {
          const all = router.children('stream_slicers').map((inner) => readRouter(inner, scope, group));
          return { lists: all.flatMap((one) => one.lists), parents: all.flatMap((one) => one.parents) };
        }
        default:
          throw new TemplateError(`the partition router ${router.type}`);
      }
    }) ?? none
  );
}

/** Reads a router of Python: the parents as they are, values of a setting, or fields of the rows of a parent. */
function ofCode(
  type: CodeClass,
  router: ManifestComponent,
  scope: TemplateScope,
  group: number | undefined,
): Partitions {
  const parents = router.children('parent_stream_configs');
  const slices = codeSlices(type, router, scope);
  if (slices === undefined) return { lists: [], parents: [] };
  if (slices.kind === 'parents')
    return { lists: [], parents: parents.map((parent) => parentOf(parent, scope, group)) };
  const { field } = slices;
  if (slices.kind === 'values') {
    const values = valueOf(slices.values, requestPosition(scope, 'the settings')).out;
    const from = parents.find((parent) => textOf(parent, 'partition_field', scope) === field);
    return {
      lists: [{ name: field, values, ...(from === undefined ? {} : optionOf(from, scope)) }],
      parents: [],
    };
  }
  return {
    lists: [],
    parents: slices.parents.map((parent) => ({
      ...parentOf(parent, scope, group),
      name: field,
      parentKey: slices.key,
      keepsState: false,
    })),
  };
}

function textOf(component: ManifestComponent, key: string, scope: TemplateScope): string {
  const value = component.get(key);
  const fixed = value === undefined ? undefined : known(value, component, scope).value;
  if (typeof fixed === 'string' || typeof fixed === 'number') return String(fixed);
  throw new TemplateError(`“${key}” that is known only while it runs`);
}

function optionOf(component: ManifestComponent, scope: TemplateScope): { readonly option?: PartitionOption } {
  const option = component.child('request_option');
  const place = optionPlace(option, scope);
  return place === undefined
    ? {}
    : { option: { place, isForm: option?.text('inject_into') === 'body_data' } };
}

function listOf(router: ManifestComponent, scope: TemplateScope, group: number | undefined): ListPartition {
  const raw = router.get('values') ?? [];
  const values: TranslatedJson = isSequence(raw)
    ? raw.map((item) => (typeof item === 'string' ? item : item))
    : translated(raw, router, scope, requestPosition(scope, 'the settings')).out;
  if (typeof values === 'string') throw new TemplateError('a list that is a text');
  const isOptional =
    isMap(values) && typeof values['attr'] === 'string' && scope.settings.mayBeEmpty(values['attr']);
  if (group === undefined)
    return {
      name: textOf(router, 'cursor_field', scope),
      // a list that is not given is an empty text as a setting
      values: isOptional ? call('ifempty', values, []) : values,
      ...optionOf(router, scope),
    };
  if (!isSequence(values)) throw new TemplateError('groups of a list of settings');
  const groups = Array.from({ length: Math.ceil(values.length / group) }, (_, i) =>
    values
      .slice(i * group, (i + 1) * group)
      .map(shown)
      .join(','),
  );
  return {
    name: textOf(router, 'cursor_field', scope),
    values: groups,
    group,
    ...optionOf(router, scope),
  };
}

function parentOf(
  parent: ManifestComponent,
  scope: TemplateScope,
  group: number | undefined,
): ParentPartition {
  const stream = parent.child('stream');
  if (stream === undefined) throw new TemplateError('a parent without a stream');
  if (isSequence(parent.get('lazy_read_pointer')) && parent.keys('lazy_read_pointer').length > 0)
    throw new TemplateError('first pages of the child inside of the parent');
  const extra = parent.get('extra_fields');
  return {
    stream,
    parentKey: textOf(parent, 'parent_key', scope),
    name: textOf(parent, 'partition_field', scope),
    extraFields: isSequence(extra)
      ? extra.map((path) => (isSequence(path) ? path.map(shown) : [shown(path)]))
      : [],
    ...optionOf(parent, scope),
    keepsState: parent.flag('incremental_dependency'),
    ...(group === undefined ? {} : { group }),
  };
}

/** Returns the reference to the value of a partition; of several values one is found by its place. */
export function partitionReference(
  placeholder: string,
  group: number | undefined,
  inside?: Reference['inside'],
): Reference {
  const out = { placeholder };
  if (group === undefined) return { out, type: 'any', ...(inside === undefined ? {} : { inside }) };
  return {
    out,
    type: 'list',
    inside: ([index, ...more]) => {
      if (typeof index !== 'number' || index < 0 || more.length > 0) return undefined;
      return { out: group === 1 ? out : call('split', out, ',', index) };
    },
  };
}
