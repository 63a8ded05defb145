import { useMemo, useState } from 'preact/hooks';
import { client, type MetadataItem, type Table, type TableProfile } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { matcher } from '../../data/search.ts';
import { setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SearchField, TextArea } from '../../ui/field.tsx';
import { Badge, Banner, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { countText, KeyValue, RelativeTime, Text } from '../../ui/values.tsx';
import { PROVIDER } from './metadata.tsx';

type Profiled = TableProfile['columns'][number];

interface Row {
  readonly name: string;
  readonly type: string;
  readonly isKey: boolean;
  readonly description: string;
  readonly provider: string;
  readonly profile: Profiled | undefined;
  readonly rowsLooked: number;
}

/** Most columns that the service looks at at a time. */
const MOST_PROFILED = 200;
const DESCRIPTION = 'KBC.description';

export function ColumnList({ table }: { readonly table: Table }) {
  const search = usePlace().query.get('search') ?? '';
  const [opened, setOpened] = useState<string | undefined>();
  const profile = useQuery({
    key: ['tables', table.id, 'profile'],
    // A question without data is none to the cache.
    load: async () => (await client().tables.lastProfile(table.id)) ?? null,
  });
  const rows = useMemo(() => rowsOf(table, profile.data ?? undefined), [table, profile.data]);
  const found = rows.filter(({ name }) => matcher(search)(name));
  const chosen = found.slice(0, MOST_PROFILED).map(({ name }) => name);
  const look = useAction(async () => {
    const isAll = chosen.length === rows.length;
    await client().tables.profile(table.id, isAll ? {} : { columns: chosen });
    await profile.refetch();
  });
  const shown = rows.find(({ name }) => name === opened);
  return (
    <div class="stack">
      <div class="spread">
        <SearchField label="Search columns" value={search} onInput={(text) => setQuery({ search: text })} />
        <div class="row">
          {profile.data && (
            <span class="muted small">
              Values looked at <RelativeTime value={profile.data.created} />
              {!profile.data.isWhole && `, the first ${countText(profile.data.rowsLooked)} rows`}
            </span>
          )}
          {profile.data?.isCurrent === false && <Badge tone="warn">Rows have changed since</Badge>}
          <Button
            kind={profile.data?.isCurrent === true ? 'default' : 'primary'}
            icon="search"
            isBusy={look.isRunning}
            isDisabled={chosen.length === 0}
            onPress={() => void look.run(undefined)}
          >
            Look at the values
          </Button>
        </div>
      </div>
      {found.length > MOST_PROFILED && (
        <Banner>
          The values of {MOST_PROFILED} columns can be looked at at a time: the first ones of this list.
          Search to choose others.
        </Banner>
      )}
      {look.error !== undefined && <ErrorBanner error={look.error} />}
      <Loaded query={profile}>
        {() => (
          <DataTable
            label={`Columns of ${table.id}`}
            columns={COLUMNS}
            rows={found}
            rowKey={({ name }) => name}
            onOpen={({ name }) => setOpened(name)}
          />
        )}
      </Loaded>
      {shown !== undefined && (
        <ColumnDetail key={shown.name} table={table} row={shown} onClose={() => setOpened(undefined)} />
      )}
    </div>
  );
}

/** Tells whether no value comes twice: none is more frequent than another then. */
const isAllDistinct = ({ mostFrequent }: Profiled): boolean => (mostFrequent[0]?.count ?? 0) < 2;

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    title: 'Column',
    width: 220,
    show: ({ name, isKey }) => (
      <span class="tables-name">
        <Text>{name}</Text>
        {isKey && (
          <Badge tone="active" isPlain>
            key
          </Badge>
        )}
      </span>
    ),
  },
  { id: 'type', title: 'Type', width: 110, show: ({ type }) => <Text>{type}</Text> },
  {
    id: 'empty',
    title: 'Empty',
    width: 130,
    show: ({ profile, rowsLooked }) =>
      profile && (
        <Bar part={profile.emptyCount} of={rowsLooked} tone={profile.emptyCount > 0 ? 'warn' : 'good'} />
      ),
    sortBy: ({ profile }) => profile?.emptyCount ?? -1,
  },
  {
    id: 'distinct',
    title: 'Different',
    width: 130,
    show: ({ profile, rowsLooked }) =>
      profile && <Bar part={profile.distinctCount} of={rowsLooked} tone="accent" />,
    sortBy: ({ profile }) => profile?.distinctCount ?? -1,
  },
  { id: 'smallest', title: 'Smallest', width: 140, text: ({ profile }) => profile?.smallest ?? '' },
  { id: 'largest', title: 'Largest', width: 140, text: ({ profile }) => profile?.largest ?? '' },
  {
    id: 'frequent',
    title: 'Most frequent',
    width: 180,
    show: ({ profile }) =>
      profile === undefined ? undefined : isAllDistinct(profile) ? (
        <span class="muted">all differ</span>
      ) : (
        <Text>{profile.mostFrequent[0]?.value ?? ''}</Text>
      ),
  },
  { id: 'description', title: 'Description', width: 200, text: ({ description }) => description },
];

