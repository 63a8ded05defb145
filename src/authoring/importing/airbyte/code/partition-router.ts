import type { ManifestComponent } from '../component.ts';
import { constant, isConstant, isItems, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { known, noteFixed, type TemplateScope } from '../scope.ts';
import { bySettings } from './as-base.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass } from './code-run.ts';
import { wordsOf } from './explore.ts';
import { CodeRefused } from './refused.ts';
import { ANY_ROW, dict, isExpression, SLICED, type CodeValue } from './values.ts';

/** The slices that code gives: those of several ways to them, each of which comes once, or of one. */
export type CodeSlices =
  | { readonly kind: 'ways'; readonly ways: readonly SlicesOfWay[]; readonly isDistinct: true }
  | SlicesOfWay;

type SlicesOfWay =
  | { readonly kind: 'parents' }
  /** Those of parents, under another name, or without what else they have. */
  | {
      readonly kind: 'slices';
      readonly field: string;
      readonly parents: readonly ManifestComponent[];
      readonly hasFields: boolean;
    }
  | { readonly kind: 'values'; readonly field: string; readonly values: Expression }
  | {
      readonly kind: 'rows';
      readonly field: string;
      readonly parents: readonly ManifestComponent[];
      /** Keys in the row; `*` is any item of a list. */
      readonly keys: readonly string[];
      readonly made?: Expression;
    };

/**
 * Reads the slices of a router of Python: those of its parents, or one for each value of a setting. What a setting
 * decides is decided with the settings as they are now.
 *
 * @returns undefined for a single request without a slice
 * @throws {CodeRefused} for code that does anything else
 */
export function codeSlices(
  type: CodeClass,
  router: ManifestComponent,
  scope: TemplateScope,
): CodeSlices | undefined {
  const [base = '', ...others] = type.bases;
  if (!base.endsWith('.SubstreamPartitionRouter') || others.length > 0)
    throw new CodeRefused(`${type.module.path}: a class that extends ${type.bases.join(', ') || 'nothing'}`);
  const odd = [...type.methods.keys()].find((name) => HOOKS.has(name));
  if (odd !== undefined) throw new CodeRefused(`${type.module.path}: ${type.name}.${odd}`);
  const ofSettings = bySettings(scope);
  let isAsked = false;
  let isDistinct = false;
  const distinct: BaseClass['compare'] = (_, operator, right) => {
    if (right.kind !== 'set' || (operator !== 'in' && operator !== 'not in')) return undefined;
    isDistinct = true;
    return constant(operator === 'not in');
  };
  const none = { positional: [], named: new Map<string, CodeValue>() };
  const run = (hasRows: boolean): { readonly object: CodeObject; readonly given: CodeValue } => {
    const base: BaseClass = hasRows
      ? { ...BASE, compare: distinct }
      : { ...BASE, compare: distinct, each: (list) => itemsNow(list, scope) ?? BASE.each?.(list) };
    const made = new CodeObject(type, router, base, (condition) => {
      const isOfRows = condition.kind === 'name' && condition.name === ANY_ROW;
      isAsked ||= isOfRows;
      return isOfRows ? hasRows : ofSettings(condition);
    });
    if (type.methods.has('__post_init__'))
      made.callMethod('__post_init__', { ...none, positional: [parametersOf(router)] }, undefined);
    return { object: made, given: made.callMethod('stream_slices', none, undefined) };
  };
  const { object, given } = run(true);
  if (isAsked && run(false).object.yielded.length > 0)
    throw object.refused(type.methods.get('stream_slices')?.node, 'slices for want of rows of a parent');
  if (given.kind === 'parents') return given;
  const found = object.yielded.flatMap(({ value, isAll, node }): readonly (SlicesOfWay | undefined)[] => {
    if (!isAll) return [sliceOf(object, value, scope, router)];
    if (value.kind === 'parents') return [value];
    return object.items(value, node).map((item) => sliceOf(object, item, scope, router));
  });
  const [only, ...more] = found;
  if (found.length === 0) throw object.refused(type.methods.get('stream_slices')?.node, 'no slices at all');
  if (isDistinct) {
    const ways = found.filter((one) => one !== undefined);
    if (ways.length === found.length && ways.every(({ kind }) => kind !== 'parents'))
      return { kind: 'ways', ways, isDistinct };
    throw object.refused(type.methods.get('stream_slices')?.node, 'slices that come once each');
  }
  if (more.length === 0) return only;
  // the same of each of several parents
  if (
    (only?.kind === 'rows' || only?.kind === 'slices') &&
    more.every((one) => JSON.stringify({ ...one, parents: [] }) === JSON.stringify({ ...only, parents: [] }))
  )
    return {
      ...only,
      parents: found.flatMap((one) => (one?.kind === 'rows' || one?.kind === 'slices' ? one.parents : [])),
    };
  throw object.refused(type.methods.get('stream_slices')?.node, 'slices of several kinds');
}

/** Returns the items of a list that the settings have now. */
function itemsNow(list: CodeValue, scope: TemplateScope): readonly CodeValue[] | undefined {
  if (!isExpression(list)) return undefined;
  const now = fold(scope.settings.substituted(list), new Map());
  if (!isConstant(now) || !isItems(now.value)) return undefined;
  if (JSON.stringify(now) !== JSON.stringify(list)) noteFixed(scope, `{{ ${wordsOf(list)} }}`);
  return now.value.map((item) => constant(item));
}

/** Methods that would change more than the slices. */
const HOOKS: ReadonlySet<string> = new Set([
  '__init__',
  'get_request_params',
  'get_request_headers',
  'get_request_body_data',
  'get_request_body_json',
  'set_initial_state',
  'get_stream_state',
]);

const BASE: BaseClass = {
  method: (object, name) => {
    if (name === 'stream_slices')
      return { kind: 'parents', of: object.component.children('parent_stream_configs') };
    return name === '__post_init__' ? constant(null) : undefined;
  },
  attribute: ({ component }, name) =>
    name === 'parent_stream_configs'
      ? {
          kind: 'items',
          values: component
            .children(name)
            .map((parent): CodeValue => ({ kind: 'component', component: parent })),
        }
      : undefined,
  each: (list) => {
    if (list.kind === 'records') return [{ ...list, kind: 'row', keys: [] }];
    if (list.kind === 'row' && list.keys.length > 0 && list.made === undefined)
      return [{ ...list, keys: [...list.keys, '*'] }];
    if (list.kind === 'slices') return [list];
    if (list.kind === 'parents') return list.of.map((of): CodeValue => ({ kind: 'parentSlice', of }));
    return isExpression(list) && !isConstant(fold(list, new Map())) ? [{ kind: 'each', list }] : undefined;
  },
  part: (of, name) => {
    if (of.kind !== 'parentSlice') return undefined;
    if (name === 'partition')
      return dict([
        [of.of.text('partition_field') ?? '', { kind: 'sliced', of: of.of }],
        ['parent_slice', { kind: 'given', name: 'parent_slice' }],
      ]);
    return name === 'cursor_slice' || name === 'extra_fields' ? { kind: 'given', name } : undefined;
  },
  call(object, of, name, { positional, named }) {
    if (of.kind === 'set' && name === 'add') return constant(null);
    if (of.kind !== 'row' || of.keys.length === 0 || !OF_TEXTS.has(name) || named.size > 0) return undefined;
    const value = of.made ?? { kind: 'name', name: SLICED };
    const args = positional.map((arg) => object.expressionOf(arg, undefined));
    const method: Expression = { kind: 'item', of: value, key: constant(name) };
    return { ...of, made: { kind: 'call', of: method, args: { positional: args, named: {} } } };
  },
};

/** Methods that make another text of a text. */
const OF_TEXTS: ReadonlySet<string> = new Set(['replace', 'lower', 'upper', 'strip']);

function sliceOf(
  object: CodeObject,
  slice: CodeValue,
  scope: TemplateScope,
  router: ManifestComponent,
): SlicesOfWay | undefined {
  const partition = slice.kind === 'dict' ? slice.entries.get('partition') : undefined;
  if (partition?.kind !== 'dict') throw object.refused(undefined, 'a slice that is none');
  const entries = [...partition.entries].filter(([name]) => name !== 'parent_slice');
  const [entry, ...more] = entries;
  if (entry === undefined) return undefined;
  const [field, value] = entry;
  if (more.length > 0) throw object.refused(undefined, 'a slice of several values');
  if (value.kind === 'each') return { kind: 'values', field, values: value.list };
  if (value.kind === 'sliced') {
    const others = slice.kind === 'dict' ? slice.entries.get('extra_fields') : undefined;
    return {
      kind: 'slices',
      field,
      parents: [value.of],
      hasFields: others?.kind === 'given' && others.name === 'extra_fields',
    };
  }
  if (value.kind === 'row' && value.keys.length > 0) {
    const { parent, keys, made, isSliced } = value;
    const config = parentOf(router, parent);
    const stream = parent.child('incremental_sync') ?? parent.child('retriever')?.get('partition_router');
    if (config === undefined || (stream !== undefined && !isSliced))
      throw object.refused(undefined, 'the rows of a parent that has slices itself');
    return { kind: 'rows', field, parents: [config], keys, ...(made === undefined ? {} : { made }) };
  }
  if (isExpression(value)) return { kind: 'values', field, values: { kind: 'list', items: [value] } };
  const text = value.kind === 'written' ? known(value.node, router, scope) : undefined;
  if (text !== undefined) return { kind: 'values', field, values: { kind: 'list', items: [text] } };
  throw object.refused(undefined, 'a slice that is known only while it runs');
}

/** Returns the part of the router that a stream belongs to. */
function parentOf(router: ManifestComponent, stream: ManifestComponent): ManifestComponent | undefined {
  return router.children('parent_stream_configs').find((parent) => parent.child('stream')?.at === stream.at);
}
