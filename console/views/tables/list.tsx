import { useMemo, useState } from 'preact/hooks';
import { client, type Bucket, type Table } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { matcher } from '../../data/search.ts';
import { mayMakeBuckets, mayUse, mayWrite } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { Input, SearchField, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { useServiceList } from '../../ui/service-list.ts';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { Bytes, bytesText, Count, plural, RelativeTime, Text } from '../../ui/values.tsx';
import { ALL_COLUMNS, bucketOf } from './table-columns.tsx';

/** Lists all buckets or all tables; the address holds the choice. */
export function TableList() {
  const { query } = usePlace();
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      title="Tables"
      about="What was extracted or imported, in buckets."
      actions={
        <>
          {mayMakeBuckets() && (
            <Button icon="plus" onPress={() => setMaking(true)}>
              New bucket
            </Button>
          )}
          {mayWrite() && (
            <ButtonLink to="/tables/new" icon="upload">
              Load a file
            </ButtonLink>
          )}
        </>
      }
    >
      {query.get('by') === 'bucket' ? <Buckets /> : <Tables />}
      {isMaking && <NewBucket onClose={() => setMaking(false)} />}
    </Page>
  );
}

/** Tables of a page of the list. */
const PART = 200;

/** Orders of the service, by column; true for those that begin with the largest. */
const ORDERS = { id: false, rows: true, size: true, changed: true } as const;

