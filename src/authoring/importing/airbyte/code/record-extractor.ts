import { constant, isConstant, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import { mapParts } from '../jinja/map-parts.ts';
import { accessOf } from '../translate/position.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass, CodeRun } from './code-run.ts';
import { chosen, explore, type Outcome } from './explore.ts';
import { once } from './once.ts';
import { CodeRefused } from './refused.ts';
import type { ChangedFields } from './transformation.ts';
import {
  ANY_FIELD,
  dict,
  entryExpression,
  isExpression,
  isItemName,
  isOpenMap,
  itemPath,
  keyOf,
  write,
  type CodeMap,
  type CodeValue,
} from './values.ts';

/** The places of rows in an answer, as code finds them. */
export interface CodeRows {
  /** Keys of each list of rows; `*` is any item. */
  readonly paths: readonly (readonly string[])[];
  /** The answer itself is the only row where it has no such key. */
  readonly orWhole?: string;
  /** The field that gets the key of an object whose values are the rows, or lists of them; absent where none is needed. */
  readonly key?: string;
  /** The condition on which an item of the list is a row; absent where each one is. */
  readonly kept?: Expression;
  /** Values of fields of a row that are made of an item of the list, as those of a record. */
  readonly made?: ReadonlyMap<string, Expression>;
  /** Keys of an object in each item that is the row; with `orItem` the item is, where it has none. */
  readonly inner?: { readonly keys: readonly string[]; readonly orItem: boolean };
  /** The answer is XML. */
  readonly isXml?: true;
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
  /** Values that objects made of the items have, as those of a record. */
  readonly made?: ReadonlyMap<string, Expression>;
  /** Names of computed values that fields were given. */
  readonly computed: ReadonlyMap<string, string>;
  /** Those objects have all fields of the items as they were. */
  readonly keepsAll: boolean;
  /** Keys of objects in the items that are the rows. */
  readonly lifted: readonly string[];
  /** The function that has read the answer as XML. */
  readonly xml?: string;
}

/**
 * Reads an extractor of Python: it takes lists out of the answer, and may change fields of their items.
 *
 * @throws {CodeRefused} for code that does anything else, such as to choose among the items by those before them
 */
export const codeRows = once((type, extractor): CodeRows => {
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
    const isNone = isExpression(given) && isConstant(given) && given.value === null;
    if (object.yielded.length === 0 && !isNone) lists.push(given);
    const parts = [
      ...lists.flatMap((list) => (list.kind === 'items' ? list.values.map(ofRow) : [ofList(list)])),
      ...rows.map(ofRow),
    ];
    if (parts.includes(undefined)) throw object.refused(method.node, 'rows that are not understood');
    const found = parts.filter((part) => part !== undefined);
    return {
      paths: found.flatMap(({ path }) => (path === undefined ? [] : [path])),
      isWhole: found.some(({ path }) => path === undefined),
      names: [...object.written, ...found.flatMap(({ over = [] }) => over)].flatMap((name) => {
        if (!name.startsWith(TAKEN)) return [name];
        // an object that is made has a place of its own for what is taken out
        return found.every(({ isMade }) => isMade) ? [] : [name.slice(TAKEN.length)];
      }),
      isMade: found.some(({ isMade }) => isMade),
      ...(found.length === 1 && found[0]?.made !== undefined ? { made: found[0].made } : {}),
      computed: object.computed,
      keepsAll: found.every(({ isMade, keepsAll }) => !isMade || keepsAll === true),
      lifted: found.flatMap(({ lifted }) => (lifted === undefined ? [] : [JSON.stringify(lifted)])),
      ...keptOf(found),
      ...(object.attributes.has(XML) ? { xml: object.textOf(object.attribute(XML, undefined)) ?? '' } : {}),
    };
  });
  const rows = rowsOf(outcome, type);
  const parsers = new Set(leavesOf(outcome).map(({ found: { xml } }) => xml));
  const [parser] = parsers;
  if (parsers.size > 1)
    throw new CodeRefused(`${type.module.path}: ${type.name} reads answers in several ways`);
  if (parser === undefined) return rows;
  // the outermost element is one: a list in its place has items of any name
  if (rows.paths.some((path) => path.length < 2))
    throw new CodeRefused(`${type.module.path}: ${type.name} takes the outermost element for rows`);
  // names of elements have dashes where those of Python can't
  const written = (key: string): string => (parser === DASHED ? key.replaceAll('_', '-') : key);
  return { ...rows, isXml: true, paths: rows.paths.map((path) => path.map(written)) };
});

/** The attribute that names the function which has read an answer as XML. */
const XML = ' xml';

