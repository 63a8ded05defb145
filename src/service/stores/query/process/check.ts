import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from './functions.ts';
import type { NamedTable, NeededTables } from '../messages.ts';

/** Reading that a checked query needs, with the places of its tables in bytes of its text. */
export interface CheckedQuery extends NeededTables {
  readonly tables: readonly PlacedTable[];
}

type PlacedTable = NamedTable & { readonly offset: number | undefined };

/** Part of a query that is not on the list; `offset` is in bytes of its text. */
export class RefusedPart extends Error {
  override readonly name = 'RefusedPart';
  readonly offset: number | undefined;

  constructor(message: string, offset: unknown) {
    super(message);
    this.offset = offsetOf(offset);
  }
}

/** The engine writes the largest number where it knows no place. */
function offsetOf(told: unknown): number | undefined {
  return typeof told === 'number' && told < Number.MAX_SAFE_INTEGER ? told : undefined;
}

type Part = Readonly<Record<string, unknown>>;

const EXPRESSIONS: ReadonlySet<unknown> = new Set([
  'BETWEEN',
  'CASE',
  'CAST',
  'COLLATE',
  'COLUMN_REF',
  'COMPARISON',
  'CONJUNCTION',
  'CONSTANT',
  'FUNCTION',
  'LAMBDA',
  'LAMBDA_REF',
  'OPERATOR',
  'POSITIONAL_REFERENCE',
  'STAR',
  'SUBQUERY',
  'WINDOW',
]);

/** Values of `type` in parts of the tree that are no expressions. */
const STRUCTURE: ReadonlySet<unknown> = new Set([
  'SELECT_NODE',
  'SET_OPERATION_NODE',
  'RECURSIVE_CTE_NODE',
  'CTE_NODE',
  'BASE_TABLE',
  'SUBQUERY',
  'JOIN',
  'TABLE_FUNCTION',
  'EXPRESSION_LIST',
  'EMPTY',
  'PIVOT',
  'SHOW_REF',
  'LIMIT_MODIFIER',
  'LIMIT_PERCENT_MODIFIER',
  'ORDER_MODIFIER',
  'DISTINCT_MODIFIER',
  'ORDER_DEFAULT',
  'ASCENDING',
  'DESCENDING',
]);

/** Names that views of the engine itself have: a reference to one of them must not be one to its catalogue. */
const OF_THE_ENGINE = /^(?:duckdb_|pragma_|pg_|sqlite_)/;

/** Names that no reference to a file, a folder or an address has: where a CTE is not in scope, the engine looks for one. */
const OF_A_CTE = /^[\p{L}\p{M}\p{N}_ -]+$/u;

/**
 * Checks each part of a parsed query against what is allowed, and collects what it needs of which tables. Everything
 * that is not known is refused, so that a part which a new version of the engine adds is as well.
 *
 * @param tree answer of `json_serialize_sql`
 * @throws {RefusedPart}
 */
export function checkQuery(tree: unknown): CheckedQuery {
  const statements =
    isPart(tree) && Array.isArray(tree['statements']) ? (tree['statements'] as unknown[]) : [];
  const [statement] = statements;
  if (statements.length !== 1 || !isPart(statement))
    throw new RefusedPart('Give one statement: a query begins with SELECT, WITH, FROM or VALUES.', undefined);
  const found: Found = {
    ctes: new Set(),
    aliases: new Set(),
    tables: [],
    bare: [],
    columns: [],
    isAll: false,
  };
  walk(statement, found, false);
  for (const table of found.bare) requireCte(table, found.ctes);
  // The name of a table as a value is the whole row.
  const isRow = found.columns.some((name) => found.aliases.has(name.at(-1) ?? ''));
  return {
    tables: distinct(found.tables),
    columns: found.isAll || isRow ? undefined : [...new Set(found.columns.flat())],
    rows: found.tables.length === 1 ? enoughRows(statement['node']) : undefined,
  };
}

