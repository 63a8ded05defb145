import { useState } from 'preact/hooks';
import { client, type Schedule } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { mayUse } from '../../data/session.ts';
import { at, navigate } from '../../route/router.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Checkbox, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Banner, EmptyState, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { Link } from '../../route/link.tsx';
import { toast } from '../../ui/toast.tsx';
import { By, RelativeTime, Text } from '../../ui/values.tsx';
import { cronText } from '../../ui/cron-words.ts';
import { AllSchedules } from './all-schedules.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { keyOf, nameOf, useSources } from '../../data/sources.ts';
import { zoned } from '../../ui/zoned.ts';

/** Lists the schedules of a source. */
export function Schedules({
  component,
  configuration,
}: {
  readonly component: string | undefined;
  readonly configuration: string | undefined;
}) {
  const sources = useSources();
  const isChosen = component !== undefined && configuration !== undefined;
  return (
    <Page
      title="Schedules"
      crumbs={[{ to: '/runs', text: 'Runs' }]}
      about={
        isChosen
          ? `When ${nameOf(sources.data, component, configuration)} runs by itself.`
          : 'When sources run by themselves.'
      }
    >
      <Loaded query={sources}>
        {(all) => (
          <>
            <div class="filters">
              <Select
                label="Source"
                value={isChosen ? keyOf(component, configuration) : ''}
                options={[
                  { value: '', text: 'All sources' },
                  ...all.map(({ key, name }) => ({ value: key, text: name })),
                ]}
                onChange={(value) => {
                  const source = all.find(({ key }) => key === value);
                  navigate(
                    source === undefined
                      ? '/runs/schedules'
                      : at`/runs/schedules/${source.component}/${source.configuration}`,
                  );
                }}
              />
            </div>
            {isChosen ? (
              <Of key={keyOf(component, configuration)} component={component} configuration={configuration} />
            ) : (
              <AllSchedules />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Of({ component, configuration }: { readonly component: string; readonly configuration: string }) {
  const [edited, setEdited] = useState<Schedule | 'new' | undefined>();
  const schedules = useQuery({
    key: ['schedules', component, configuration],
    load: async () => await client().configurations(component).schedules(configuration).list(),
    everyMs: 30_000,
    topic: ['schedules', 'runs'],
  });
  const add = mayUse(component) && (
    <Button kind="primary" icon="plus" onPress={() => setEdited('new')}>
      Add a schedule
    </Button>
  );
  return (
    <>
      <Loaded query={schedules}>
        {(all) =>
          all.length === 0 ? (
            <div class="card">
              <EmptyState icon="clock" title="It runs only when somebody starts it" action={add}>
                With a schedule it runs by itself, for example every day at 06:30.
              </EmptyState>
            </div>
          ) : (
            <div class="stack">
              <ul class="runs-schedules">
                {all.map((schedule) => (
                  <One
                    key={schedule.id}
                    schedule={schedule}
                    component={component}
                    configuration={configuration}
                    onEdit={() => setEdited(schedule)}
                  />
                ))}
              </ul>
              <div>{add}</div>
            </div>
          )
        }
      </Loaded>
      {edited !== undefined && (
        <ScheduleForm
          component={component}
          configuration={configuration}
          schedule={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </>
  );
}

function One({
  schedule,
  component,
  configuration,
  onEdit,
}: {
  readonly schedule: Schedule;
  readonly component: string;
  readonly configuration: string;
  readonly onEdit: () => void;
}) {
  const { id, cron, timeZone, rows, isEnabled, isPaused, nextTime, lastTime, creatorToken, refusal } =
    schedule;
  const [isDeleting, setDeleting] = useState(false);
  const canChange = mayUse(component);
  const group = () => client().configurations(component).schedules(configuration);
  const change = useAction(async (enabled: boolean) => {
    await group().update(id, { isEnabled: enabled });
    await invalidate('schedules');
  });
  const resume = useAction(async () => {
    await client().schedules.resume({ component, configuration });
    await invalidate('schedules');
  });
  const approve = useAction(async (version: number) => {
    await group().update(id, { ifVersion: version });
    await invalidate('schedules');
    return true;
  });
  const remove = useAction(async () => {
    await group().delete(id);
    return true;
  });
  return (
    <li class="card runs-schedule">
      <div class="spread">
        <h2>
          <Text>{cronText(cron)}</Text> <span class="muted small">{timeZone}</span>
        </h2>
        <span class="row">
          {isPaused && canChange && (
            <Button icon="run" isBusy={resume.isRunning} onPress={() => void resume.run(undefined)}>
              Resume
            </Button>
          )}
          <Checkbox
            label="Enabled"
            isSwitch
            isChecked={isEnabled}
            isDisabled={!canChange || change.isRunning}
            onChange={(enabled) => void change.run(enabled)}
          />
          {canChange && (
            <>
              <IconButton icon="edit" label="Change the schedule" onPress={onEdit} />
              <IconButton icon="trash" label="Delete the schedule" onPress={() => setDeleting(true)} />
            </>
          )}
        </span>
      </div>
      <p class="muted">
        {nextTime === null ? (
          isPaused ? (
            'It does not run while it is paused.'
          ) : isEnabled ? (
            'It never comes to run.'
          ) : (
            'It does not run while it is disabled.'
          )
        ) : (
          <>
            Next: {zoned(nextTime, timeZone)} (<RelativeTime value={nextTime} />)
          </>
        )}
        {lastTime !== null && <> · last: {zoned(lastTime, timeZone)}</>}
      </p>
      <p class="muted small">
        {rows.length === 0 ? (
          'All rows that are enabled'
        ) : (
          <>
            Only <Text>{rows.join(', ')}</Text>
          </>
        )}
        , with the rights of <By token={creatorToken} />
      </p>
      {refusal !== null && (
        <Banner
          kind="warn"
          action={
            canChange &&
            refusal.version !== null && (
              <Button
                isBusy={approve.isRunning}
                onPress={() =>
                  void approve.run(refusal.version ?? 0).then((done) => {
                    if (done === true) toast('The version is approved');
                  })
                }
              >
                {`Approve version ${refusal.version}`}
              </Button>
            )
          }
        >
          <p>
            <Link to={at`/runs/${refusal.run}`}>Its last run</Link> was refused.{' '}
            <Text>{refusal.message}</Text>
          </p>
          <p class="small">
            <Link to={at`/sources/${component}/${configuration}`}>Look at the source</Link>, then approve it:
            the schedule goes by your rights from then on.
          </p>
        </Banner>
      )}
      {approve.error !== undefined && <ErrorBanner error={approve.error} />}
      {resume.error !== undefined && <ErrorBanner error={resume.error} />}
      {change.error !== undefined && <ErrorBanner error={change.error} />}
      {isDeleting && (
        <Confirm
          title="Delete the schedule?"
          action="Delete the schedule"
          isBusy={remove.isRunning}
          error={remove.error}
          onClose={() => setDeleting(false)}
          onConfirm={() =>
            void remove.run(undefined).then(async (done) => {
              if (done !== true) return;
              setDeleting(false);
              toast('The schedule is deleted');
              await invalidate('schedules');
            })
          }
        >
          <p>{`“${cronText(cron)}” runs no more. Runs that it has asked for stay.`}</p>
        </Confirm>
      )}
    </li>
  );
}