/** The text of an answer. */
const TEXT: CodeValue = { kind: 'given', name: 'text of the answer' };

/** Reads XML as a dictionary, with a list where an element comes several times. */
const PLAIN_XML = 'xmltodict.parse';

/** The same with names as Python has them. */
const DASHED = 'braintree.util.xml_util.XmlUtil.dict_from_xml';

interface Part {
  /** Absent: the answer itself. */
  readonly path?: readonly string[];
  readonly isMade: boolean;
  /** All fields of the item are as they were, and others are added. */
  readonly keepsAll?: boolean;
  /** Fields that take the place of those of the item. */
  readonly over?: readonly string[];
  /** Fields of an object that is made of an item which are as they were. */
  readonly kept?: ReadonlySet<string>;
  /** Values of the other ones, as those of a record. */
  readonly made?: ReadonlyMap<string, Expression>;
  /** Keys of an object in the item, which is the row. */
  readonly lifted?: readonly string[];
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
  // whatever is made of an item is one row
  if (row.kind === 'computed')
    return row.of === undefined
      ? undefined
      : { path: row.of.at(-1) === '*' ? row.of.slice(0, -1) : row.of, isMade: true };
  if (row.kind === 'entry') {
    const end = row.path.lastIndexOf('*');
    if (end === -1) return undefined;
    const inner = row.path.slice(end + 1);
    if (inner.some(isAnyField)) return undefined;
    return { path: row.path.slice(0, end), isMade: false, ...(inner.length === 0 ? {} : { lifted: inner }) };
  }
  const path = pathOf(row);
  if (path === undefined) return undefined;
  // an object is one row, where a list is its items
  return path.length === 0 ? { isMade: false } : { path, isMade: false };
}

const RECORD: Expression = { kind: 'name', name: 'record' };

const SPREAD = '**';

/** Returns what stands for all fields of an item in an object. */
function spreadKey(path: readonly string[]): string {
  return `${SPREAD}${path.join('/')}`;
}

/** Returns the place of the item that an object is made of, and of the items around it: its columns are others. */
function ofMade({ entries }: CodeMap): Part | undefined {
  const parts = [...entries].flatMap(([key, value]) => {
    if (value.kind === 'entry') return [{ key, path: value.path }];
    return isExpression(value)
      ? namesIn(value)
          .filter(isItemName)
          .map((name) => ({ key: '', path: itemPath(name) }))
      : [];
  });
  const items = parts.map(({ path }) => path.slice(0, path.lastIndexOf('*') + 1));
  const [item] = items.toSorted((a, b) => b.length - a.length);
  const isAround = (of: readonly string[]): boolean => of.every((key, index) => item?.[index] === key);
  if (item === undefined || item.length === 0 || !items.every((of) => of.length > 0 && isAround(of)))
    return undefined;
  // fields of the item come after those of what is around it, and before some more
  const keys = [...entries.keys()];
  const whole = keys.indexOf(spreadKey(item));
  const over = keys.slice(whole + 1);
  if (whole !== -1 && over.every((key) => !key.startsWith(SPREAD)))
    return { path: item.slice(0, -1), isMade: true, keepsAll: true, over };
  const kept = parts.filter(({ key, path }) => path.length === item.length + 1 && path.at(-1) === key);
  const names = [entryExpression(item)].flatMap(namesIn);
  const made = [...entries].flatMap(([key, value]): readonly (readonly [string, Expression])[] => {
    const isOfItem = isExpression(value) && namesIn(value).every((name) => names.includes(name));
    return isOfItem && !isConstant(value) ? [[key, asRecord(value, names[0] ?? '', RECORD)]] : [];
  });
  return {
    path: item.slice(0, -1),
    isMade: true,
    kept: new Set([...kept, ...made.map(([key]) => ({ key }))].map(({ key }) => key)),
    ...(made.length === 0 ? {} : { made: new Map(made) }),
  };
}

/** Returns the keys of a part of the answer. */
function pathOf(value: CodeValue): readonly string[] | undefined {
  if (value.kind === 'entry') return value.path;
  if (!isExpression(value)) return undefined;
  const of = value.kind === 'binary' && value.operator === 'or' ? value.left : value;
  const access = accessOf(of);
  return access?.name === 'response' ? access.keys.map(String) : undefined;
}

/** Decodes answers as they are without code. */
const DECODER: CodeValue = { kind: 'given', name: 'decoder' };

function entryOf(path: readonly string[]): CodeValue {
  return { kind: 'entry', path };
}

