import type { ManifestComponent } from '../component.ts';
import { constant, isConstant, type Expression } from '../jinja/ast.ts';
import { accessOf } from '../translate/position.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass } from './code-run.ts';
import { explore, type Outcome } from './explore.ts';
import { CodeRefused } from './refused.ts';
import type { ChangedFields } from './transformation.ts';
import { isExpression, type CodeMap, type CodeValue } from './values.ts';

/** The places of rows in an answer, as code finds them. */
export interface CodeRows {
  /** Keys of each list of rows; `*` is any item. */
  readonly paths: readonly (readonly string[])[];
  /** The answer itself is the only row where it has no such key. */
  readonly orWhole?: string;
  /** Fields that the code gives other values. */
  readonly changed: ChangedFields;
}

/** Marks a field that is taken out of an item, among those that are written. */
const TAKEN = 'pop ';

/** The end of one way through the code. */
interface Found {
  readonly paths: readonly (readonly string[])[];
  readonly isWhole: boolean;
  readonly names: readonly string[];
  /** Fields that objects made of the items have from them; absent where none is made. */
  readonly kept?: ReadonlySet<string>;
  readonly isMade: boolean;
  /** Those objects have all fields of the items as they were. */
  readonly keepsAll: boolean;
}

/**
 * Reads an extractor of Python: it takes lists out of the answer, and may change fields of their items.
 *
 * @throws {CodeRefused} for code that does anything else, such as to choose among the items
 */
export function codeRows(type: CodeClass, extractor: ManifestComponent): CodeRows {
  const [base = '', ...others] = type.bases;
  if (!/\.(?:RecordExtractor|DpathExtractor)$/.test(base) || others.length > 0)
    throw new CodeRefused(`${type.module.path}: a class that extends ${type.bases.join(', ') || 'nothing'}`);
  const method = type.methods.get('extract_records');
  if (method === undefined)
    throw new CodeRefused(`${type.module.path}: ${type.name} without “extract_records”`);
  const outcome = explore((decide): Found => {
    const object = new CodeObject(type, extractor, BASE, decide);
    if (type.methods.has('__post_init__'))
      object.callMethod(
        '__post_init__',
        { positional: [parametersOf(extractor)], named: new Map() },
        undefined,
      );
    const given = object.call(method, { positional: [{ kind: 'answer' }], named: new Map() });
    const lists = object.yielded.filter(({ isAll }) => isAll).map(({ value }) => value);
    const rows = object.yielded.filter(({ isAll }) => !isAll).map(({ value }) => value);
    if (object.yielded.length === 0) lists.push(given);
    const parts = [
      ...lists.flatMap((list) => (list.kind === 'items' ? list.values.map(ofRow) : [ofList(list)])),
      ...rows.map(ofRow),
    ];
    if (parts.includes(undefined)) throw object.refused(method.node, 'rows that are not understood');
    const found = parts.filter((part) => part !== undefined);
    return {
      paths: found.flatMap(({ path }) => (path === undefined ? [] : [path])),
      isWhole: found.some(({ path }) => path === undefined),
      names: [...object.written].flatMap((name) => {
        if (!name.startsWith(TAKEN)) return [name];
        // an object that is made has a place of its own for what is taken out
        return found.every(({ isMade }) => isMade) ? [] : [name.slice(TAKEN.length)];
      }),
      isMade: found.some(({ isMade }) => isMade),
      keepsAll: found.every(({ isMade, keepsAll }) => !isMade || keepsAll === true),
      ...keptOf(found),
    };
  });
  return rowsOf(outcome, type);
}

interface Part {
  /** Absent: the answer itself. */
  readonly path?: readonly string[];
  readonly isMade: boolean;
  /** All fields of the item are as they were, and others are added. */
  readonly keepsAll?: boolean;
  /** Fields of an object that is made of an item which are as they were. */
  readonly kept?: ReadonlySet<string>;
}

/** Returns the fields that all objects have as they were. */
function keptOf(parts: readonly Pick<Part, 'isMade' | 'keepsAll' | 'kept'>[]): {
  readonly kept?: ReadonlySet<string>;
} {
  const [first, ...more] = parts
    .filter(({ isMade, keepsAll }) => isMade && keepsAll !== true)
    .map(({ kept }) => kept ?? new Set<string>());
  if (first === undefined) return {};
  return { kept: new Set([...first].filter((name) => more.every((other) => other.has(name)))) };
}

function ofList(list: CodeValue): Part | undefined {
  const path = pathOf(list);
  return path === undefined ? undefined : { path, isMade: false };
}

function ofRow(row: CodeValue): Part | undefined {
  if (row.kind === 'dict') return ofMade(row);
  if (row.kind === 'entry')
    return row.path.at(-1) === '*' ? { path: row.path.slice(0, -1), isMade: false } : undefined;
  const path = pathOf(row);
  return path?.length === 0 ? { isMade: false } : undefined;
}

/** Returns what stands for all fields of an item in an object. */
function spreadKey(path: readonly string[]): string {
  return `**${path.join('/')}`;
}

