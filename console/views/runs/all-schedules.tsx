import { useState } from 'preact/hooks';
import { client, type ListedSchedule } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { Link } from '../../route/link.tsx';
import { at, navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { cronText } from '../../ui/cron-words.ts';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Badge, EmptyState, ErrorBanner, Loaded, type Tone } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { plural, RelativeTime, Text } from '../../ui/values.tsx';
import { Calendar } from './calendar.tsx';

/** Most schedules that are listed: the service gives no more at once. */
const MOST = 1000;

const WAITS: Readonly<Record<ListedSchedule['waitsFor'], readonly [tone: Tone, text: string]>> = {
  time: ['good', 'its time'],
  run: ['active', 'its run'],
  resume: ['warn', 'being resumed'],
  enabling: ['neutral', 'being enabled'],
  configuration: ['warn', 'its source, which is disabled'],
  approval: ['bad', 'somebody to approve the version'],
  nothing: ['neutral', 'nothing: it has no more times'],
};

const COLUMNS: readonly Column<ListedSchedule>[] = [
  {
    id: 'source',
    title: 'Source',
    width: 240,
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
    width: 260,
    text: ({ cron, timeZone }) => `${cronText(cron)} (${timeZone})`,
  },
  {
    id: 'waits',
    title: 'Waits for',
    width: 230,
    show: ({ waitsFor, run }) => {
      const [tone, text] = WAITS[waitsFor];
      return (
        <Badge tone={tone}>{run === null ? text : <Link to={at`/runs/${run}`}>{`run ${run}`}</Link>}</Badge>
      );
    },
    sortBy: ({ waitsFor }) => WAITS[waitsFor][1],
  },
  {
    id: 'next',
    title: 'Next',
    width: 130,
    show: ({ nextTime }) => <RelativeTime value={nextTime} />,
  },
  {
    id: 'last',
    title: 'Last',
    width: 130,
    show: ({ lastTime }) => <RelativeTime value={lastTime} />,
  },
];

/** Shows the schedules of all sources, with what they wait for and the calendar of the next day. */
export function AllSchedules() {
  const schedules = useQuery({
    key: ['schedules', 'all'],
    load: async () => await client().schedules.list({ limit: MOST }),
    everyMs: 30_000,
    keepsPrevious: true,
  });
  return (
    <Loaded query={schedules}>
      {(all) =>
        all.length === 0 ? (
          <div class="card">
            <EmptyState icon="clock" title="Nothing runs by itself">
              Choose a source above to give it a schedule: it runs then every day, for example, at 06:30.
            </EmptyState>
          </div>
        ) : (
          <>
            <Hold schedules={all} />
            <Calendar schedules={all} />
            <DataTable
              label="Schedules"
              columns={COLUMNS}
              rows={all}
              rowKey={({ id }) => id}
              onOpen={({ component, configuration }) =>
                navigate(at`/runs/schedules/${component}/${configuration}`)
              }
            />
            {all.length === MOST && <p class="muted">The first {MOST} are shown.</p>}
          </>
        )
      }
    </Loaded>
  );
}

function Hold({ schedules }: { readonly schedules: readonly ListedSchedule[] }) {
  const [isAsking, setAsking] = useState(false);
  const active = schedules.filter(({ isEnabled, isPaused }) => isEnabled && !isPaused).length;
  const paused = schedules.filter(({ isPaused }) => isPaused).length;
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
          {active + paused < schedules.length && `, ${schedules.length - active - paused} disabled`}.
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
