import { useState } from 'preact/hooks';
import type { ViewProps } from '../../app/views.ts';
import { client, type Table } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { SearchField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { Bytes, bytesText, Count, countText, KeyValue, RelativeTime, Text } from '../../ui/values.tsx';

export default function Tables({ parts: [id] }: ViewProps) {
  return id === undefined ? <TableList /> : <TableDetail id={id} />;
}

const COLUMNS: readonly Column<Table>[] = [
  {
    id: 'table',
    title: 'Table',
    width: 320,
    show: ({ id }) => (
      <Link to={at`/tables/${id}`}>
        <Text>{id}</Text>
      </Link>
    ),
    sortBy: ({ id }) => id,
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
    show: ({ lastChangeDate }) => <RelativeTime value={lastChangeDate} />,
    sortBy: ({ lastChangeDate }) => lastChangeDate ?? '',
  },
  {
    id: 'key',
    title: 'Primary key',
    width: 180,
    show: ({ primaryKey }) => <Text>{primaryKey.join(', ')}</Text>,
  },
];

function TableList() {
  const search = usePlace().query.get('search') ?? '';
  const tables = useQuery({
    key: ['tables'],
    load: async () => await client().tables.list({ include: ['buckets'] }),
    everyMs: 30_000,
  });
  return (
    <Page title="Tables" about="What was extracted or imported, in buckets.">
      <Loaded query={tables}>
        {(all) => {
          if (all.length === 0)
            return (
              <div class="card">
                <EmptyState
                  icon="table"
                  title="There are no tables yet"
                  action={
                    <ButtonLink to="/new" kind="primary" icon="plus">
                      New source
                    </ButtonLink>
                  }
                >
                  Tables come from runs of a source, or from files that are imported.
                </EmptyState>
              </div>
            );
          const found = all.filter(({ id }) => id.toLowerCase().includes(search.toLowerCase()));
          const size = all.reduce((sum, { dataSizeBytes }) => sum + (dataSizeBytes ?? 0), 0);
          return (
            <>
              <div class="spread">
                <SearchField
                  label="Search tables"
                  value={search}
                  onInput={(text) => setQuery({ search: text })}
                />
                <span class="muted small number">
                  {countText(found.length)} {found.length === 1 ? 'table' : 'tables'} · {bytesText(size)}
                </span>
              </div>
              <DataTable
                label="Tables"
                columns={COLUMNS}
                rows={found}
                rowKey={({ id }) => id}
                onOpen={({ id }) => navigate(at`/tables/${id}`)}
              />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function TableDetail({ id }: { readonly id: string }) {
  const [limit] = useState(100);
  const table = useQuery({ key: ['tables', id], load: async () => await client().tables.detail(id) });
  const preview = useQuery({
    key: ['tables', id, 'preview', limit],
    load: async () => await client().tables.preview(id, { limit }),
  });
  return (
    <Page title={id} crumbs={[{ to: '/tables', text: 'Tables' }]}>
      <Loaded query={table}>
        {({ rowsCount, dataSizeBytes, primaryKey, lastImportDate }) => (
          <KeyValue
            items={[
              ['Rows', rowsCount === null ? '–' : <Count value={rowsCount} />],
              ['Size', dataSizeBytes === null ? '–' : <Bytes value={dataSizeBytes} />],
              ['Primary key', <Text>{primaryKey.join(', ') || '–'}</Text>],
              ['Last import', <RelativeTime value={lastImportDate} />],
            ]}
          />
        )}
      </Loaded>
      <Loaded query={preview}>
        {({ columns, rows }) => (
          <DataTable
            label={`First rows of ${id}`}
            columns={columns.map((name, index) => ({
              id: name,
              title: name,
              text: (row: readonly string[]) => row[index] ?? '',
            }))}
            rows={rows}
            rowKey={(_, index) => String(index)}
            rowHeight={32}
          />
        )}
      </Loaded>
    </Page>
  );
}
