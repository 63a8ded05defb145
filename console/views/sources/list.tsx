import { useState } from 'preact/hooks';
import { client, type Configuration, type Run } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { matcher } from '../../data/search.ts';
import { currentSession, mayUse } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { Input, SearchField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { StatusBadge } from '../../ui/run-badges.tsx';
import { Badge, EmptyState, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { RelativeTime, Text, timeOf } from '../../ui/values.tsx';

interface Source {
  readonly component: string;
  readonly componentName: string;
  readonly configuration: Configuration;
}

/** The component of sources that are made here. */
const COMPONENT = 'ex-generic-v2';
/** More sources than this are on no page. */
const RUNS = 1000;

const placeOf = ({ component, configuration }: Source): string =>
  at`/sources/${component}/${configuration.id}`;
const keyOf = (component: string, configuration: string): string =>
  JSON.stringify([component, configuration]);
const changed = ({ configuration }: Source): number =>
  timeOf(configuration.currentVersion?.created ?? '') || 0;

function columnsWith(last: ReadonlyMap<string, Run>): readonly Column<Source>[] {
  return [
    {
      id: 'name',
      title: 'Source',
      width: 260,
      show: (source) => (
        <Link to={placeOf(source)}>
          <Text>{source.configuration.name}</Text>
        </Link>
      ),
      sortBy: ({ configuration }) => configuration.name,
    },
    {
      id: 'state',
      title: 'State',
      width: 110,
      show: ({ configuration }) =>
        configuration.isDisabled ? <Badge>disabled</Badge> : <Badge tone="good">enabled</Badge>,
    },
    {
      id: 'run',
      title: 'Last run',
      width: 140,
      show: ({ component, configuration }) => {
        const run = last.get(keyOf(component, configuration.id));
        if (run === undefined) return <span class="muted">–</span>;
        return (
          <Link to={at`/runs/${run.id}`} title={`Run ${run.id}`}>
            <StatusBadge run={run} />
          </Link>
        );
      },
    },
    {
      id: 'changed',
      title: 'Changed',
      width: 140,
      show: ({ configuration }) => <RelativeTime value={configuration.currentVersion?.created} />,
      sortBy: changed,
    },
    {
      id: 'id',
      title: 'Id',
      width: 180,
      text: ({ configuration }) => configuration.id,
    },
    {
      id: 'component',
      title: 'Component',
      width: 180,
      show: ({ componentName }) => <Text>{componentName}</Text>,
      sortBy: ({ componentName }) => componentName,
    },
  ];
}

async function loadSources(isDeleted: boolean): Promise<Source[]> {
  return (await client().usedComponents({ isDeleted })).flatMap(({ id, name, configurations }) =>
    configurations.map((configuration): Source => ({ component: id, componentName: name, configuration })),
  );
}

export function SourceList() {
  const { query } = usePlace();
  const search = query.get('search') ?? '';
  const isTrash = query.get('show') === 'trash';
  const [isMaking, setMaking] = useState(false);
  const sources = useQuery({
    key: ['sources', isTrash ? 'trash' : 'live'],
    load: async () => await loadSources(isTrash),
    everyMs: 30_000,
    topic: 'configurations',
  });
  const runs = useQuery({
    key: ['runs', 'last of sources'],
    load: async () => await client().runs.list({ isLast: true, limit: RUNS }),
    isEnabled: currentSession().runs && !isTrash,
    everyMs: 15_000,
    topic: 'runs',
  });
  const last = new Map((runs.data ?? []).map((run) => [keyOf(run.component, run.configuration), run]));
  const isFound = matcher(search);
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
        {(all) => {
          if (all.length === 0) return isTrash ? <EmptyTrash /> : <NoSources />;
          const found = all.filter(({ configuration, component }) =>
            isFound(`${configuration.name} ${configuration.id} ${component}`),
          );
          return (
            <>
              <div class="row">
                <SearchField
                  label="Search sources"
                  value={search}
                  onInput={(value) => setQuery({ search: value })}
                />
              </div>
              {found.length === 0 ? (
                <EmptyState icon="search" title="No source has that in its name or id" />
              ) : isTrash ? (
                <DataTable label="Deleted sources" columns={TRASH_COLUMNS} rows={found} rowKey={placeOf} />
              ) : (
                <DataTable
                  label="Sources"
                  columns={columnsWith(last)}
                  rows={found}
                  rowKey={placeOf}
                  onOpen={(source) => navigate(placeOf(source))}
                />
              )}
            </>
          );
        }}
      </Loaded>
      {isMaking && <NewSource onClose={() => setMaking(false)} />}
    </Page>
  );
}

const TRASH_COLUMNS: readonly Column<Source>[] = [
  { id: 'name', title: 'Source', width: 260, text: ({ configuration }) => configuration.name },
  { id: 'id', title: 'Id', width: 180, text: ({ configuration }) => configuration.id },
  {
    id: 'changed',
    title: 'Deleted',
    width: 140,
    show: ({ configuration }) => <RelativeTime value={configuration.currentVersion?.created} />,
  },
  {
    id: 'restore',
    title: 'Back',
    width: 140,
    show: (source) => mayUse(source.component) && <Restore source={source} />,
  },
];

function Restore({ source: { component, configuration } }: { readonly source: Source }) {
  const action = useAction(async () => {
    await client().configurations(component).restore(configuration.id);
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