const BASE: BaseClass = {
  isLoose: true,
  method: ({ component }, name) => {
    if (name === '__post_init__') return constant(null);
    if (name !== 'extract_records' || component.get('field_path') === undefined) return undefined;
    return { kind: 'entry', path: component.keys('field_path').map(String) };
  },
  attribute: ({ component }, name) => {
    if (name === 'decoder') return DECODER;
    if (name !== '_field_path' || component.get('field_path') === undefined) return undefined;
    const keys = component.keys('field_path');
    return { kind: 'items', values: keys.map((key): CodeValue => ({ kind: 'template', node: key })) };
  },
  each: (list) => {
    // what is in it is no item of the answer
    if (list.kind === 'computed') return [{ kind: 'computed', name: list.name }];
    if (list.kind === 'pairs') {
      const value = entryOf([...list.path, '*']);
      return [{ kind: 'items', values: [{ kind: 'computed', name: keyName(list.path) }, value] }];
    }
    const path = list.kind === 'items' ? undefined : pathOf(list);
    return path === undefined ? undefined : [{ kind: 'entry', path: [...path, '*'] }];
  },
  call: (object, of, name, { positional: [key], named }) => {
    if (of === DECODER && name === 'decode') return { kind: 'items', values: [entryOf([])] };
    if (of.kind === 'extractor' && name === 'extract_records') return entryOf(of.path);
    if (of.kind === 'entry') return ofEntry(object, of.path, name, key, named);
    if (!isExpression(of) || !CHANGES.has(name) || !namesIn(of).includes('response')) return undefined;
    return ofEntry(object, pathOf(of) ?? [ANY_FIELD], name, key, named);
  },
  part: (of, name) => (of.kind === 'answer' && (name === 'text' || name === 'content') ? TEXT : undefined),
  make: ({ attributes, component }, path, { positional: [given], named }) => {
    if (given === TEXT && path === 'json.loads') return { kind: 'name', name: 'response' };
    if (given === TEXT && (path === PLAIN_XML || path === DASHED) && named.size === 0) {
      attributes.set(XML, constant(path));
      return entryOf([]);
    }
    if (!path.endsWith('.DpathExtractor')) return undefined;
    const keys = named.get('field_path') ?? given;
    const isOwn = keys?.kind === 'written' && keys.node === component.get('field_path');
    return isOwn ? { kind: 'extractor', path: component.keys('field_path').map(String) } : undefined;
  },
  spread: (of) => {
    if (isOpenMap(of) && of.kind === 'dict') return [...of.entries];
    return of.kind === 'entry' ? [[spreadKey(of.path), of]] : undefined;
  },
  // what an answer has is known only while it runs
  compare: (left, operator, right) => {
    // items of one list after those of another
    if (operator === '+' && pathOf(left) !== undefined && pathOf(right) !== undefined)
      return {
        kind: 'items',
        values: [left, right].map((list) => ({ kind: 'entry', path: [...(pathOf(list) ?? []), '*'] })),
      };
    if (operator === '|' && left.kind === 'entry' && right.kind === 'dict')
      return right.entries.size === 0 ? left : dict([[spreadKey(left.path), left], ...right.entries]);
    const isKey = (operator === 'in' || operator === 'not in') && isExpression(left) && isConstant(left);
    if (!isKey || pathOf(right) === undefined) return undefined;
    const of = right.kind === 'entry' ? entryExpression(right.path) : right;
    if (!isExpression(of)) return undefined;
    const there: Expression = { kind: 'binary', operator: 'in', left, right: of };
    return operator === 'in' ? there : { kind: 'unary', operator: 'not', of: there };
  },
};

/** Returns the name of the keys of what an answer has. */
function keyName(path: readonly string[]): string {
  return `key of ${JSON.stringify(path)}`;
}

/** Methods that change what they are of. */
const CHANGES: ReadonlySet<string> = new Set(
  'pop update setdefault append extend insert remove clear sort'.split(' '),
);

/** Calls a method of a part of the answer. */
function ofEntry(
  object: CodeRun,
  path: readonly string[],
  name: string,
  key: CodeValue | undefined,
  named: ReadonlyMap<string, CodeValue>,
): CodeValue | undefined {
  const known = key === undefined ? undefined : object.textOf(key);
  const isNew = (names: Iterable<string>): CodeValue => {
    for (const field of names) write(object.written, [...path, field]);
    return constant(null);
  };
  switch (name) {
    case 'pop':
      if (known === undefined) return isNew([ANY_FIELD]);
      if (path.at(-1) === '*') object.written.add(`${TAKEN}${known}`);
      else write(object.written, [...path, known]);
      return entryOf([...path, known]);
    case 'update':
      if (key === undefined) return isNew(named.keys());
      return isNew(key.kind === 'dict' ? [...key.entries.keys(), ...named.keys()] : [ANY_FIELD]);
    case 'get':
      return known === undefined ? entryOf([...path, `${ANY_FIELD} ${keyOf(key)}`]) : undefined;
    case 'items':
      return { kind: 'pairs', path };
    case 'values':
      return entryOf(path);
    default:
      return CHANGES.has(name) ? isNew([known ?? ANY_FIELD]) : undefined;
  }
}

