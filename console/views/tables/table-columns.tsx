import type { TableBrief } from '../../data/client.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import type { Column } from '../../ui/data-table.tsx';
import { Bytes, Count, RelativeTime, Text } from '../../ui/values.tsx';

/** Facts of a table that lists show. */
type Listed = Pick<TableBrief, 'id' | 'lastChangeDate' | 'name' | 'primaryKey'> & {
  readonly rowsCount: number | null;
  readonly dataSizeBytes: number | null;
};

/** Columns of lists of tables. */
export const TABLE_COLUMNS: readonly Column<Listed>[] = [
  {
    id: 'table',
    title: 'Table',
    width: 240,
    grow: 3,
    show: ({ id, name }) => (
      <Link to={at`/tables/${id}`}>
        <Text>{name}</Text>
      </Link>
    ),
    sortBy: ({ name }) => name,
  },
  {
    id: 'rows',
    title: 'Rows',
    width: 110,
    align: 'right',
    show: ({ rowsCount }) => (rowsCount === null ? '–' : <Count value={rowsCount} />),
    sortBy: ({ rowsCount }) => rowsCount ?? -1,
  },
  {
    id: 'size',
    title: 'Size',
    width: 100,
    align: 'right',
    show: ({ dataSizeBytes }) => (dataSizeBytes === null ? '–' : <Bytes value={dataSizeBytes} />),
    sortBy: ({ dataSizeBytes }) => dataSizeBytes ?? -1,
  },
  {
    id: 'changed',
    title: 'Changed',
    width: 140,
    grow: 0,
    show: ({ lastChangeDate }) => <RelativeTime value={lastChangeDate} />,
    sortBy: ({ lastChangeDate }) => lastChangeDate ?? '',
  },
  {
    id: 'key',
    title: 'Primary key',
    width: 180,
    show: ({ primaryKey }) => <Text>{primaryKey.join(', ')}</Text>,
    sortBy: ({ primaryKey }) => primaryKey.join(),
  },
];

/** The same with the bucket in front, where tables of several are listed: the service sorts by some of them. */
export const ALL_COLUMNS: readonly Column<Listed>[] = [
  {
    id: 'id',
    title: 'Bucket',
    width: 160,
    show: ({ id }) => (
      <Link to={at`/tables/${bucketOf(id)}`} class="tables-bucket-link">
        <Text>{bucketOf(id)}</Text>
      </Link>
    ),
    sortBy: ({ id }) => id,
  },
  ...TABLE_COLUMNS.map(({ sortBy, ...column }) =>
    ['rows', 'size', 'changed'].includes(column.id) && sortBy !== undefined ? { ...column, sortBy } : column,
  ),
];

export const bucketOf = (tableId: string): string => tableId.slice(0, tableId.lastIndexOf('.'));
