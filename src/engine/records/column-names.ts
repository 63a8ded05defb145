import { columnName as storedName } from '../../lib/names.ts';
import { shownText } from '../../lib/shown-text.ts';
import { columnName, safeName } from './names.ts';
import type { StructureNode } from './structure.ts';
import type { RecordTable } from './table.ts';

/** A column, and the place in the rows that it has its name from. */
interface NamedColumn {
  readonly path: string;
  readonly header: string;
  /** Another column had the name before. */
  readonly isRenamed: boolean;
}

const MOST_SHOWN = 10;
const MOST_LETTERS = 60;

/**
 * Describes the columns of a table whose names are empty, were taken by another column, or are one name in a storage.
 * The names stay those of the reference; undefined where there is nothing to say.
 */
export function doubtfulNames({ name, node, extras }: RecordTable): string | undefined {
  const columns = [...columnsOf(node, []), ...extras.named.map(([key, header]) => extraColumn(key, header))];
  const counts = new Map<string, number>();
  for (const column of columns) counts.set(stored(column), (counts.get(stored(column)) ?? 0) + 1);
  const doubtful = columns.filter(
    (column) => column.isRenamed || stored(column) === '' || (counts.get(stored(column)) ?? 0) > 1,
  );
  if (doubtful.length === 0) return undefined;
  const shown = doubtful
    .slice(0, MOST_SHOWN)
    .map(({ path, header }) => `“${excerpt(path)}” is “${header}”`)
    .join(', ');
  const more = doubtful.length > MOST_SHOWN ? ` and ${doubtful.length - MOST_SHOWN} more` : '';
  return (
    `Columns of the table “${name}” have names that are empty, or those of other columns: ${shown}${more}. ` +
    'Give the fields other names by “rename” of the job, or use a mapping'
  );
}

/** Returns the name by which a storage identifies a column. */
function stored({ header }: NamedColumn): string {
  return storedName(header).toLowerCase();
}

function* columnsOf(node: StructureNode, above: readonly string[]): Generator<NamedColumn> {
  for (const [key, child] of node.props) {
    const path = [...above, key];
    if (child.kind === 'object') yield* columnsOf(child, path);
    else {
      const header = child.name ?? '';
      yield { path: path.join('.'), header, isRenamed: header !== columnName(path) };
    }
  }
}

function extraColumn(key: string, header: string): NamedColumn {
  return { path: key, header, isRenamed: header !== safeName(key) };
}

function excerpt(path: string): string {
  const shown = shownText(path.slice(0, MOST_LETTERS)).toWellFormed();
  return path.length > MOST_LETTERS ? `${shown}…` : shown;
}
