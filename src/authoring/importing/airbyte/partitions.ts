import { TemplateError, type Expression } from './jinja/ast.ts';
import type { CodeClass } from './code/component-code.ts';
import { codeSlices, type CodeSlices } from './code/partition-router.ts';
import { SLICED } from './code/values.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { optionPlace } from './pagination.ts';
import { known, requestPosition, translated, withKnown, type TemplateScope } from './scope.ts';
import { call } from './translate/out.ts';
import type { TranslatedJson, Reference } from './translate/position.ts';
import { valueOf } from './translate/value.ts';

export interface ListPartition {
  readonly name: string;
  readonly values: TranslatedJson;
  /** There is one value with the settings as they are now. */
  readonly isSingle?: boolean;
  /** How many values each of them is, joined by commas. */
  readonly group?: number;
  readonly option?: PartitionOption;
}

export interface ParentPartition {
  readonly stream: ManifestComponent;
  readonly parentKey: string;
  readonly name: string;
  readonly extraFields: readonly (readonly string[])[];
  /** Expression that makes another value of it, in which {@link SLICED} stands for it. */
  readonly made?: Expression;
  readonly option?: PartitionOption;
  /** Options of other parents with the same name, which are sent with its values, too. */
  readonly others?: readonly PartitionOption[];
  readonly keepsState: boolean;
  /** Rows that one request is for. */
  readonly group?: number;
}

/** Most rows of a group. */
export const MOST_IN_GROUP = 10_000;

export interface PartitionOption {
  readonly place: ManifestNode;
  readonly isForm: boolean;
}

/** One way to the slices of a stream: values of lists and rows of parents, all multiplied with each other. */
export interface Partition {
  readonly lists: readonly ListPartition[];
  readonly parents: readonly ParentPartition[];
  /** A value that another way gives, too, is asked for once. */
  readonly isDistinct?: boolean;
}

/** Reads the partition routers of a retriever, which are multiplied with each other: all the ways to its slices. */
export function readPartitions(retriever: ManifestComponent, scope: TemplateScope): readonly Partition[] {
  return product(
    retriever.children('partition_router').map((router) => readRouter(router, scope, undefined)),
  );
}

function product(routers: readonly (readonly Partition[])[]): readonly Partition[] {
  return routers.reduce<readonly Partition[]>(
    (before, ways) =>
      before.flatMap((left) =>
        ways.map((right) => ({
          lists: [...left.lists, ...right.lists],
          parents: [...left.parents, ...right.parents],
          ...(left.isDistinct === true || right.isDistinct === true ? { isDistinct: true } : {}),
        })),
      ),
    [NONE],
  );
}

const NONE: Partition = { lists: [], parents: [] };

function readRouter(
  router: ManifestComponent,
  scope: TemplateScope,
  group: number | undefined,
  isDistinct = false,
): readonly Partition[] {
  const none = [NONE];
  const { findings } = scope;
  if (router.className !== undefined)
    return readCode(router, scope, (type) => ofCode(type, router, scope, group)) ?? none;
  return (
    findings.attempt(router.at, router.get('values') ?? router.type, () => {
      switch (router.type) {
        case 'ListPartitionRouter':
          return [{ lists: [listOf(router, scope, group, isDistinct)], parents: [] }];
        case 'SubstreamPartitionRouter':
          return below(
            router.children('parent_stream_configs').map((parent) => parentOf(parent, scope, group)),
          );
        case 'GroupingPartitionRouter': {
          const size = Number(router.get('group_size'));
          const inner = router.child('underlying_partition_router');
          if (inner === undefined || !Number.isInteger(size)) throw new TemplateError('a group without rows');
          return readRouter(inner, scope, size, router.get('deduplicate') !== false);
        }
        case 'CartesianProductStreamSlicer':
          return product(router.children('stream_slicers').map((inner) => readRouter(inner, scope, group)));
        case 'UnionPartitionRouter':
          return unionOf(router, scope, group);
        default:
          throw new TemplateError(`the partition router ${router.type}`);
      }
    }) ?? none
  );
}

/** Each parent is a way of its own. */
function below(parents: readonly ParentPartition[]): readonly Partition[] {
  return parents.map((parent) => {
    const others = parents.flatMap(({ name, option }) =>
      name === parent.name && option !== undefined ? [option] : [],
    );
    const isMore = others.some((option) => JSON.stringify(option) !== JSON.stringify(parent.option));
    return { lists: [], parents: [isMore ? { ...parent, others } : parent] };
  });
}

/** Reads a router whose slices are those of others, each value once; options of the others are not sent. */
function unionOf(
  router: ManifestComponent,
  scope: TemplateScope,
  group: number | undefined,
): readonly Partition[] {
  const field = textOf(router, 'partition_field', scope);
  const ways = router.children('partition_routers').flatMap((inner) => readRouter(inner, scope, group));
  return ways.map(({ lists, parents }) => {
    const [only, ...others] = [...lists, ...parents];
    if (only?.name !== field || others.length > 0)
      throw new TemplateError(`slices of several values, or without “${field}”`);
    return {
      lists: lists.map(withoutOption),
      parents: parents.map(withoutOption),
      isDistinct: true,
    };
  });
}

