import { useMemo, useState } from 'preact/hooks';
import type { TriedTable } from '../../data/client.ts';
import { DataTable, type Column } from '../data-table.tsx';
import { EmptyState } from '../states.tsx';
import { countText, Text } from '../values.tsx';
import type { Landing } from './landing.ts';

/** Shows the resulting tables, with the lines of a chosen row marked. */
export function TrialTables({
  tables,
  landing,
}: {
  readonly tables: readonly TriedTable[];
  readonly landing: Landing;
}) {
  const [chosen, setChosen] = useState(0);
  const table = tables[chosen] ?? tables[0];
  const columns = useMemo(() => (table === undefined ? [] : columnsOf(table)), [table]);
  if (table === undefined) return <EmptyState icon="table" title="No table came of it" />;
  const marked = landing.get(table);
  return (
    <>
      <div class="row">
        {tables.map((each, i) => {
          const lines = landing.get(each)?.size ?? 0;
          return (
            <button
              key={`${each.row ?? ''}/${each.name}`}
              type="button"
              class="tree-mark"
              aria-pressed={each === table}
              onClick={() => setChosen(i)}
            >
              <Text>{each.row === undefined ? each.name : `${each.row} / ${each.name}`}</Text>
              {lines > 0 && ` · ${countText(lines)} of the row`}
            </button>
          );
        })}
      </div>
      <DataTable
        label={`Table ${table.name}`}
        columns={columns}
        rows={table.rows}
        rowKey={(_, i) => `${i}`}
        rowHeight={32}
        marked={marked}
      />
      <p class="muted small">
        {countText(table.rowsCount)} {table.rowsCount === 1 ? 'row' : 'rows'}
        {table.rows.length < table.rowsCount && `, the first ${countText(table.rows.length)} shown`}
        {table.incremental && ', added to what is there'}
      </p>
    </>
  );
}

function columnsOf({ columns, primaryKey }: TriedTable): Column<readonly string[]>[] {
  return columns.map((name, i) => ({
    id: `${i}`,
    title: primaryKey.includes(name) ? `${name} (key)` : name,
    width: 140,
    text: (row) => row[i] ?? '',
  }));
}