interface Found {
  readonly ctes: Set<string>;
  /** Names and aliases of tables, in small letters as all others. */
  readonly aliases: Set<string>;
  readonly tables: PlacedTable[];
  /** References without a schema. */
  readonly bare: Part[];
  readonly columns: string[][];
  isAll: boolean;
}

/** @param readsTable true below a SELECT that has a stored table in its FROM: `*` means all columns of that */
function walk(value: unknown, found: Found, readsTable: boolean): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, found, readsTable);
    return;
  }
  if (!isPart(value)) return;
  let inner = readsTable;
  const { type } = value;
  if ('class' in value) checkExpression(value, found, readsTable);
  else if (typeof type === 'string') {
    if (!STRUCTURE.has(type) && !/^[A-Z]+(?:_[A-Z]+)*_TYPE_INFO$/.test(type))
      throw new RefusedPart(`A query cannot have this part: ${type}.`, value['query_location']);
    if (type === 'SELECT_NODE')
      inner = hasTable(value['from_table']) || (readsTable && isEmpty(value['from_table']));
    if (type === 'BASE_TABLE') takeTable(value, found);
    if (type === 'TABLE_FUNCTION') {
      takeTableFunction(value, found, inner);
      return;
    }
    if (type === 'PIVOT' || type === 'SHOW_REF') found.isAll = true;
    if (type === 'SHOW_REF' && (!isPart(value['query']) || value['table_name'] !== ''))
      throw new RefusedPart('A query cannot list what is in the catalogue.', value['query_location']);
    if (type === 'JOIN') {
      if (value['ref_type'] === 'NATURAL') found.isAll = true;
      found.columns.push(...names(value['using_columns']).map((name) => [name]));
    }
    if (type === 'RECURSIVE_CTE_NODE' || type === 'CTE_NODE')
      addCte(found, value['cte_name'] ?? value['ctename']);
  }
  if (isPart(value['cte_map'])) {
    const { map } = value['cte_map'];
    for (const entry of Array.isArray(map) ? (map as unknown[]) : [])
      if (isPart(entry)) addCte(found, entry['key']);
  }
  for (const child of Object.values(value)) walk(child, found, inner);
}

function checkExpression(value: Part, found: Found, readsTable: boolean): void {
  const place = value['query_location'];
  if (value['class'] === 'PARAMETER')
    throw new RefusedPart('A query has no parameters: write the value itself.', place);
  if (!EXPRESSIONS.has(value['class']))
    throw new RefusedPart(`A query cannot have this part: ${String(value['class'])}.`, place);
  if ('function_name' in value) checkFunction(value, ALLOWED_FUNCTIONS);
  if (value['class'] === 'COLUMN_REF') found.columns.push(names(value['column_names']));
  // The place of a column in its table counts for these.
  if (value['class'] === 'POSITIONAL_REFERENCE') found.isAll = true;
  if (value['class'] === 'STAR' && readsTable) found.isAll = true;
}

function checkFunction(value: Part, allowed: ReadonlySet<string>): void {
  const name = String(value['function_name']).toLowerCase();
  const { schema = '', catalog = '' } = value;
  const isOwn = (schema === '' || schema === 'main') && catalog === '';
  if (!isOwn || !allowed.has(name) || (value['export_state'] ?? false) !== false)
    throw new RefusedPart(`A query cannot call the function "${name}".`, value['query_location']);
}

function takeTableFunction(value: Part, found: Found, readsTable: boolean): void {
  const { function: call, ...others } = value;
  if (!isPart(call) || call['class'] !== 'FUNCTION')
    throw new RefusedPart('A query cannot have this part: TABLE_FUNCTION.', value['query_location']);
  checkFunction(call, ALLOWED_TABLE_FUNCTIONS);
  // The function was looked at; its arguments, and the names it gives, are what any expression may be.
  const { children, filter, order_bys } = call;
  walk([children, filter, order_bys, Object.values(others)], found, readsTable);
}

