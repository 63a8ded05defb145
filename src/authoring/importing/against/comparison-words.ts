import { counted } from '../../../lib/counted.ts';
import type { StreamComparison } from '../report.ts';
import type { RowExample, TableComparison } from './compare-tables.ts';

/** Judges a comparison, and puts it into words. */
export function describeComparison(table: TableComparison): StreamComparison {
  const isDifferent = table.changed + table.missing + table.more > 0;
  const hasColumns =
    table.missingColumns.length + table.moreColumns.length + Object.keys(table.renamed).length > 0;
  return {
    result: isDifferent ? 'differs' : hasColumns ? 'other columns' : 'equal',
    lines: linesOf(table),
    table,
  };
}

function linesOf(table: TableComparison): readonly string[] {
  const { here, there, equal, otherwise, changed, missing, more, examples, differing, key } = table;
  const columns = Object.entries(differing)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} in ${count === changed ? 'all' : count}`);
  return [
    `${counted(here, 'row')} here, ${there} there: ${equal} equal`,
    ...(otherwise === 0 ? [] : [`${otherwise} equal, with times, decimals or zones written in another way`]),
    ...(changed === 0
      ? []
      : [
          `${counted(changed, 'row')} with the same ${key.join(', ')} and other values: ${columns.join(', ')}`,
          ...shown(examples.changed),
        ]),
    ...(missing === 0 ? [] : [`${counted(missing, 'row')} there, and not here`, ...shown(examples.missing)]),
    ...(more === 0 ? [] : [`${counted(more, 'row')} here, and not there`, ...shown(examples.more)]),
    ...listed('columns there alone', table.missingColumns),
    ...listed('columns here alone', table.moreColumns),
    ...listed(
      'columns that are called in another way there',
      Object.entries(table.renamed).map(([here, there]) => `${here} is ${there}`),
    ),
  ];
}

function shown(examples: readonly RowExample[]): readonly string[] {
  return examples.map(({ place, text }) => `  ${place}: ${text}`);
}

function listed(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what}: ${names.join(', ')}`];
}