/** Shows tables page by page, searched and sorted by the service. */
function Tables() {
  const { search, typed, onType, sort, onSort, asked } = useServiceList(PART, ORDERS);
  const found = useQuery({
    key: ['tables', 'brief', asked],
    load: async () => await client().tables.brief(asked),
    everyMs: 30_000,
    topic: 'tables',
    keepsPrevious: true,
  });
  return (
    <Loaded query={found}>
      {({ tables, total, totalBytes }) => (
        <>
          <Tools
            label="Search tables"
            search={typed}
            onSearch={onType}
            about={`${plural(total, 'table')} · ${bytesText(totalBytes)}`}
          />
          {total === 0 && search === '' ? (
            <NoTables />
          ) : total === 0 ? (
            <div class="card">
              <EmptyState icon="search" title={`No table has “${search}” in its name`} />
            </div>
          ) : (
            <>
              <DataTable
                label="Tables"
                columns={ALL_COLUMNS}
                rows={tables}
                rowKey={({ id }) => id}
                onOpen={({ id }) => navigate(at`/tables/${id}`)}
                sort={sort}
                onSort={onSort}
              />
              <Pager noun="tables" size={PART} shown={tables.length} total={total} />
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Shows buckets with what is in them. */
function Buckets() {
  const search = usePlace().query.get('search') ?? '';
  const tables = useQuery({
    key: ['tables'],
    load: async () => await client().tables.list({ include: [] }),
    everyMs: 30_000,
    topic: 'tables',
  });
  const buckets = useQuery({
    key: ['buckets'],
    load: async () => await client().buckets.list(),
    everyMs: 30_000,
    topic: 'tables',
  });
  const groups = useMemo(() => groupsOf(buckets.data ?? [], tables.data ?? []), [buckets.data, tables.data]);
  return (
    <Loaded query={tables}>
      {(all) => {
        if (all.length === 0 && groups.length === 0) return <NoTables />;
        const isFound = matcher(search);
        const found = groups.filter(({ id }) => isFound(id));
        return (
          <>
            <Tools
              label="Search buckets"
              search={search}
              onSearch={(text) => setQuery({ search: text })}
              about={plural(found.length, 'bucket')}
            />
            {found.length === 0 ? (
              <div class="card">
                <EmptyState
                  icon="search"
                  title={search === '' ? 'There are no buckets yet' : `No bucket has “${search}” in its name`}
                />
              </div>
            ) : (
              <DataTable
                label="Buckets"
                columns={BUCKET_COLUMNS}
                rows={found}
                rowKey={({ id }) => id}
                onOpen={({ id }) => navigate(at`/tables/${id}`)}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** Search, and the choice between tables and buckets. */
function Tools({
  label,
  search,
  onSearch,
  about,
}: {
  readonly label: string;
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly about: string;
}) {
  const by = usePlace().query.get('by') === 'bucket' ? 'bucket' : 'table';
  return (
    <div class="spread">
      <div class="row tables-tools">
        <SearchField label={label} value={search} onInput={onSearch} />
        <Select
          label="Show"
          isLabelHidden
          value={by}
          options={[
            { value: 'table', text: 'All tables' },
            { value: 'bucket', text: 'By bucket' },
          ]}
          onChange={(value) =>
            setQuery({
              by: value === 'bucket' ? value : undefined,
              // As it is typed: the address may not have it yet.
              search,
              sort: undefined,
              down: undefined,
              offset: undefined,
            })
          }
        />
      </div>
      <span class="muted small number" role="status">
        {about}
      </span>
    </div>
  );
}

function NoTables() {
  return (
    <div class="card">
      <EmptyState
        icon="table"
        title="There are no tables yet"
        action={
          mayUse() && (
            <ButtonLink to="/new" kind="primary" icon="plus">
              New source
            </ButtonLink>
          )
        }
      >
        Tables come from runs of a source, or from a CSV file that you load.
      </EmptyState>
    </div>
  );
}

interface Group {
  readonly id: string;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
  readonly changed: string;
}

function groupsOf(buckets: readonly Bucket[], tables: readonly Table[]): readonly Group[] {
  const found = new Map<string, Group>(
    buckets.map(({ id }) => [id, { id, tables: 0, rows: 0, bytes: 0, changed: '' }]),
  );
  for (const table of tables) {
    const group = found.get(bucketOf(table.id));
    if (group === undefined) continue;
    const changed = table.lastChangeDate ?? '';
    found.set(group.id, {
      id: group.id,
      tables: group.tables + 1,
      rows: group.rows + (table.rowsCount ?? 0),
      bytes: group.bytes + (table.dataSizeBytes ?? 0),
      changed: changed > group.changed ? changed : group.changed,
    });
  }
  return [...found.values()];
}

const BUCKET_COLUMNS: readonly Column<Group>[] = [
  {
    id: 'bucket',
    title: 'Bucket',
    width: 190,
    grow: 2,
    show: ({ id }) => (
      <Link to={at`/tables/${id}`}>
        <Text>{id}</Text>
      </Link>
    ),
    sortBy: ({ id }) => id,
  },
  {
    id: 'tables',
    title: 'Tables',
    width: 72,
    align: 'right',
    show: ({ tables }) => <Count value={tables} />,
    sortBy: ({ tables }) => tables,
  },
  {
    id: 'rows',
    title: 'Rows',
    width: 96,
    align: 'right',
    show: ({ rows }) => <Count value={rows} />,
    sortBy: ({ rows }) => rows,
  },
  {
    id: 'size',
    title: 'Size',
    width: 100,
    align: 'right',
    show: ({ bytes }) => <Bytes value={bytes} />,
    sortBy: ({ bytes }) => bytes,
  },
  {
    id: 'changed',
    title: 'Changed',
    width: 140,
    show: ({ changed }) => <RelativeTime value={changed} />,
    sortBy: ({ changed }) => changed,
  },
];

function NewBucket({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [stage, setStage] = useState<'in' | 'out'>('in');
  const make = useAction(async () => await client().buckets.create({ name, stage }));
  return (
    <FormDialog
      title="New bucket"
      action="Make the bucket"
      isBusy={make.isRunning}
      error={make.error}
      onSubmit={() =>
        void make.run(undefined).then(async (bucket) => {
          if (bucket === undefined) return;
          await invalidate('buckets');
          navigate(at`/tables/${bucket.id}`);
        })
      }
      onClose={onClose}
    >
      <Input
        label="Name"
        hint="Letters, digits, hyphens and underscores."
        value={name}
        onInput={setName}
        isRequired
        hasFocus
        isMono
      />
      <Select
        label="Stage"
        value={stage}
        options={[
          { value: 'in', text: 'in: what comes from elsewhere' },
          { value: 'out', text: 'out: what was made of it' },
        ]}
        onChange={setStage}
      />
    </FormDialog>
  );
}
