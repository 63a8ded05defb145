import { Cron } from 'croner';
import { useState } from 'preact/hooks';
import { client, type Schedule } from '../../data/client.ts';
import { invalidate, useAction } from '../../data/query.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Input, Select } from '../../ui/field.tsx';
import { ErrorBanner } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { cronOf, cronText, DAYS, rhythmOf, type Rhythm } from '../../ui/cron-words.ts';
import { RowsOf } from './start-run.tsx';
import { isZone, zoned } from '../../ui/zoned.ts';

const KINDS: readonly { readonly value: Rhythm['kind']; readonly text: string }[] = [
  { value: 'daily', text: 'Every day' },
  { value: 'workdays', text: 'Monday to Friday' },
  { value: 'weekly', text: 'Every week' },
  { value: 'monthly', text: 'Every month' },
  { value: 'hourly', text: 'Every hour' },
  { value: 'minutes', text: 'Every few minutes' },
  { value: 'own', text: 'As cron writes it' },
];

const EVERY = [1, 2, 3, 5, 10, 15, 20, 30] as const;

/** Makes a schedule, or changes one: its words become the five fields of cron. */
export function ScheduleForm({
  component,
  configuration,
  schedule,
  onClose,
}: {
  readonly component: string;
  readonly configuration: string;
  readonly schedule: Schedule | undefined;
  readonly onClose: () => void;
}) {
  const [rhythm, setRhythm] = useState<Rhythm>(rhythmOf(schedule?.cron ?? '30 6 * * *'));
  const [timeZone, setTimeZone] = useState(
    schedule?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
  const [rows, setRows] = useState<readonly string[]>(schedule?.rows ?? []);
  const cron = cronOf(rhythm);
  const times = timesOf(cron, timeZone);
  const action = useAction(async () => {
    const group = client().configurations(component).schedules(configuration);
    const given = { cron, timeZone, rows: [...rows] };
    if (schedule === undefined) await group.create(given);
    else await group.update(schedule.id, given);
    return true;
  });
  return (
    <Dialog title={schedule === undefined ? 'A new schedule' : 'Change the schedule'} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(undefined).then(async (done) => {
            if (done !== true) return;
            await invalidate('schedules');
            toast('The schedule is saved');
            onClose();
          });
        }}
      >
        <Select
          label="It runs"
          value={rhythm.kind}
          options={KINDS}
          onChange={(kind) => setRhythm(changed(rhythm, kind))}
        />
        <Details rhythm={rhythm} onChange={setRhythm} />
        <Input
          label="Time zone"
          value={timeZone}
          onInput={setTimeZone}
          hint="The clocks that the times are meant by, such as Europe/Prague."
          problem={
            isZone(timeZone) ? undefined : 'There is no such zone. Write UTC, or one like Europe/Prague.'
          }
        />
        <RowsOf component={component} configuration={configuration} chosen={rows} onChange={setRows} />
        <div class="runs-next" role="status">
          {typeof times === 'string' ? (
            <span class="runs-bad">{times}</span>
          ) : (
            <>
              <strong>{cronText(cron)}</strong>
              <span class="muted small">
                {times.length === 0
                  ? 'It never comes to run.'
                  : `Next: ${times.map((time) => zoned(time, timeZone)).join(' · ')}`}
              </span>
            </>
          )}
        </div>
        {action.error !== undefined && <ErrorBanner error={action.error} />}
        <div class="row">
          <Button
            kind="primary"
            type="submit"
            isDisabled={typeof times === 'string'}
            isBusy={action.isRunning}
          >
            Save the schedule
          </Button>
          <Button onPress={onClose}>Close</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Details({
  rhythm,
  onChange,
}: {
  readonly rhythm: Rhythm;
  readonly onChange: (rhythm: Rhythm) => void;
}) {
  switch (rhythm.kind) {
    case 'own':
      return (
        <Input
          label="Cron expression"
          isMono
          value={rhythm.cron}
          onInput={(cron) => onChange({ kind: 'own', cron })}
          hint="Minute, hour, day of the month, month, day of the week."
        />
      );
    case 'minutes':
      return (
        <Select
          label="How often"
          value={String(rhythm.every)}
          options={[...new Set([...EVERY, rhythm.every])].map((every) => ({
            value: String(every),
            text: every === 1 ? 'every minute' : `every ${every} minutes`,
          }))}
          onChange={(every) => onChange({ kind: 'minutes', every: Number(every) })}
        />
      );
    case 'hourly':
      return (
        <Select
          label="Minutes past the hour"
          value={String(rhythm.minute)}
          options={Array.from({ length: 60 }, (_, i) => ({ value: String(i), text: String(i) }))}
          onChange={(minute) => onChange({ kind: 'hourly', minute: Number(minute) })}
        />
      );
    default:
      return (
        <div class="runs-pair">
          {rhythm.kind === 'weekly' && (
            <Select
              label="Day"
              value={String(rhythm.day)}
              options={DAYS.map((text, i) => ({ value: String(i), text }))}
              onChange={(day) => onChange({ ...rhythm, day: Number(day) })}
            />
          )}
          {rhythm.kind === 'monthly' && (
            <Select
              label="Day of the month"
              value={String(rhythm.day)}
              options={Array.from({ length: 31 }, (_, i) => ({ value: String(i + 1), text: String(i + 1) }))}
              hint={rhythm.day > 28 ? 'Shorter months are left out.' : undefined}
              onChange={(day) => onChange({ ...rhythm, day: Number(day) })}
            />
          )}
          <Input
            label="At"
            value={rhythm.time}
            placeholder="06:30"
            onInput={(time) => onChange({ ...rhythm, time })}
          />
        </div>
      );
  }
}

/** Changes the kind of a rhythm, and keeps its other settings if possible. */
function changed(rhythm: Rhythm, kind: Rhythm['kind']): Rhythm {
  const time = 'time' in rhythm ? rhythm.time : '06:30';
  switch (kind) {
    case 'minutes':
      return { kind, every: 15 };
    case 'hourly':
      return { kind, minute: 0 };
    case 'weekly':
    case 'monthly':
      return { kind, time, day: 1 };
    case 'own':
      return { kind, cron: cronOf(rhythm) };
    default:
      return { kind, time };
  }
}

/** Returns the next three times, by the rules of the service, or a message about a mistake. */
function timesOf(cron: string, timeZone: string): readonly number[] | string {
  if (!isZone(timeZone)) return 'The time zone is not known.';
  try {
    const job = new Cron(cron, { timezone: timeZone, paused: true, mode: '5-part' });
    return job.nextRuns(3).map((time) => time.getTime());
  } catch {
    return 'This is no time that can be: a time of day is written as 06:30, a cron expression has five fields.';
  }
}