function isAnyField(name: string): boolean {
  return name.startsWith(ANY_FIELD);
}

function rowsOf(outcome: Outcome<Found>, type: CodeClass): CodeRows {
  const leaves = leavesOf(outcome);
  const changed: ChangedFields = {
    names: new Set(leaves.flatMap(({ found }) => found.names.filter((name) => !isAnyField(name)))),
    isEmptied: false,
    isOpen: leaves.some(({ found }) => (found.isMade && !found.keepsAll) || found.names.some(isAnyField)),
    ...keptOf(leaves.map(({ found }) => found)),
    isMade: leaves.some(({ found }) => found.isMade),
  };
  const filled = leaves.filter(({ found }) => found.paths.length > 0 || found.isWhole);
  const [first, ...more] = filled;
  const key = (found: Found): string => JSON.stringify([found.paths, found.isWhole, [...(found.made ?? [])]]);
  const [lifted, ...others] = new Set(leaves.flatMap(({ found }) => found.lifted));
  if (others.length > 0)
    throw new CodeRefused(`${type.module.path}: ${type.name} takes rows from several objects of an item`);
  if (
    first !== undefined &&
    more.every(({ found }) => key(found) === key(first.found)) &&
    !first.found.isWhole
  ) {
    const choice = new Choice(type, first.found);
    const kept = fold(choice.of(outcome), new Map());
    const isOdd = (key: string): boolean => changed.names.has(key) || isAnyField(key);
    if (keysIn(kept).some((key) => key !== choice.key && isOdd(key)))
      throw new CodeRefused(`${type.module.path}: ${type.name} chooses rows by fields that it changes`);
    const { made } = first.found;
    const inner = lifted === undefined ? undefined : innerOf(lifted, filled);
    if (inner?.orItem === false && !isConstant(kept))
      throw new CodeRefused(`${type.module.path}: ${type.name} chooses rows by what is around them`);
    return {
      ...choice.rows(),
      changed,
      ...(isConstant(kept) ? {} : { kept }),
      ...(made === undefined ? {} : { made }),
      ...(inner === undefined ? {} : { inner }),
    };
  }
  if (lifted !== undefined)
    throw new CodeRefused(`${type.module.path}: ${type.name} finds rows in several ways`);
  if (leaves.some(({ conditions }) => conditions.some(({ when }) => isOfItem(when))))
    throw new CodeRefused(`${type.module.path}: ${type.name} chooses among rows in several places`);
  // a list is its items, and anything else one row
  if (
    filled.length > 0 &&
    filled.every(({ found }) => found.paths.every((path) => path.length === 0)) &&
    filled.some(({ found }) => found.paths.length > 0)
  )
    return { paths: [[]], changed };
  const list = filled.find(({ found }) => !found.isWhole);
  const [path, ...further] = list?.found.paths ?? [];
  const [name, ...rest] = path ?? [];
  const isChoice =
    filled.length === 2 &&
    name !== undefined &&
    rest.length === 0 &&
    further.length === 0 &&
    filled.some(({ found }) => found.isWhole && found.paths.length === 0) &&
    list?.conditions.some(({ when, holds }) => holds && isKeyThere(when, name)) === true;
  if (isChoice && path !== undefined) return { paths: [path], orWhole: name, changed };
  throw new CodeRefused(`${type.module.path}: ${type.name} finds rows in several ways`);
}

function innerOf(lifted: string, filled: readonly Leaf[]): NonNullable<CodeRows['inner']> {
  const keys = (JSON.parse(lifted) as unknown[]).map(String);
  return { keys, orItem: filled.some(({ found }) => found.lifted.length === 0) };
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
  /** Conditions on the way to it, and whether they hold. */
  readonly conditions: readonly { readonly when: Expression; readonly holds: boolean }[];
}

function leavesOf(outcome: Outcome<Found>, conditions: Leaf['conditions'] = []): readonly Leaf[] {
  // an error ends the run
  if (outcome.kind === 'error') return [];
  if (outcome.kind === 'value') return [{ found: outcome.value, conditions }];
  const { when } = outcome;
  return [
    ...leavesOf(outcome.then, [...conditions, { when, holds: true }]),
    ...leavesOf(outcome.otherwise, [...conditions, { when, holds: false }]),
  ];
}

