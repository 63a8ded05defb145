import { useState } from 'preact/hooks';
import { client, type ScheduleBrief, type ScheduleBriefs } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate, setQuery, usePlace } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { cronText } from '../../ui/cron-words.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { SearchField, Select } from '../../ui/field.tsx';
import { Pager } from '../../ui/pager.tsx';
import { useServiceList } from '../../ui/service-list.ts';
import { Badge, EmptyState, ErrorBanner, Loaded, type Tone } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { plural, RelativeTime, Text } from '../../ui/values.tsx';
import { Calendar } from './calendar.tsx';

/** Schedules of a page of the list. */
const PART = 100;

const WAITS: Readonly<Record<ScheduleBrief['waitsFor'], readonly [tone: Tone, text: string]>> = {
  time: ['good', 'its time'],
  run: ['active', 'its run'],
  resume: ['warn', 'being resumed'],
  enabling: ['neutral', 'being enabled'],
  configuration: ['warn', 'its source, which is disabled'],
  approval: ['bad', 'somebody to approve the version'],
  nothing: ['neutral', 'nothing: it has no more times'],
};

const COLUMNS: readonly Column<ScheduleBrief>[] = [
  {
    id: 'name',
    title: 'Source',
    width: 220,
    show: ({ component, configuration, name }) => (
      <Link to={at`/runs/schedules/${component}/${configuration}`}>
        <Text>{name}</Text>
      </Link>
    ),
    sortBy: ({ name }) => name,
  },
  {
    id: 'when',
    title: 'When',
    width: 320,
    text: ({ cron, timeZone }) => `${cronText(cron)} (${timeZone})`,
  },
  {
    id: 'waits',
    title: 'Waits for',
    width: 190,
    show: ({ waitsFor, run }) => {
      const [tone, text] = WAITS[waitsFor];
      return (
        <Badge tone={tone}>{run === null ? text : <Link to={at`/runs/${run}`}>{`run ${run}`}</Link>}</Badge>
      );
    },
  },
  {
    id: 'next',
    title: 'Next',
    width: 130,
    show: ({ nextTime }) => <RelativeTime value={nextTime} />,
    sortBy: ({ nextTime }) => nextTime ?? '',
  },
  {
    id: 'last',
    title: 'Last',
    width: 130,
    show: ({ lastTime }) => <RelativeTime value={lastTime} />,
    sortBy: ({ lastTime }) => lastTime ?? '',
  },
];

/** Orders of the service, by column; true for those that begin with the newest. */
const ORDERS = { name: false, next: false, last: true } as const;

const STANDINGS = ['active', 'paused', 'disabled'] as const;

/** Shows the schedules of all sources page by page, with what they wait for and the calendar of the next day. */
export function AllSchedules() {
  const { query } = usePlace();
  const { typed, onType, sort, onSort, asked } = useServiceList(PART, ORDERS);
  const standing = STANDINGS.find((value) => value === query.get('standing'));
  const schedules = useQuery({
    key: ['schedules', 'all', standing, asked],
    load: async () =>
      await client().schedules.brief({ ...asked, ...(standing === undefined ? {} : { standing }) }),
    everyMs: 30_000,
    topic: ['schedules', 'runs'],
    keepsPrevious: true,
  });
  return (
    <Loaded query={schedules}>
      {({ counts, total, schedules: part }) =>
        counts.active + counts.paused + counts.disabled === 0 ? (
          <div class="card">
            <EmptyState icon="clock" title="Nothing runs by itself">
              Choose a source above to give it a schedule: it runs then every day, for example, at 06:30.
            </EmptyState>
          </div>
        ) : (
          <>
            <Hold counts={counts} />
            <Calendar />
            <div class="filters">
              <SearchField label="Search schedules" value={typed} onInput={onType} />
              <Select
                label="Standing"
                isLabelHidden
                value={standing ?? ''}
                options={[
                  { value: '', text: 'All schedules' },
                  ...STANDINGS.map((value) => ({ value, text: `${value} (${counts[value]})` })),
                ]}
                onChange={(value) => setQuery({ standing: value, offset: undefined })}
              />
            </div>
            {total === 0 ? (
              <div class="card">
                <EmptyState icon="search" title="No schedule is like that">
                  Search for something else, or show all schedules.
                </EmptyState>
              </div>
            ) : (
              <DataTable
                label="Schedules"
                columns={COLUMNS}
                rows={part}
                rowKey={({ id }) => id}
                onOpen={({ component, configuration }) =>
                  navigate(at`/runs/schedules/${component}/${configuration}`)
                }
                sort={sort}
                onSort={onSort}
              />
            )}
            <Pager noun="schedules" size={PART} shown={part.length} total={total} />
          </>
        )
      }
    </Loaded>
  );
}

function Hold({ counts: { active, paused, disabled } }: Pick<ScheduleBriefs, 'counts'>) {
  const [isAsking, setAsking] = useState(false);
  const pause = useAction(async () => {
    const count = await client().schedules.pause();
    setAsking(false);
    toast(`${plural(count, 'schedule')} paused`);
    await invalidate('schedules');
  });
  const resume = useAction(async () => {
    const count = await client().schedules.resume();
    toast(`${plural(count, 'schedule')} resumed`);
    await invalidate('schedules');
  });
  return (
    <div class="stack">
      <div class="row">
        <span role="status">
          {plural(active, 'schedule')} run{active === 1 ? 's' : ''} by {active === 1 ? 'its' : 'their'} times
          {paused > 0 && `, ${paused} paused`}
          {disabled > 0 && `, ${disabled} disabled`}.
        </span>
        {mayUse() && active > 0 && <Button onPress={() => setAsking(true)}>Pause all</Button>}
        {mayUse() && paused > 0 && (
          <Button icon="run" isBusy={resume.isRunning} onPress={() => void resume.run(undefined)}>
            Resume all
          </Button>
        )}
      </div>
      {resume.error !== undefined && <ErrorBanner error={resume.error} />}
      {isAsking && (
        <Confirm
          title="Pause all schedules?"
          action="Pause them"
          isBusy={pause.isRunning}
          error={pause.error}
          onClose={() => setAsking(false)}
          onConfirm={() => void pause.run(undefined)}
        >
          {`No source runs by itself until they are resumed: ${plural(active, 'schedule')}. Runs that are at work or wait go on, and times that pass meanwhile are not made up for.`}
        </Confirm>
      )}
    </div>
  );
}
