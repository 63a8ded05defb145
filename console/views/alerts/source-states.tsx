import { client, type SourceCondition, type SourceState } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { SearchField, Select } from '../../ui/field.tsx';
import { Pager } from '../../ui/pager.tsx';
import { useServiceList } from '../../ui/service-list.ts';
import { SourceLink } from '../../ui/source-link.tsx';
import { Badge, EmptyState, Loaded } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/values.tsx';
import { minutesText } from './words.ts';
import './alerts.css';

const PART = 100;

const CONDITIONS: readonly {
  readonly value: SourceCondition;
  readonly text: string;
  readonly tone: 'bad' | 'good' | 'neutral' | 'warn';
}[] = [
  { value: 'failed', text: 'failed', tone: 'bad' },
  { value: 'late', text: 'late', tone: 'warn' },
  { value: 'doubtful', text: 'in doubt', tone: 'warn' },
  { value: 'neverRun', text: 'never run', tone: 'neutral' },
  { value: 'fresh', text: 'fresh', tone: 'good' },
];

const placeOf = ({ component, configuration }: SourceState): string =>
  at`/sources/${component}/${configuration}`;

const none = <span class="muted">–</span>;

const COLUMNS: readonly Column<SourceState>[] = [
  {
    id: 'name',
    title: 'Source',
    width: 260,
    grow: 3,
    show: (source) => <SourceLink {...source} />,
    sortBy: ({ name }) => name,
  },
  {
    id: 'state',
    title: 'State',
    width: 120,
    show: ({ state }) => {
      const { text, tone } = CONDITIONS.find(({ value }) => value === state) ?? {
        text: state,
        tone: 'neutral',
      };
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  {
    id: 'lastLoad',
    title: 'Last load',
    width: 140,
    sortBy: ({ lastLoadTime }) => lastLoadTime ?? '',
    show: ({ lastLoadTime }) => (lastLoadTime === null ? none : <RelativeTime value={lastLoadTime} />),
  },
  {
    id: 'next',
    title: 'Next run',
    width: 140,
    sortBy: ({ nextTime }) => nextTime ?? '',
    show: ({ nextTime, isPaused }) =>
      isPaused ? <Badge>paused</Badge> : nextTime === null ? none : <RelativeTime value={nextTime} />,
  },
  {
    id: 'lastRun',
    title: 'Last run',
    width: 110,
    sortBy: ({ lastRunTime }) => lastRunTime ?? '',
    show: ({ lastRun }) => (lastRun === null ? none : <Link to={at`/runs/${lastRun}`}>{lastRun}</Link>),
  },
  {
    id: 'late',
    title: 'Late after',
    width: 120,
    show: ({ lateMinutes }) => (lateMinutes === null ? none : minutesText(lateMinutes)),
  },
  { id: 'id', title: 'Id', width: 180, text: ({ configuration }) => configuration },
];

/** Orders of the service, by column; true for those that begin with the newest. */
const ORDERS = { name: false, lastLoad: true, next: false, lastRun: true } as const;

/** Lists how sources ran last and how old their data is, those that need a look first. */
export function SourceStates() {
  const { query } = usePlace();
  const { search, typed, onType, sort, onSort, asked } = useServiceList(PART, ORDERS);
  const state = query.get('state') ?? '';
  const condition = CONDITIONS.find(({ value }) => value === state)?.value;
  const states = useQuery({
    key: ['runs', 'states', state, asked],
    load: async () =>
      await client().runs.states({
        ...asked,
        ...(condition === undefined ? {} : { state: [condition] }),
        ...(state === 'paused' ? { isPaused: true } : {}),
      }),
    everyMs: 15_000,
    topic: ['alerts', 'runs', 'schedules'],
    keepsPrevious: true,
  });
  return (
    <Loaded query={states}>
      {({ counts, paused, sources, total }) => (
        <div class="stack alerts-states">
          <div class="filters">
            <SearchField label="Search sources" value={typed} onInput={onType} />
            <Select
              label="State"
              isLabelHidden
              value={condition ?? (state === 'paused' ? state : '')}
              options={[
                { value: '', text: 'Any state' },
                ...CONDITIONS.map(({ value, text }) => ({ value, text: `${text} (${counts[value]})` })),
                { value: 'paused', text: `paused (${paused})` },
              ]}
              onChange={(value) => setQuery({ state: value, offset: undefined })}
            />
          </div>
          {total === 0 ? (
            <div class="card">
              <EmptyState
                icon="source"
                title={state + search === '' ? 'There are no sources yet' : 'No source is like that'}
              >
                {state + search === ''
                  ? 'Their runs, and how old their data is, are seen here.'
                  : 'Choose another state, or search for something else.'}
              </EmptyState>
            </div>
          ) : (
            <>
              <DataTable
                label="State of the sources"
                columns={COLUMNS}
                rows={sources}
                rowKey={placeOf}
                onOpen={(source) => navigate(placeOf(source))}
                sort={sort}
                onSort={onSort}
              />
              <Pager noun="sources" size={PART} shown={sources.length} total={total} />
            </>
          )}
        </div>
      )}
    </Loaded>
  );
}
