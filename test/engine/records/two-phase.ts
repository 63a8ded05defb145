import { rowLine } from '../../../src/lib/csv/write.ts';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  md5,
  serializeWith,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';
import { columnName, NameScope, safeName } from '../../../src/engine/records/names.ts';
import type { PageRows } from '../../../src/engine/records/parser.ts';

/** A place in the records, with all that was ever seen of it. */
interface Node {
  kind: 'null' | 'scalar' | 'object' | 'array';
  name?: string;
  props: Map<string, Node>;
  item?: Node;
  scope: NameScope;
  readonly path: string;
}

interface Table {
  readonly node: Node;
  /** Column of an extra value by its raw name, then the header of that column. */
  readonly slots: Map<string, string>;
  readonly extras: Map<string, string>;
}

/**
 * Implements the rules in the plainest way: first it learns all pages, then it writes all of them, with everything in
 * memory. The parser under test writes as it goes.
 */
export function twoPhase(pages: readonly PageRows[]): Map<string, string> {
  const types = new Map<string, Node>();
  const used = pages.filter((page) => page.count > 0 && !(page.count === 1 && rowsOf(page)[0] === null));
  for (const page of used) {
    const node = types.get(page.dataType) ?? newNode(page.dataType);
    types.set(page.dataType, node);
    for (const row of rowsOf(page)) learnItem(node, row);
    nameItem(node);
  }
  const writer = new Writer();
  for (const page of used) {
    const node = types.get(page.dataType) ?? newNode(page.dataType);
    writer.rows(node, rowsOf(page), page.extra);
  }
  return writer.files();
}

function rowsOf(page: PageRows): Json[] {
  return [...page.chunks()].flat();
}

function newNode(path: string): Node {
  return { kind: 'null', props: new Map(), scope: new NameScope(), path };
}

function learnItem(node: Node, value: Json): void {
  if (isList(value)) become(node, 'scalar');
  else learn(node, value);
}

function learn(node: Node, value: Json): void {
  if (value === null) return;
  if (isList(value)) {
    becomeArray(node);
    for (const item of value) learnChecked(node, item);
  } else if (node.kind === 'array') learnChecked(node, value);
  else if (isObject(value)) {
    become(node, 'object');
    for (const [key, item] of entriesOf(value)) {
      const child = node.props.get(key) ?? newNode(`${node.path}.${key}`);
      node.props.set(key, child);
      learn(child, item);
    }
  } else become(node, 'scalar');
}

function learnChecked(node: Node, value: Json): void {
  const item = node.item;
  if (item === undefined) throw new Error('an array has an item');
  const kind = isObject(value) ? 'object' : 'scalar';
  if (value !== null && item.kind !== 'null' && item.kind !== kind) throw new Error('incompatible types');
  learnItem(item, value);
}

function become(node: Node, kind: 'scalar' | 'object'): void {
  if (node.kind !== 'null' && node.kind !== kind) throw new Error('type change');
  node.kind = kind;
}

/** Turns a lone value into the item of a list, whose columns are named anew in their own table. */
function becomeArray(node: Node): void {
  if (node.kind === 'array') return;
  const item = newNode(node.path);
  item.kind = node.kind;
  item.props = node.props;
  forgetNames(item);
  node.kind = 'array';
  node.props = new Map();
  node.item = item;
}

function forgetNames(node: Node): void {
  for (const child of node.props.values()) {
    delete child.name;
    if (child.kind === 'object') forgetNames(child);
  }
}

function nameItem(item: Node): void {
  const walk = (node: Node, path: readonly string[]): void => {
    for (const [key, child] of node.props) {
      child.name ??= item.scope.take(columnName([...path, key]));
      if (child.kind === 'object') walk(child, [...path, key]);
      else if (child.item !== undefined) nameItem(child.item);
    }
  };
  walk(item, []);
}

class Writer {
  readonly #tables = new Map<Node, Table>();
  /** In the order of writing: a record after the items of its lists. */
  readonly #rows: { readonly table: Table; readonly cells: string[]; readonly extra: Map<string, string> }[] =
    [];
  readonly #aliases = new Map<string, string>();

