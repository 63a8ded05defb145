import type { ViewProps } from '../../app/views.ts';
import { client, type Configuration } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { SearchField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Badge, EmptyState, Loaded } from '../../ui/states.tsx';
import { RelativeTime, Text } from '../../ui/values.tsx';

interface Source {
  readonly component: string;
  readonly componentName: string;
  readonly configuration: Configuration;
}

const placeOf = ({ component, configuration }: Source): string =>
  at`/sources/${component}/${configuration.id}`;

const COLUMNS: readonly Column<Source>[] = [
  {
    id: 'name',
    title: 'Source',
    width: 300,
    show: (source) => (
      <Link to={placeOf(source)}>
        <Text>{source.configuration.name}</Text>
      </Link>
    ),
    sortBy: ({ configuration }) => configuration.name,
  },
  {
    id: 'component',
    title: 'Component',
    width: 200,
    show: ({ componentName }) => <Text>{componentName}</Text>,
    sortBy: ({ componentName }) => componentName,
  },
  {
    id: 'version',
    title: 'Version',
    width: 90,
    align: 'right',
    show: ({ configuration }) => configuration.version,
    sortBy: ({ configuration }) => configuration.version,
  },
  {
    id: 'changed',
    title: 'Changed',
    width: 140,
    show: ({ configuration }) => <RelativeTime value={configuration.currentVersion?.created} />,
  },
  {
    id: 'state',
    title: 'State',
    width: 120,
    show: ({ configuration }) =>
      configuration.isDisabled ? <Badge>disabled</Badge> : <Badge tone="good">enabled</Badge>,
  },
];

export default function Sources({ parts: [component, configuration] }: ViewProps) {
  if (component !== undefined && configuration !== undefined)
    return <SourceDetail component={component} id={configuration} />;
  return <SourceList />;
}

function SourceList() {
  const search = usePlace().query.get('search') ?? '';
  const sources = useQuery({
    key: ['sources'],
    load: async () =>
      (await client().usedComponents()).flatMap(({ id, name, configurations }) =>
        configurations.map((configuration): Source => ({
          component: id,
          componentName: name,
          configuration,
        })),
      ),
    everyMs: 30_000,
  });
  return (
    <Page title="Sources" about="Configurations: what is asked of which API, and which tables come of it.">
      <Loaded query={sources}>
        {(all) => {
          if (all.length === 0)
            return (
              <div class="card">
                <EmptyState
                  icon="source"
                  title="There are no sources yet"
                  action={
                    <ButtonLink to="/new" kind="primary" icon="plus">
                      New source
                    </ButtonLink>
                  }
                >
                  A source begins with a link to an API: paste one, and look at what it answers.
                </EmptyState>
              </div>
            );
          const text = search.toLowerCase();
          const found = all.filter(({ configuration, component }) =>
            `${configuration.name} ${configuration.id} ${component}`.toLowerCase().includes(text),
          );
          return (
            <>
              <SearchField
                label="Search sources"
                value={search}
                onInput={(value) => setQuery({ search: value })}
              />
              <DataTable
                label="Sources"
                columns={COLUMNS}
                rows={found}
                rowKey={placeOf}
                onOpen={(source) => navigate(placeOf(source))}
              />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function SourceDetail({ component, id }: { readonly component: string; readonly id: string }) {
  const source = useQuery({
    key: ['sources', component, id],
    load: async () => await client().configurations(component).detail(id),
  });
  return (
    <Page title={source.data?.name ?? id} crumbs={[{ to: '/sources', text: 'Sources' }]}>
      <Loaded query={source}>
        {({ configuration }) => (
          <pre class="card whole-text" tabIndex={0} aria-label="Configuration">
            {JSON.stringify(configuration, undefined, 2)}
          </pre>
        )}
      </Loaded>
    </Page>
  );
}
