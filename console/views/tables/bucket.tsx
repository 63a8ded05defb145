import { useState } from 'preact/hooks';
import { client } from '../../data/client.ts';
import { forget, invalidate, useAction, useQuery } from '../../data/query.ts';
import { mayManage, mayWrite } from '../../data/session.ts';
import { matcher } from '../../data/search.ts';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SearchField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { bytesText, plural, Text } from '../../ui/values.tsx';
import { ImportAsTable } from './import.tsx';
import { MetadataList } from './metadata.tsx';
import { TABLE_COLUMNS } from './table-columns.tsx';

const TABS = ['tables', 'metadata'] as const;

export function BucketPage({ id }: { readonly id: string }) {
  const { query } = usePlace();
  const search = query.get('search') ?? '';
  const tab = TABS.find((name) => name === query.get('tab')) ?? 'tables';
  const [isDeleting, setDeleting] = useState(false);
  const tables = useQuery({
    key: ['tables', 'of', id],
    load: async () => await client().tables.list({ bucket: id, include: [] }),
    everyMs: 30_000,
    topic: 'tables',
  });
  const remove = useAction(async () => {
    await client().buckets.delete(id, { force: true });
    return true;
  });
  return (
    <Page
      title={id}
      crumbs={[{ to: '/tables', text: 'Tables' }]}
      actions={
        mayManage(id) && (
          <Button kind="danger" icon="trash" onPress={() => setDeleting(true)}>
            Delete
          </Button>
        )
      }
    >
      <Tabs
        label="Parts of the bucket"
        tabs={[
          { name: 'tables', text: 'Tables' },
          { name: 'metadata', text: 'Metadata' },
        ]}
        current={tab}
        onChange={(name) => setQuery({ tab: name === 'tables' ? undefined : name })}
      >
        {tab === 'metadata' ? (
          <MetadataList
            of={['buckets', id]}
            canChange={mayWrite(id)}
            at={() => client().buckets.metadata(id)}
          />
        ) : (
          <Loaded query={tables}>
            {(all) => {
              const found = all.filter(({ name }) => matcher(search)(name));
              const size = found.reduce((sum, { dataSizeBytes }) => sum + (dataSizeBytes ?? 0), 0);
              return (
                <div class="stack">
                  {all.length === 0 ? (
                    <div class="card">
                      <EmptyState icon="table" title="This bucket is empty">
                        Tables come from runs of a source, or from a CSV file.
                      </EmptyState>
                    </div>
                  ) : (
                    <>
                      <div class="spread">
                        <SearchField
                          label="Search tables"
                          value={search}
                          onInput={(text) => setQuery({ search: text })}
                        />
                        <span class="muted small number">
                          {plural(found.length, 'table')} · {bytesText(size)}
                        </span>
                      </div>
                      <div class="tables-short">
                        <DataTable
                          label={`Tables of ${id}`}
                          columns={TABLE_COLUMNS}
                          rows={found}
                          rowKey={(table) => table.id}
                          onOpen={(table) => navigate(at`/tables/${table.id}`)}
                        />
                      </div>
                    </>
                  )}
                  {mayWrite(id) && <ImportAsTable into={async () => id} />}
                </div>
              );
            }}
          </Loaded>
        )}
      </Tabs>
      {isDeleting && (
        <Confirm
          title="Delete this bucket?"
          action="Delete the bucket"
          typed={id}
          isBusy={remove.isRunning}
          error={remove.error}
          onClose={() => setDeleting(false)}
          onConfirm={() =>
            void remove.run(undefined).then((isDone) => {
              if (isDone !== true) return;
              forget('tables', 'of', id);
              forget('buckets', id);
              toast('The bucket is deleted.');
              navigate('/tables');
              void Promise.all([invalidate('tables'), invalidate('buckets')]);
            })
          }
        >
          <p>
            <Text>{id}</Text>
            {tables.data === undefined || tables.data.length === 0
              ? ' goes.'
              : ` goes, with ${plural(tables.data.length, 'table')} and all their rows.`}{' '}
            This cannot be taken back.
          </p>
        </Confirm>
      )}
    </Page>
  );
}
