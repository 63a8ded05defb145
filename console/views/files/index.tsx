import { client, type File } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { Bytes, RelativeTime, Text } from '../../ui/values.tsx';

const COLUMNS: readonly Column<File>[] = [
  { id: 'name', title: 'File', width: 300, text: ({ name }) => name, sortBy: ({ name }) => name },
  { id: 'id', title: 'Id', width: 100, align: 'right', show: ({ id }) => id, sortBy: ({ id }) => id },
  {
    id: 'size',
    title: 'Size',
    width: 110,
    align: 'right',
    show: ({ sizeBytes }) => (sizeBytes === null ? '–' : <Bytes value={sizeBytes} />),
    sortBy: ({ sizeBytes }) => sizeBytes ?? -1,
  },
  { id: 'tags', title: 'Tags', width: 200, show: ({ tags }) => <Text>{tags.join(', ')}</Text> },
  {
    id: 'created',
    title: 'Created',
    width: 140,
    show: ({ created }) => <RelativeTime value={created} />,
    sortBy: ({ created }) => created,
  },
];

export default function Files() {
  const files = useQuery({
    key: ['files'],
    load: async () => await client().files.list({ limit: 200 }),
    everyMs: 30_000,
  });
  return (
    <Page title="Files" about="What was uploaded, and what exports have made; most are kept for some days.">
      <Loaded query={files}>
        {(all) =>
          all.length === 0 ? (
            <div class="card">
              <EmptyState icon="file" title="There are no files">
                Imports and exports leave files here for a while.
              </EmptyState>
            </div>
          ) : (
            <DataTable label="Files" columns={COLUMNS} rows={all} rowKey={({ id }) => String(id)} />
          )
        }
      </Loaded>
    </Page>
  );
}