/** Shows a number, and its share of the whole. */
function Bar({ part, of, tone }: { readonly part: number; readonly of: number; readonly tone: string }) {
  const percent = of === 0 ? 0 : Math.round((part / of) * 100);
  return (
    <span class="tables-bar" title={`${countText(part)} of ${countText(of)} rows: ${percent} %`}>
      <span class="number">{countText(part)}</span>
      <svg width="60" height="6" aria-hidden="true" class={`tables-bar-${tone}`}>
        <rect width="60" height="6" rx="3" class="tables-bar-all" />
        <rect width={(Math.min(percent, 100) / 100) * 60} height="6" rx="3" class="tables-bar-part" />
      </svg>
    </span>
  );
}

function ColumnDetail({
  table,
  row,
  onClose,
}: {
  readonly table: Table;
  readonly row: Row;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState(row.description);
  const save = useAction(async () => {
    await client()
      .tables.columnMetadata(table.id, row.name)
      .set([{ key: DESCRIPTION, value: text }], row.provider);
    await invalidate('tables', table.id);
    toast('The description is saved.');
  });
  const { profile } = row;
  const most = profile?.mostFrequent[0]?.count ?? 0;
  return (
    <Dialog title={row.name} onClose={onClose} form="side">
      <KeyValue
        items={[
          ['Type', <Text>{row.type}</Text>],
          ...(row.isKey ? ([['Key', 'Part of the primary key']] as const) : []),
          ...(profile === undefined
            ? []
            : ([
                ['Empty', `${countText(profile.emptyCount)} of ${countText(row.rowsLooked)} rows`],
                ['Different values', countText(profile.distinctCount)],
                ['Numbers', profile.isNumeric ? 'All values are numbers' : 'Not all values are numbers'],
                ['Smallest', <Text>{profile.smallest ?? '–'}</Text>],
                ['Largest', <Text>{profile.largest ?? '–'}</Text>],
                ['Longest', `${countText(profile.longest)} characters`],
              ] as const)),
        ]}
      />
      {profile !== undefined && isAllDistinct(profile) && profile.distinctCount > 0 && (
        <p class="muted">No value comes twice.</p>
      )}
      {profile !== undefined && !isAllDistinct(profile) && (
        <div class="stack">
          <h3>Most frequent</h3>
          <ul class="tables-frequent">
            {profile.mostFrequent.map(({ value, count }) => (
              <li key={value}>
                <span class="tables-frequent-text">
                  {value === '' ? <span class="muted">empty</span> : <Text>{value.slice(0, 200)}</Text>}
                </span>
                <Bar part={count} of={most} tone="accent" />
              </li>
            ))}
          </ul>
        </div>
      )}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save.run(undefined);
        }}
      >
        <TextArea label="Description" value={text} onInput={setText} rows={3} />
        {save.error !== undefined && <ErrorBanner error={save.error} />}
        <div class="row">
          <Button type="submit" isBusy={save.isRunning} isDisabled={text === row.description}>
            Save the description
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function rowsOf(table: Table, profile: TableProfile | undefined): readonly Row[] {
  const profiled = new Map(profile?.columns.map((column) => [column.name, column]));
  // More of the answer than the type of a table in lists says.
  const { definition, columnMetadata } = table as Omit<Table, 'definition'> & {
    readonly definition?: {
      readonly columns?: readonly {
        readonly name: string;
        readonly definition?: { readonly type?: string; readonly length?: string };
      }[];
    };
    readonly columnMetadata?: Readonly<Record<string, readonly MetadataItem[]>>;
  };
  const types = new Map(
    definition?.columns?.map((column) => [
      column.name,
      `${column.definition?.type ?? ''}${column.definition?.length ? `(${column.definition.length})` : ''}`,
    ]),
  );
  return (table.columns ?? []).map((name) => {
    const note = columnMetadata?.[name]?.findLast(({ key }) => key === DESCRIPTION);
    return {
      name,
      type: types.get(name) ?? 'text',
      isKey: table.primaryKey.includes(name),
      description: note?.value ?? '',
      provider: note?.provider ?? PROVIDER,
      profile: profiled.get(name),
      rowsLooked: profile?.rowsLooked ?? 0,
    };
  });
}