function takeTable(value: Part, found: Found): void {
  const { catalog_name, schema_name, table_name, alias, at_clause, query_location } = value;
  if (catalog_name !== '' || typeof schema_name !== 'string' || typeof table_name !== 'string')
    throw new RefusedPart(
      'A table is named by its bucket and its own name, such as "in.c-main"."users".',
      query_location,
    );
  if (at_clause != null) throw new RefusedPart('A query reads the rows as they are now.', query_location);
  for (const name of [table_name, alias]) if (typeof name === 'string') found.aliases.add(name.toLowerCase());
  // Other names for columns are given by their places.
  if (!isNone(value['column_name_alias'])) found.isAll = true;
  if (schema_name === '') found.bare.push(value);
  else found.tables.push({ schema: schema_name, table: table_name, offset: offsetOf(query_location) });
}

function requireCte({ table_name, query_location }: Part, ctes: ReadonlySet<string>): void {
  const name = String(table_name);
  if (ctes.has(name.toLowerCase())) return;
  throw new RefusedPart(
    `The query has no table "${name}": name a table with its bucket, such as "in.c-main"."users".`,
    query_location,
  );
}

function addCte(found: Found, key: unknown): void {
  if (typeof key !== 'string' || key === '') return;
  const name = key.toLowerCase();
  if (OF_THE_ENGINE.test(name))
    throw new RefusedPart(`"${key}" is a name of the engine's own: take another one.`, undefined);
  if (!OF_A_CTE.test(name))
    throw new RefusedPart(
      `"${key}" could be a file: give it a name of letters, digits, _, - and spaces.`,
      undefined,
    );
  found.ctes.add(name);
}

/** Tells whether a FROM names a stored table, not only in a query inside. */
function hasTable(from: unknown): boolean {
  if (!isPart(from)) return false;
  if (from['type'] === 'BASE_TABLE') return from['schema_name'] !== '';
  return [from['left'], from['right'], from['source']].some(hasTable);
}

const isEmpty = (from: unknown): boolean => isPart(from) && from['type'] === 'EMPTY';

/** Rows of the only table that are enough for `SELECT columns FROM table LIMIT n`, which names no order. */
function enoughRows(node: unknown): number | undefined {
  if (!isPart(node) || node['type'] !== 'SELECT_NODE') return undefined;
  const { from_table: from, select_list: list, modifiers } = node;
  const isPlain =
    isPart(from) &&
    from['type'] === 'BASE_TABLE' &&
    from['sample'] === null &&
    ['where_clause', 'having', 'qualify', 'sample'].every((key) => node[key] === null) &&
    isNone(node['group_expressions']) &&
    isNone(node['group_sets']) &&
    node['aggregate_handling'] === 'STANDARD_HANDLING' &&
    Array.isArray(list) &&
    list.every((item) => isPart(item) && isPlainItem(item));
  if (!isPlain || !Array.isArray(modifiers)) return undefined;
  if (modifiers.length === 0) return Infinity;
  const [limit] = modifiers as unknown[];
  if (modifiers.length > 1 || !isPart(limit) || limit['type'] !== 'LIMIT_MODIFIER') return undefined;
  const rows = wholeNumber(limit['limit']);
  const passed = limit['offset'] === null ? 0 : wholeNumber(limit['offset']);
  return rows === undefined || passed === undefined ? undefined : rows + passed;
}

const isNone = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const isPlainItem = (item: Part): boolean =>
  item['class'] === 'COLUMN_REF' ||
  (item['class'] === 'STAR' && item['columns'] === false && isNone(item['replace_list']));

function wholeNumber(value: unknown): number | undefined {
  if (!isPart(value) || value['class'] !== 'CONSTANT' || !isPart(value['value'])) return undefined;
  const number = value['value']['value'];
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.map((name) => String(name).toLowerCase()) : [];
}

/** Returns each table once, where it is named first. */
function distinct(tables: readonly PlacedTable[]): PlacedTable[] {
  const first = new Map<string, PlacedTable>();
  for (const named of tables) {
    const key = JSON.stringify([named.schema, named.table]);
    if (!first.has(key)) first.set(key, named);
  }
  return [...first.values()];
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