/** The condition on which an item is a row, from the ways through the code. */
class Choice {
  readonly #type: CodeClass;
  readonly #paths: Found['paths'];
  /** The name of the item in conditions. */
  readonly #item: string | undefined;
  /** The object whose values are the rows, or lists of them, where code asks for a key of it. */
  #object: { readonly path: readonly string[]; readonly field: string } | undefined;
  readonly #computed: Found['computed'];

  constructor(type: CodeClass, { paths, computed }: Found) {
    this.#type = type;
    this.#paths = paths;
    this.#computed = computed;
    const [path, ...others] = paths;
    const of = path === undefined || others.length > 0 ? undefined : entryExpression([...path, '*']);
    this.#item = of?.kind === 'name' ? of.name : undefined;
  }

  /** The field with the key of the object. */
  get key(): string | undefined {
    return this.#object?.field;
  }

  rows(): Pick<CodeRows, 'paths' | 'key'> {
    if (this.#object === undefined) return { paths: this.#paths };
    return { paths: [this.#object.path], key: this.#object.field };
  }

  /** @throws {CodeRefused} for a condition on anything but the item */
  of(outcome: Outcome<Found>): Expression {
    return this.#of(outcome) ?? constant(true);
  }

  /** Returns undefined for an error, which ends the run. */
  #of(outcome: Outcome<Found>): Expression | undefined {
    if (outcome.kind === 'error') return undefined;
    if (outcome.kind === 'value') return constant(outcome.value.paths.length > 0);
    const { when } = outcome;
    const [then, otherwise] = [this.#of(outcome.then), this.#of(outcome.otherwise)];
    if (then === undefined || otherwise === undefined) return then ?? otherwise;
    if (JSON.stringify(then) === JSON.stringify(otherwise)) return then;
    const names = [...new Set(namesIn(when))];
    const [name = '', ...more] = names;
    if (more.length === 0 && name === this.#item)
      return chosen(asRecord(when, name, RECORD), then, otherwise);
    const field = more.length === 0 ? this.#fieldOf(name) : undefined;
    if (field !== undefined) return chosen(asRecord(when, name, field), then, otherwise);
    // rows of an answer without them are none in any case
    const isOutside = names.every((each) => OUTSIDE.has(each));
    if ((isOutside || this.#isAround(when)) && isNothing(otherwise)) return then;
    if (isOutside && isNothing(then)) return otherwise;
    throw new CodeRefused(
      `${this.#type.module.path}: ${this.#type.name} chooses rows by what is around them`,
    );
  }

  /** Returns the field of a row that has the key of the object that it stands in. */
  #fieldOf(name: string): Expression | undefined {
    const [path, ...others] = this.#paths;
    if (path === undefined || others.length > 0) return undefined;
    const around = [path, path.at(-1) === '*' ? path.slice(0, -1) : path];
    const object = around.find((one) => keyName(one) === name);
    if (object === undefined) return undefined;
    const [field = 'key'] = [...this.#computed].flatMap(([key, value]) => (value === name ? [key] : []));
    this.#object = { path: object, field };
    return { kind: 'item', of: { kind: 'name', name: 'record' }, key: constant(field) };
  }

  /** Tells if a condition asks whether there is what the rows are in. */
  #isAround(when: Expression): boolean {
    return this.#paths.every((path) =>
      path.some(
        (_, index) => JSON.stringify(entryExpression(path.slice(0, index + 1))) === JSON.stringify(when),
      ),
    );
  }
}

/** Names of what is the same for all rows of an answer. */
const OUTSIDE: ReadonlySet<string> = new Set(['response', 'config', 'parameters']);

function isNothing(kept: Expression): boolean {
  return isConstant(kept) && kept.value === false;
}

function isOfItem(when: Expression): boolean {
  return namesIn(when).some(isItemName);
}

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  if ('kind' in value && value.kind === 'name' && 'name' in value) return [String(value.name)];
  return Object.values(value).flatMap(namesIn);
}

/** Returns the texts in an expression: names of fields among them. */
function keysIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  if (typeof value !== 'object' || value === null) return [];
  if ('kind' in value && value.kind === 'constant' && 'value' in value)
    return typeof value.value === 'string' ? [value.value] : [];
  return Object.values(value).flatMap(keysIn);
}

/** Returns a condition on an item as one on the record. */
function asRecord(when: Expression, name: string, record: Expression): Expression {
  if (when.kind === 'name') return when.name === name ? record : when;
  return mapParts(when, (part) => asRecord(part, name, record));
}
