import { children, groups } from '../../python/nodes.ts';
import type { PythonFile, PythonNode } from '../../python/python-file.ts';
import { FunctionCode, type Value, ValueMap } from '../value.ts';
import type { PythonReader } from './read-python.ts';

/** Use of the sources of a file by its code. */
export interface SourceUses {
  /** Hints for resources without their own: arguments of `rest_api_source(…)` and of `@dlt.source(…)`. */
  readonly defaults: ValueMap;
  /** Hints in place of those of the resources: arguments of `pipeline.run(…)`. */
  readonly overrides: ValueMap;
  /** The resources of `with_resources(…)`; undefined where all are taken, be it by another run. */
  readonly selected: readonly string[] | undefined;
  /** Rows, or hints, that code changes. */
  readonly changes: readonly SourceChange[];
}

/** A step that code adds to a resource. */
export interface AddedStep {
  readonly kind: 'filter' | 'map';
  readonly code: FunctionCode;
}

export interface SourceChange {
  /** Names in the expression, one of which may be that of the resource: `source.posts` or `source.resources["posts"]`. */
  readonly names: readonly string[];
  readonly text: string;
  readonly line: number;
  /** The step that it adds, where it does nothing else and is run in any case. */
  readonly step?: AddedStep;
}

/** For a file without code. */
export const NO_USES: SourceUses = {
  defaults: new ValueMap([]),
  overrides: new ValueMap([]),
  selected: undefined,
  changes: [],
};

const DEFAULTS = new Set(['max_table_nesting', 'schema_contract']);
const OVERRIDES = new Set(['write_disposition', 'primary_key', 'columns', 'schema_contract', 'refresh']);
const CHANGES = /^(?:add_(?:map|filter|yield_map|limit|step|metrics)|apply_hints|bind)$/;

/** Finds what is done with the sources that calls make. */
export function usesOf(file: PythonFile, reader: PythonReader, sources: readonly PythonNode[]): SourceUses {
  const isOfSource = namesOf(file, sources);
  // that of one with some of its resources
  const isChosen = namesOf(
    file,
    file
      .nodes('CallExpression')
      .filter(({ firstChild }) =>
        (firstChild === null ? '' : file.text(firstChild)).endsWith('.with_resources'),
      ),
  );
  let isWhole = false;
  const defaults = [...sources, ...sources.flatMap((node) => decoratorsOf(node))].flatMap((node) =>
    keywordsOf(node, DEFAULTS, file, reader),
  );
  const overrides: (readonly [string, Value])[] = [];
  const selected: string[] = [];
  const changes: SourceChange[] = [];
  const add = (node: PythonNode, names: readonly string[] = [], step?: AddedStep): void => {
    changes.push({
      names,
      text: file.oneLine(node),
      line: file.place(node.from).line,
      ...(step === undefined ? {} : { step }),
    });
  };
  // of a.add_map(…).add_filter(…) the first one is inside of the second one
  for (const call of file.nodes('CallExpression').toSorted((one, other) => one.to - other.to)) {
    const [callee, list] = children(call);
    if (callee?.name !== 'MemberExpression' || list === undefined) continue;
    const method = callee.lastChild === null ? '' : file.text(callee.lastChild);
    if (CHANGES.test(method) && isOfSource(callee))
      add(call, namesIn(callee, file), addedStep(call, method, reader));
    else if (method === 'with_resources' && isOfSource(callee))
      for (const [first] of groups(list)) {
        const name = first === undefined ? null : reader.read(first);
        if (typeof name === 'string') selected.push(name);
        else if (name !== null) add(call);
      }
    else if (/^(?:run|extract)$/.test(method)) {
      const given = groups(list)
        .flatMap((item) => item.at(-1) ?? [])
        .filter((value) => isOfSource(value));
      if (given.length === 0) continue;
      overrides.push(...keywordsOf(call, OVERRIDES, file, reader));
      if (keywordsOf(call, new Set(['table_name']), file, reader).length > 0) add(call);
      isWhole ||= given.some((value) => !isChosen(value));
    }
  }
  for (const statement of file.nodes('AssignStatement')) {
    const [target] = children(statement);
    const isHint = target?.name === 'MemberExpression' && target.lastChild?.name === 'PropertyName';
    if (
      isHint &&
      /\.(?:selected|max_table_nesting|schema_contract|write_disposition)$/.test(file.text(target))
    )
      if (isOfSource(target)) add(statement, namesIn(target, file));
  }
  return {
    defaults: new ValueMap(defaults),
    overrides: new ValueMap(overrides),
    selected: selected.length === 0 || isWhole ? undefined : selected,
    changes,
  };
}

