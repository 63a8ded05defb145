import { useState } from 'preact/hooks';
import { client, type ConfigurationBrief } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, usePlace } from '../../route/router.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { Input, SearchField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager } from '../../ui/pager.tsx';
import { StatusBadge, VerdictBadge } from '../../ui/run-badges.tsx';
import { useServiceList } from '../../ui/service-list.ts';
import { SourceLink } from '../../ui/source-link.tsx';
import { Badge, EmptyState, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { plural, RelativeTime, Text } from '../../ui/values.tsx';

/** The component of sources that are made here. */
const COMPONENT = 'ex-generic-v2';
/** Sources of a page of the list. */
const PART = 100;

const placeOf = ({ component, configuration }: ConfigurationBrief): string =>
  at`/sources/${component}/${configuration}`;

const COLUMNS: readonly Column<ConfigurationBrief>[] = [
  {
    id: 'name',
    title: 'Source',
    width: 180,
    grow: 3,
    show: (source) => <SourceLink {...source} />,
    sortBy: ({ name }) => name,
  },
  { id: 'run', title: 'Last run', width: 178, grow: 0.5, show: ({ lastRun }) => <LastRun run={lastRun} /> },
  {
    id: 'state',
    title: 'State',
    width: 110,
    grow: 0,
    show: ({ isDisabled }) => (isDisabled ? <Badge>disabled</Badge> : <Badge tone="good">enabled</Badge>),
  },
  {
    id: 'changed',
    title: 'Changed',
    width: 140,
    grow: 0,
    show: ({ changedTime }) => <RelativeTime value={changedTime} />,
    sortBy: ({ changedTime }) => changedTime ?? '',
  },
  { id: 'id', title: 'Id', width: 180, text: ({ configuration }) => configuration },
  {
    id: 'component',
    title: 'Component',
    width: 180,
    show: ({ componentName }) => <Text>{componentName}</Text>,
    sortBy: ({ componentName }) => componentName,
  },
];

function LastRun({ run }: { readonly run: ConfigurationBrief['lastRun'] }) {
  if (run === null) return <span class="muted">–</span>;
  const { id, verdict, endTime, isAccepted } = run;
  return (
    <>
      <Link to={at`/runs/${id}`} title={`Run ${id}`}>
        {verdict === 'doubtful' ? (
          <VerdictBadge verdict={verdict} isAccepted={isAccepted} />
        ) : (
          <StatusBadge run={run} />
        )}
      </Link>{' '}
      {endTime !== null && (
        <span class="muted small">
          <RelativeTime value={endTime} />
        </span>
      )}
    </>
  );
}

/** Orders of the service, by column; true for those that begin with the newest. */
const ORDERS = { name: false, changed: true, component: false } as const;

/** Lists sources page by page, searched and sorted by the service, or those in the trash. */
export function SourceList() {
  const { query } = usePlace();
  const isTrash = query.get('show') === 'trash';
  const { search, typed, onType, sort, onSort, asked } = useServiceList(PART, ORDERS);
  const [isMaking, setMaking] = useState(false);
  const sources = useQuery({
    key: ['sources', isTrash ? 'trash' : 'live', asked],
    load: async () => await client().configurationBriefs({ isDeleted: isTrash, ...asked }),
    everyMs: 15_000,
    topic: ['configurations', 'runs'],
    keepsPrevious: true,
  });
  return (
    <Page
      title={isTrash ? 'Trash' : 'Sources'}
      crumbs={isTrash ? [{ to: '/sources', text: 'Sources' }] : []}
      about={
        isTrash
          ? 'Sources that were deleted. They do not run; restored, they are as they were.'
          : 'Configurations: what is asked of which API, and which tables come of it.'
      }
      actions={
        !isTrash && (
          <>
            <ButtonLink to="/sources?show=trash" icon="trash">
              Trash
            </ButtonLink>
            {mayUse(COMPONENT) && (
              <Button icon="plus" onPress={() => setMaking(true)}>
                From scratch
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded query={sources}>
        {({ all, total, configurations }) => {
          const list = { rows: configurations, rowKey: placeOf, sort, onSort };
          if (all === 0) return isTrash ? <EmptyTrash /> : <NoSources />;
          return (
            <>
              <div class="spread">
                <div class="row sources-tools">
                  <SearchField label="Search sources" value={typed} onInput={onType} />
                </div>
                <span class="muted small">{plural(total, 'source')}</span>
              </div>
              {total === 0 ? (
                <EmptyState icon="search" title={`No source has “${search}” in its name or id`} />
              ) : isTrash ? (
                <DataTable label="Deleted sources" columns={TRASH_COLUMNS} {...list} />
              ) : (
                <DataTable
                  label="Sources"
                  columns={COLUMNS}
                  onOpen={(source) => navigate(placeOf(source))}
                  {...list}
                />
              )}
              <Pager noun="sources" size={PART} shown={configurations.length} total={total} />
            </>
          );
        }}
      </Loaded>
      {isMaking && <NewSource onClose={() => setMaking(false)} />}
    </Page>
  );
}

const TRASH_COLUMNS: readonly Column<ConfigurationBrief>[] = [
  { id: 'name', title: 'Source', width: 200, grow: 3, text: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: 'restore',
    title: 'Back',
    width: 120,
    grow: 0,
    show: (source) => mayUse(source.component) && <Restore source={source} />,
  },
  {
    id: 'changed',
    title: 'Deleted',
    width: 140,
    grow: 0,
    show: ({ changedTime }) => <RelativeTime value={changedTime} />,
    sortBy: ({ changedTime }) => changedTime ?? '',
  },
  { id: 'id', title: 'Id', width: 180, text: ({ configuration }) => configuration },
];

function Restore({ source: { component, configuration } }: { readonly source: ConfigurationBrief }) {
  const action = useAction(async () => {
    await client().configurations(component).restore(configuration);
    await invalidate('sources');
    toast('The source is back');
  });
  if (action.error !== undefined)
    return <span class="field-problem">This did not work: is it gone already?</span>;
  return (
    <Button isBusy={action.isRunning} onPress={() => void action.run(undefined)}>
      Restore
    </Button>
  );
}

function EmptyTrash() {
  return (
    <div class="card">
      <EmptyState
        icon="trash"
        title="The trash is empty"
        action={<ButtonLink to="/sources">Go to the sources</ButtonLink>}
      >
        A source that is deleted comes here first, and can be taken out again.
      </EmptyState>
    </div>
  );
}

function NoSources() {
  return (
    <div class="card">
      <EmptyState
        icon="source"
        title="There are no sources yet"
        action={
          mayUse(COMPONENT) && (
            <ButtonLink to="/new" kind="primary" icon="plus">
              New source
            </ButtonLink>
          )
        }
      >
        A source begins with a link to an API: paste one, and look at what it answers.
      </EmptyState>
    </div>
  );
}

function NewSource({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const action = useAction(async () => {
    const made = await client()
      .configurations(COMPONENT)
      .create({
        name: name.trim(),
        configuration: { parameters: { api: { baseUrl: address.trim() }, config: { jobs: [] } } },
      });
    await invalidate('sources');
    navigate(at`/sources/${COMPONENT}/${made.id}?tab=settings`);
  });
  return (
    <FormDialog
      title="A source from scratch"
      action="Create the source"
      isReady={name.trim() !== ''}
      isBusy={action.isRunning}
      error={action.error}
      onSubmit={() => void action.run(undefined)}
      onClose={onClose}
    >
      <p class="muted">
        Everything is filled in by hand. <Link to="/new">New source</Link> looks at the API for you instead.
      </p>
      <Input label="Name" value={name} onInput={setName} isRequired hasFocus />
      <Input
        label="Base address"
        value={address}
        onInput={setAddress}
        isMono
        placeholder="https://api.example.com/v1/"
      />
    </FormDialog>
  );
}
