import { useState } from 'preact/hooks';
import { client, type Table } from '../../data/client.ts';
import { forget, invalidate, useAction, useQuery } from '../../data/query.ts';
import { mayWrite } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { Banner, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { Bytes, Count, countText, plural, RelativeTime, Text } from '../../ui/values.tsx';
import { ColumnList } from './columns.tsx';
import { TableHistory } from './history.tsx';
import { ImportInto } from './import.tsx';
import { MetadataList } from './metadata.tsx';
import { Origin } from './origin.tsx';
import { Preview } from './preview.tsx';
import { columnsIn, isChosen, queryOf, readSelection } from './rows.ts';
import { bucketOf } from './table-columns.tsx';

const TABS = ['preview', 'columns', 'origin', 'history', 'metadata', 'import'] as const;

export function TablePage({ id }: { readonly id: string }) {
  const { query } = usePlace();
  const tab = TABS.find((name) => name === query.get('tab')) ?? 'preview';
  const table = useQuery({
    key: ['tables', id],
    load: async () => await client().tables.detail(id),
    everyMs: 30_000,
    topic: 'tables',
  });
  return (
    <Page
      title={id.slice(bucketOf(id).length + 1)}
      crumbs={[
        { to: '/tables', text: 'Tables' },
        { to: at`/tables/${bucketOf(id)}`, text: bucketOf(id) },
      ]}
      actions={table.data !== undefined && <Actions table={table.data} />}
      about={table.data !== undefined && <Facts table={table.data} />}
    >
      <Loaded query={table}>
        {(found) => (
          <Tabs
            label="Parts of the table"
            tabs={[
              { name: 'preview', text: 'Preview' },
              { name: 'columns', text: `Columns (${countText(found.columns?.length ?? 0)})` },
              { name: 'origin', text: 'Where it comes from' },
              ...(found.isAlias ? [] : [{ name: 'history', text: 'History' } as const]),
              { name: 'metadata', text: 'Metadata' },
              ...(mayWrite(bucketOf(id)) ? [{ name: 'import', text: 'Import' } as const] : []),
            ]}
            current={tab}
            onChange={(name) => setQuery({ tab: name === 'preview' ? undefined : name, version: undefined })}
          >
            {tab === 'preview' && <Preview table={found} />}
            {tab === 'columns' && <ColumnList table={found} />}
            {tab === 'origin' && <Origin table={found} />}
            {tab === 'history' && !found.isAlias && <TableHistory table={found} />}
            {tab === 'metadata' && (
              <MetadataList
                of={['tables', id]}
                canChange={mayWrite(bucketOf(id))}
                at={() => client().tables.metadata(id)}
              />
            )}
            {tab === 'import' &&
              (mayWrite(bucketOf(id)) ? (
                <ImportInto table={found} />
              ) : (
                <Banner>Your token may read this table, and not write into it.</Banner>
              ))}
          </Tabs>
        )}
      </Loaded>
    </Page>
  );
}

function Facts({ table }: { readonly table: Table }) {
  const { rowsCount, dataSizeBytes, primaryKey, lastImportDate, isAlias } = table;
  return (
    <span class="tables-facts">
      {isAlias && <span>Shows rows of another table</span>}
      {rowsCount !== null && (
        <span>
          <Count value={rowsCount} /> {rowsCount === 1 ? 'row' : 'rows'}
        </span>
      )}
      {dataSizeBytes !== null && <Bytes value={dataSizeBytes} />}
      <span>
        {primaryKey.length === 0 ? 'No primary key' : 'Primary key '}
        <Text>{primaryKey.join(', ')}</Text>
      </span>
      {lastImportDate !== null && (
        <span>
          <Link to={at`/tables/${table.id}?tab=origin`}>Last import</Link>{' '}
          <RelativeTime value={lastImportDate} />
        </span>
      )}
    </span>
  );
}

/** Kinds of files; all but CSV have the types of the table. */
const FILES: readonly { readonly text: string; readonly form: Form }[] = [
  { text: 'CSV', form: { gzip: false } },
  { text: 'CSV, gzip', form: { gzip: true } },
  { text: 'Parquet', form: { gzip: false, fileType: 'parquet' } },
  { text: 'JSON lines', form: { gzip: false, fileType: 'jsonl' } },
  { text: 'Excel', form: { gzip: false, fileType: 'xlsx' } },
];

interface Form {
  readonly gzip: boolean;
  readonly fileType?: 'jsonl' | 'parquet' | 'xlsx';
}

/** Shows the actions of a table. The browser stores an export as it arrives: the page holds nothing of it. */
function Actions({ table }: { readonly table: Table }) {
  const { id, columns: all } = table;
  const { query } = usePlace();
  const selection = readSelection(query, table);
  const isPart = isChosen(selection);
  const [isDeleting, setDeleting] = useState(false);
  const download = useAction(async (form: Form) => {
    // The export is made first, so that what may fail is told here; the same one is then found by the download.
    const chosen = columnsIn(query, table) ?? all;
    const asked = { ...form, ...queryOf(selection), columns: chosen };
    await client().tables.export(id, asked);
    const link = document.createElement('a');
    link.href = client().tableDataUrl(id, asked);
    link.download = '';
    link.click();
  });
  const remove = useAction(async () => {
    await client().tables.delete(id, { force: true });
    return true;
  });
  return (
    <>
      <Menu
        icon="download"
        label={isPart ? 'Export these rows' : 'Export'}
        isLabelShown
        isBusy={download.isRunning}
        items={FILES.map(({ text, form }) => ({ icon: 'file', text, act: () => void download.run(form) }))}
      />
      {mayWrite(bucketOf(id)) && (
        <Button kind="danger" icon="trash" onPress={() => setDeleting(true)}>
          Delete
        </Button>
      )}
      {download.error !== undefined && <ErrorBanner error={download.error} />}
      {isDeleting && (
        <Confirm
          title="Delete this table?"
          action="Delete the table"
          typed={id}
          isBusy={remove.isRunning}
          error={remove.error}
          onClose={() => setDeleting(false)}
          onConfirm={() =>
            void remove.run(undefined).then((isDone) => {
              if (isDone !== true) return;
              forget('tables', id);
              toast('The table is deleted.');
              navigate(at`/tables/${bucketOf(id)}`);
              void invalidate('tables');
            })
          }
        >
          <p>
            <Text>{id}</Text> goes, with{' '}
            {table.rowsCount === null ? 'what refers to it' : `its ${plural(table.rowsCount, 'row')}`}, and
            with all tables that show its rows under another name. This cannot be taken back.
          </p>
        </Confirm>
      )}
    </>
  );
}