/** Returns the step of `posts.add_map(…)` that is run in any case; undefined for anything else. */
function addedStep(call: PythonNode, method: string, reader: PythonReader): AddedStep | undefined {
  const kind = method === 'add_map' ? 'map' : method === 'add_filter' ? 'filter' : undefined;
  const [, list] = children(call);
  const [given, ...others] = list === undefined ? [] : groups(list).filter((group) => group.length > 0);
  const [node, ...more] = given ?? [];
  for (let at = call.parent; at !== null; at = at.parent)
    if (/^(?:For|While|If|Try|With|Match)Statement$|Lambda|Comprehension|Conditional/.test(at.name))
      return undefined;
  if (kind === undefined || node === undefined || others.length + more.length > 0) return undefined;
  const code = reader.read(node);
  return code instanceof FunctionCode ? { kind, code } : undefined;
}

/** Returns a test whether an expression is a source, or a part of one: a call that makes it, or a name that was given one. */
function namesOf(file: PythonFile, sources: readonly PythonNode[]): (node: PythonNode) => boolean {
  const names = new Set<string>();
  const starts = new Set(sources.map(({ from, to }) => `${from} ${to}`));
  for (const node of sources)
    for (let at = node.parent; at !== null; at = at.parent)
      if (at.name === 'FunctionDefinition') {
        const name = children(at).find((child) => child.name === 'VariableName');
        if (name !== undefined) names.add(file.text(name));
      }
  const isOfSource = (node: PythonNode, isItem = false): boolean => {
    let at: PythonNode | null = node;
    while (at !== null && at.name !== 'VariableName') {
      if (starts.has(`${at.from} ${at.to}`)) return true;
      // sources are in no list of lists
      if (at.name === 'ArrayExpression')
        return !isItem && groups(at).some(([item]) => item !== undefined && isOfSource(item, true));
      at = at.name === 'ParenthesizedExpression' ? (children(at)[1] ?? null) : at.firstChild;
    }
    return at !== null && names.has(file.text(at));
  };
  for (const statement of [...file.nodes('AssignStatement'), ...file.nodes('ForStatement')]) {
    const parts = children(statement);
    const sign = parts.findIndex(({ name }) => name === 'AssignOp' || name === 'in');
    const value = parts[sign + 1];
    if (sign > 0 && value !== undefined && isOfSource(value))
      for (const { name, from, to } of parts.slice(0, sign))
        if (name === 'VariableName') names.add(file.text({ from, to }));
  }
  return isOfSource;
}

/** Returns the decorators of the functions around a node that are calls. */
function decoratorsOf(node: PythonNode): readonly PythonNode[] {
  const all: PythonNode[] = [];
  for (let at = node.parent; at !== null; at = at.parent)
    if (at.name === 'DecoratedStatement')
      all.push(...children(at).filter((child) => child.name === 'Decorator'));
  return all;
}

/** Returns the arguments of some names. */
function keywordsOf(
  call: PythonNode,
  wanted: ReadonlySet<string>,
  file: PythonFile,
  reader: PythonReader,
): readonly (readonly [string, Value])[] {
  const list = children(call).find(({ name }) => name === 'ArgList');
  if (list === undefined) return [];
  return groups(list).flatMap(([name, sign, value]) =>
    name?.name === 'VariableName' &&
    sign?.name === 'AssignOp' &&
    value !== undefined &&
    wanted.has(file.text(name))
      ? [[file.text(name), reader.read(value)] as const]
      : [],
  );
}

/** Returns the attributes and the texts of an expression. */
function namesIn(node: PythonNode, file: PythonFile): readonly string[] {
  return [
    ...file.nodesIn('PropertyName', node).map((name) => file.text(name)),
    ...file.nodesIn('VariableName', node).map((name) => file.text(name)),
    ...file.nodesIn('String', node).map((text) => file.text(text).slice(1, -1)),
  ];
}
