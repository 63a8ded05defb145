import { RecordError } from '../../lib/errors.ts';
import { entriesOf, isList, isObject, type AnyObject, type Json } from '../../lib/json/index.ts';
import { columnName, NameScope } from './names.ts';
import { SeenValues } from './types/seen-values.ts';

export type ValueKind = 'null' | 'scalar' | 'object' | 'array';

/** One place in the records of a type: a property, or the item of a list. */
export class StructureNode {
  kind: ValueKind = 'null';
  /** Header, given once after the page on which the node was first seen. */
  name: string | undefined;
  /** Properties in the order they were first seen (objects). */
  props = new Map<string, StructureNode>();
  /** The item (arrays). */
  item: StructureNode | undefined;
  /** The page on which a scalar or object became an array: what was written before is wrong (arrays' items). */
  upgradedAt = 0;
  /** Kinds of its values (scalars), where the types of columns are wanted. */
  readonly seen = new SeenValues();
  /** Raw path for messages and table names, such as `users.address.tags`. */
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }
}

/** Structure that was learned of all records so far: one tree for each data type. */
export class Structure {
  readonly types = new Map<string, StructureNode>();
  /** Grows with every change that a table could show. */
  version = 0;
  /** The page that is being learned, from 0. */
  page = 0;
  readonly #scopes = new WeakMap<StructureNode, NameScope>();
  readonly #onNestedList: (path: string) => void;

  /** @param onNestedList told the path of a list directly inside a list, which is kept as JSON text */
  constructor(onNestedList: (path: string) => void) {
    this.#onNestedList = onNestedList;
  }

  /** Returns the item node of a type, created at its first use. */
  type(dataType: string): StructureNode {
    let item = this.types.get(dataType);
    if (item === undefined) {
      item = new StructureNode(dataType);
      this.types.set(dataType, item);
      this.version++;
    }
    return item;
  }

  /**
   * Learns from the rows of one page.
   *
   * @throws {RecordError} `records.typeChange` when a value cannot live in the column of an earlier one
   */
  learn(dataType: string, rows: Iterable<readonly Json[]>): void {
    const item = this.type(dataType);
    for (const chunk of rows) for (const row of chunk) this.#item(item, row);
  }

  /** Names every node that has none yet, walking each tree in order. */
  nameColumns(dataType: string): void {
    this.#nameItem(this.type(dataType));
  }

  #item(node: StructureNode, value: Json): void {
    if (isList(value)) {
      this.#onNestedList(node.path);
      this.#become(node, 'scalar');
    } else this.#value(node, value);
  }

  #value(node: StructureNode, value: Json): void {
    if (value === null) return;
    if (isList(value)) this.#list(node, value);
    else if (node.kind === 'array') this.#one(node, value);
    else if (isObject(value)) {
      this.#become(node, 'object');
      this.#properties(node, value);
    } else this.#become(node, 'scalar');
  }

  #properties(node: StructureNode, value: AnyObject): void {
    for (const [key, item] of entriesOf(value)) {
      let child = node.props.get(key);
      if (child === undefined) {
        child = new StructureNode(`${node.path}.${key}`);
        node.props.set(key, child);
        this.version++;
      }
      this.#value(child, item);
    }
  }

  #list(node: StructureNode, items: readonly Json[]): void {
    if (node.kind !== 'array') this.#becomeArray(node);
    const { item } = node;
    if (item === undefined) return;
    for (const value of items) {
      this.#checkItem(node, item, value);
      this.#item(item, value);
    }
  }

  /** Learns a lone value where a list was seen before: a list of one. */
  #one(node: StructureNode, value: Json): void {
    if (node.item === undefined) return;
    this.#checkItem(node, node.item, value);
    this.#item(node.item, value);
  }

  #checkItem(node: StructureNode, item: StructureNode, value: Json): void {
    const kind = value === null ? 'null' : isObject(value) ? 'object' : 'scalar';
    if (kind === 'null' || item.kind === 'null' || item.kind === kind) return;
    throw new RecordError(
      'records.typeChange',
      `Incompatible types in “${node.path}”: a list of ${plural(item.kind)} and ${plural(kind)}`,
      { hint: typeHint(node.path) },
    );
  }

  #becomeArray(node: StructureNode): void {
    const item = new StructureNode(node.path);
    if (node.kind !== 'null') {
      item.kind = node.kind;
      item.props = node.props;
      item.upgradedAt = this.page;
      forgetNames(item);
    }
    node.kind = 'array';
    node.props = new Map();
    node.item = item;
    this.version++;
  }

  #become(node: StructureNode, kind: 'scalar' | 'object'): void {
    if (node.kind === kind) return;
    if (node.kind !== 'null') {
      const from = node.kind === 'object' ? 'an object' : 'a scalar';
      const to = kind === 'object' ? 'an object' : 'a scalar';
      throw new RecordError(
        'records.typeChange',
        `Type change in “${node.path}”: it was ${from}, and now it is ${to}`,
        {
          hint: typeHint(node.path),
        },
      );
    }
    node.kind = kind;
    this.version++;
  }

  #nameItem(item: StructureNode): void {
    let scope = this.#scopes.get(item);
    if (scope === undefined) {
      scope = new NameScope();
      this.#scopes.set(item, scope);
      reserveNames(item, scope);
    }
    this.#nameProperties(item, [], scope);
  }

  #nameProperties(node: StructureNode, path: readonly string[], scope: NameScope): void {
    for (const [key, child] of node.props) {
      const at = [...path, key];
      child.name ??= scope.take(columnName(at));
      if (child.kind === 'object') this.#nameProperties(child, at, scope);
      else if (child.item !== undefined) this.#nameItem(child.item);
    }
  }

  /** Returns the names in use in the table of an item, for the columns that are appended to it. */
  scopeOf(item: StructureNode): NameScope {
    const scope = new NameScope();
    reserveNames(item, scope);
    return scope;
  }
}

function plural(kind: ValueKind): string {
  return kind === 'object' ? 'objects' : kind === 'array' ? 'lists' : 'scalars';
}

function typeHint(path: string): string {
  const [type = '', ...rest] = path.split('.');
  return `Let “responseFilter” of the job keep the property as JSON text${rest.length > 0 ? ` (for example "${rest.join('.')}")` : ''}, or use a mapping with “forceType” for “${type}”.`;
}

function forgetNames(node: StructureNode): void {
  for (const child of node.props.values()) {
    child.name = undefined;
    if (child.kind === 'object') forgetNames(child);
  }
}

/** Reserves the names of nodes; object nodes have one, too, though no column shows it. */
function reserveNames(node: StructureNode, scope: NameScope): void {
  for (const child of node.props.values()) {
    if (child.name !== undefined) scope.reserve(child.name);
    if (child.kind === 'object') reserveNames(child, scope);
  }
}
