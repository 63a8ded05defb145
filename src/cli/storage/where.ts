import { RunError } from '../../lib/errors.ts';
import type { RowsQuery, WhereFilter } from '../../storage/client/index.ts';
import { listed, valued, type Args, type Option } from '../command.ts';
import { countArg } from '../shared.ts';

/** Options that say which columns and rows. */
export const rowOptions = {
  columns: valued('A,B', 'Only these columns, in this order'),
  limit: valued('ROWS', 'At most so many rows'),
  where: listed(
    'CONDITION',
    'Only rows that this holds for, such as status=open or age>=18 (= != < <= > >=; a number is compared as one); may be given several times',
  ),
  at: valued(
    'VERSION',
    'Rows as they were, in a lake: the number of a version from the history, or a time such as “-2 hours”',
  ),
  'changed-since': valued('TIME', 'Only rows that changed since: a date, a Unix time, or “-2 days”'),
} as const satisfies Record<string, Option>;

export function rowsQuery(args: Args): RowsQuery {
  const columns = namesArg(args, 'columns');
  const limit = countArg(args, 'limit');
  const changedSince = args.text('changed-since');
  const at = args.text('at');
  const whereFilters = whereArg(args);
  return {
    ...(columns === undefined ? {} : { columns }),
    ...(limit === undefined ? {} : { limit }),
    ...(at === undefined ? {} : { at }),
    ...(changedSince === undefined ? {} : { changedSince }),
    ...(whereFilters.length === 0 ? {} : { whereFilters }),
  };
}

/** Returns names from a text with commas between them. */
export function namesArg(args: Args, name: string): readonly string[] | undefined {
  const names = args
    .text(name)
    ?.split(',')
    .map((each) => each.trim());
  return names?.filter((each) => each !== '');
}

const OPERATORS = { '=': 'eq', '!=': 'ne', '>=': 'ge', '<=': 'le', '>': 'gt', '<': 'lt' } as const;

/**
 * Parses conditions, which must all hold; `=` given twice for one column means either of the values, `!=` none of them.
 */
export function whereArg(args: Args, signs: readonly string[] = Object.keys(OPERATORS)): WhereFilter[] {
  const filters = new Map<string, WhereFilter>();
  for (const text of args.list('where')) {
    const [, column = '', sign = '', value = ''] = /^\s*(\w+)\s*(!=|>=|<=|=|>|<)(.*)$/s.exec(text) ?? [];
    if (!signs.includes(sign)) throw invalid(text, signs);
    const operator = OPERATORS[sign as keyof typeof OPERATORS]; // the expression admits no other
    const isSet = operator === 'eq' || operator === 'ne';
    const key = isSet ? `${operator} ${column}` : `${operator} ${column} ${filters.size}`;
    const values = [...(filters.get(key)?.values ?? []), value];
    const isNumber = !isSet && /^-?\d+(?:\.\d+)?$/.test(value);
    filters.set(key, { column, operator, values, ...(isNumber ? { dataType: 'DECIMAL' } : {}) });
  }
  return [...filters.values()];
}

function invalid(text: string, signs: readonly string[]): RunError {
  return new RunError('command.invalid', `--where is a column, a sign and a value, and not “${text}”.`, {
    hint: `Write for example --where status=open; the signs are ${signs.join(' ')}`,
  });
}