  rows(node: Node, rows: readonly Json[], extra: AnyObject): void {
    const table = this.#open(node);
    const entries = this.#extras(table, extra);
    for (const row of rows) {
      const appended = entries.map(({ name, value }) => [name, value] as const);
      const link: Link = { path: node.path, value: row, appended, outer: '' };
      const cells =
        node.kind === 'scalar' ? [isList(row) ? toJsonText(row) : toText(row)] : this.#cells(node, row, link);
      this.#rows.push({
        table,
        cells,
        extra: new Map(entries.map(({ column, value }) => [column, toText(value)])),
      });
    }
  }

  /** Lists whose tables have one name share a file: the header is that of the first, the rows are as they come. */
  files(): Map<string, string> {
    const files = new Map<string, string>();
    for (const { node, extras } of this.#tables.values()) {
      const name = safeName(node.path);
      if (!files.has(name)) files.set(name, rowLine([...headersOf(node), ...extras.values()]));
    }
    for (const { table, cells, extra } of this.#rows) {
      const name = safeName(table.node.path);
      const line = rowLine([...cells, ...[...table.extras.keys()].map((column) => extra.get(column) ?? '')]);
      files.set(name, `${files.get(name) ?? ''}${line}`);
    }
    return files;
  }

  #open(node: Node): Table {
    const table = this.#tables.get(node) ?? { node, slots: new Map(), extras: new Map() };
    this.#tables.set(node, table);
    return table;
  }

  /** Names as they are appended to the record, and the column that each goes to. */
  #extras(table: Table, extra: AnyObject): { name: string; column: string; value: Json }[] {
    const kept: { name: string; column: string; value: Json }[] = [];
    const renamed: typeof kept = [];
    for (const [key, value] of entriesOf(extra)) {
      const known = this.#aliases.get(key) ?? key;
      let name = known;
      for (let i = 0; hasColumn(table.node, name); i++) name = `${known}_u${i}`;
      if (name !== known) this.#aliases.set(key, name);
      const column = table.slots.get(key) ?? name;
      table.slots.set(key, column);
      if (!table.extras.has(column)) table.extras.set(column, this.#header(table, column));
      (name === known ? kept : renamed).push({ name, column, value });
    }
    return [...kept, ...renamed];
  }

  #header({ node, extras }: Table, name: string): string {
    const scope = new NameScope();
    const reserve = (inner: Node): void => {
      for (const child of inner.props.values()) {
        scope.reserve(child.name ?? '');
        if (child.kind === 'object') reserve(child);
      }
    };
    if (node.kind === 'scalar') scope.reserve('data');
    else reserve(node);
    for (const header of extras.values()) scope.reserve(header);
    return scope.take(safeName(name));
  }

  #cells(node: Node, row: Json, link: Link): string[] {
    const cells: string[] = [];
    for (const [key, child] of node.props) {
      const value = isObject(row) ? (getKey(row, key) ?? null) : null;
      if (child.kind === 'object') {
        cells.push(...this.#cells(child, value, { path: child.path, value, appended: [], outer: link }));
      } else if (child.item !== undefined) cells.push(this.#nested(child.item, value, link));
      else cells.push(toText(value));
    }
    return cells;
  }

  #nested(item: Node, value: Json, link: Link): string {
    const items = value === null ? [] : isList(value) ? value : [value];
    if (items.length === 0) return '';
    const id = linkId(link);
    this.rows(item, items, { JSON_parentId: id });
    return id;
  }
}

interface Link {
  readonly path: string;
  readonly value: Json;
  readonly appended: readonly (readonly [string, Json])[];
  readonly outer: Link | '';
}

function linkId({ path, value, appended, outer }: Link): string {
  const text = isObject(value) ? serializeWith(value, appended) : '';
  return `${path}_${md5(text + (outer === '' ? '' : linkId(outer)))}`;
}

function hasColumn(node: Node, key: string): boolean {
  return node.kind === 'scalar' ? key === 'data' : node.props.has(key);
}

function headersOf(node: Node): string[] {
  if (node.kind === 'scalar') return ['data'];
  const walk = (inner: Node): string[] =>
    [...inner.props.values()].flatMap((child) =>
      child.kind === 'object' ? walk(child) : [child.name ?? ''],
    );
  return walk(node);
}