/** Returns the place of the item that an object is made of, and of the items around it: its columns are others. */
function ofMade({ entries }: CodeMap): Part | undefined {
  const parts = [...entries].flatMap(([key, value]) =>
    value.kind === 'entry' ? [{ key, path: value.path }] : [],
  );
  const items = parts.map(({ path }) => path.slice(0, path.lastIndexOf('*') + 1));
  const [item] = items.toSorted((a, b) => b.length - a.length);
  const isAround = (of: readonly string[]): boolean => of.every((key, index) => item?.[index] === key);
  if (item === undefined || item.length === 0 || !items.every((of) => of.length > 0 && isAround(of)))
    return undefined;
  // fields of the item come after those of what is around it
  const last = parts.at(-1);
  const isWhole =
    entries.size === parts.length && last?.key === spreadKey(item) && last.path.length === item.length;
  if (isWhole) return { path: item.slice(0, -1), isMade: true, keepsAll: true };
  const kept = parts.filter(({ key, path }) => path.length === item.length + 1 && path.at(-1) === key);
  return { path: item.slice(0, -1), isMade: true, kept: new Set(kept.map(({ key }) => key)) };
}

/** Returns the keys of a part of the answer. */
function pathOf(value: CodeValue): readonly string[] | undefined {
  if (value.kind === 'entry') return value.path;
  if (!isExpression(value)) return undefined;
  const of = value.kind === 'binary' && value.operator === 'or' ? value.left : value;
  const access = accessOf(of);
  return access?.name === 'response' ? access.keys.map(String) : undefined;
}

const BASE: BaseClass = {
  method: ({ component }, name) => {
    if (name === '__post_init__') return constant(null);
    if (name !== 'extract_records' || component.get('field_path') === undefined) return undefined;
    return { kind: 'entry', path: component.keys('field_path').map(String) };
  },
  attribute: () => undefined,
  each: (list) => {
    const path = list.kind === 'items' ? undefined : pathOf(list);
    return path === undefined ? undefined : [{ kind: 'entry', path: [...path, '*'] }];
  },
  call: (object, of, name, { positional: [key] }) => {
    const known = key === undefined ? undefined : object.textOf(key);
    if (of.kind !== 'entry' || name !== 'pop' || known === undefined) return undefined;
    object.written.add(`${TAKEN}${known}`);
    return { kind: 'entry', path: [...of.path, known] };
  },
  spread: (of) => (of.kind === 'entry' ? [[spreadKey(of.path), of]] : undefined),
  // what an answer has is known only while it runs
  compare: (left, operator, right) => {
    // items of one list after those of another
    if (operator === '+' && pathOf(left) !== undefined && pathOf(right) !== undefined)
      return {
        kind: 'items',
        values: [left, right].map((list) => ({ kind: 'entry', path: [...(pathOf(list) ?? []), '*'] })),
      };
    const isKey = (operator === 'in' || operator === 'not in') && isExpression(left) && isConstant(left);
    if (!isKey || !isExpression(right) || pathOf(right) === undefined) return undefined;
    const there: Expression = { kind: 'binary', operator: 'in', left, right };
    return operator === 'in' ? there : { kind: 'unary', operator: 'not', of: there };
  },
};

function rowsOf(outcome: Outcome<Found>, type: CodeClass): CodeRows {
  const leaves = leavesOf(outcome);
  const changed: ChangedFields = {
    names: new Set(leaves.flatMap(({ found }) => found.names)),
    isEmptied: false,
    isOpen: leaves.some(({ found }) => found.isMade && !found.keepsAll),
    ...keptOf(leaves.map(({ found }) => found)),
    isMade: leaves.some(({ found }) => found.isMade),
  };
  const filled = leaves.filter(({ found }) => found.paths.length > 0 || found.isWhole);
  const [first, ...more] = filled;
  const key = (found: Found): string => JSON.stringify([found.paths, found.isWhole]);
  if (
    first !== undefined &&
    more.every(({ found }) => key(found) === key(first.found)) &&
    !first.found.isWhole
  )
    return { paths: first.found.paths, changed };
  // a list is its items, and anything else one row
  if (
    filled.length > 0 &&
    filled.every(({ found }) => found.paths.every((path) => path.length === 0)) &&
    filled.some(({ found }) => found.paths.length > 0)
  )
    return { paths: [[]], changed };
  const list = filled.find(({ found }) => !found.isWhole);
  const [path, ...others] = list?.found.paths ?? [];
  const [name, ...rest] = path ?? [];
  const isChoice =
    filled.length === 2 &&
    name !== undefined &&
    rest.length === 0 &&
    others.length === 0 &&
    filled.some(({ found }) => found.isWhole && found.paths.length === 0) &&
    list?.conditions.some((condition) => isKeyThere(condition, name)) === true;
  if (isChoice && path !== undefined) return { paths: [path], orWhole: name, changed };
  throw new CodeRefused(`${type.module.path}: ${type.name} finds rows in several ways`);
}

/** Tells if a condition asks whether the answer has a key. */
function isKeyThere(condition: Expression, name: string): boolean {
  return (
    condition.kind === 'binary' &&
    condition.operator === 'in' &&
    isConstant(condition.left) &&
    condition.left.value === name &&
    accessOf(condition.right)?.keys.length === 0
  );
}

interface Leaf {
  readonly found: Found;
  /** Conditions that hold on the way to it. */
  readonly conditions: readonly Expression[];
}

function leavesOf(outcome: Outcome<Found>, conditions: readonly Expression[] = []): readonly Leaf[] {
  // an error ends the run
  if (outcome.kind === 'error') return [];
  if (outcome.kind === 'value') return [{ found: outcome.value, conditions }];
  return [
    ...leavesOf(outcome.then, [...conditions, outcome.when]),
    ...leavesOf(outcome.otherwise, conditions),
  ];
}