function withoutOption<T extends { readonly option?: PartitionOption; readonly others?: unknown }>(
  of: T,
): Omit<T, 'option' | 'others'> {
  const { option: _option, others: _others, ...left } = of;
  return left;
}

/** Reads a router of Python: the parents as they are, values of a setting, or fields of the rows of a parent. */
function ofCode(
  type: CodeClass,
  router: ManifestComponent,
  scope: TemplateScope,
  group: number | undefined,
): readonly Partition[] {
  const slices = codeSlices(type, router, scope);
  if (slices === undefined) return [NONE];
  if (slices.kind !== 'ways') return wayOf(slices, router, scope, group);
  return slices.ways
    .flatMap((way) => wayOf(way, router, scope, group))
    .map((way) => ({ ...way, isDistinct: true }));
}

function wayOf(
  slices: Exclude<CodeSlices, { kind: 'ways' }>,
  router: ManifestComponent,
  scope: TemplateScope,
  group: number | undefined,
): readonly Partition[] {
  const parents = router.children('parent_stream_configs');
  if (slices.kind === 'parents') return below(parents.map((parent) => parentOf(parent, scope, group)));
  const { field } = slices;
  if (slices.kind === 'slices')
    return below(
      slices.parents.map((parent) => {
        const own = parentOf(parent, scope, group);
        return { ...own, name: field, ...(slices.hasFields ? {} : { extraFields: [] }) };
      }),
    );
  if (slices.kind === 'values') {
    const values = listOfValues(valueOf(slices.values, requestPosition(scope, 'the settings')).out);
    const from = parents.find((parent) => textOf(parent, 'partition_field', scope) === field);
    const list = { name: field, values, ...(from === undefined ? {} : optionOf(from, scope)) };
    return [{ lists: [list], parents: [] }];
  }
  return below(
    slices.parents.map((parent) => ({
      ...parentOf(parent, scope, group),
      name: field,
      parentKey: slices.keys.join('/'),
      ...(slices.made === undefined ? {} : { made: slices.made }),
      keepsState: false,
    })),
  );
}

/** Returns a list of values that are written out as it is, and one of a value that a setting has as a function. */
function listOfValues(values: TranslatedJson): TranslatedJson {
  const [only] = isSequence(values) ? values : [];
  if (!isSequence(values) || !values.some(isMap)) return values;
  if (values.length > 1 || only === undefined) throw new TemplateError('several values that settings have');
  return call('split', only, '\n');
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

function listOf(
  router: ManifestComponent,
  scope: TemplateScope,
  group: number | undefined,
  isDistinct: boolean,
): ListPartition {
  const raw = router.get('values') ?? [];
  const values: TranslatedJson = isSequence(raw)
    ? raw.map((item) => (typeof item === 'string' ? item : item))
    : translated(raw, router, scope, requestPosition(scope, 'the settings')).out;
  if (typeof values === 'string') throw new TemplateError('a list that is a text');
  const fixed = withKnown(router.expression(raw), router, scope);
  const now = isSequence(values) ? values : fixed?.kind === 'constant' ? fixed.value : undefined;
  const isOptional =
    isMap(values) && typeof values['attr'] === 'string' && scope.settings.mayBeEmpty(values['attr']);
  if (group === undefined)
    return {
      name: textOf(router, 'cursor_field', scope),
      // a list that is not given is an empty text as a setting
      values: isOptional ? call('ifempty', values, []) : values,
      isSingle: Array.isArray(now) && now.length === 1,
      ...optionOf(router, scope),
    };
  if (!isSequence(values)) throw new TemplateError('groups of a list of settings');
  if (values.some((value) => shown(value).includes(',')))
    throw new TemplateError('groups of values with commas');
  const grouped = isDistinct ? [...new Set(values)] : values;
  const groups = Array.from({ length: Math.ceil(grouped.length / group) }, (_, i) =>
    grouped
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
    scope.findings.moreRows(
      `The first page below each row of “${stream.text('name') ?? ''}” is asked for: in its first run the other tool takes it from “${parent.keys('lazy_read_pointer').join('.')}” of that row, which has no rows where that is missing.`,
    );
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
  made?: Expression,
): Reference {
  const out = { placeholder };
  if (made !== undefined)
    return valueOf(made, {
      text: 'a slice',
      reference: (name, keys) => (name === SLICED && keys.length === 0 ? { out, type: 'text' } : undefined),
    });
  if (group === undefined)
    return {
      out,
      type: 'any',
      mayBeEmpty: inside !== undefined,
      ...(inside === undefined ? {} : { inside }),
    };
  return {
    out,
    type: 'list',
    inside: ([index, ...more]) => {
      if (typeof index !== 'number' || index < 0 || more.length > 0) return undefined;
      return { out: group === 1 ? out : call('split', out, ',', index) };
    },
  };
}
