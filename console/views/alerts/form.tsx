import { useState } from 'preact/hooks';
import {
  client,
  type Alert,
  type AlertKind,
  type AlertUpdate,
  type WatchedColumn,
} from '../../data/client.ts';
import { invalidate, useAction } from '../../data/query.ts';
import { fromKey, keyOf, useSources } from '../../data/sources.ts';
import { useUnsaved } from '../../route/router.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Checkbox, Input, Select } from '../../ui/field.tsx';
import { ErrorBanner } from '../../ui/states.tsx';
import { KINDS } from './words.ts';
import './alerts.css';

/** Fields as they are typed: minutes are hours here. */
interface Typed {
  readonly name: string;
  readonly url: string;
  readonly source: string;
  readonly kinds: readonly AlertKind[];
  readonly late: string;
  readonly lateError: string;
  readonly columns: readonly TypedColumn[];
  readonly days: string;
  readonly remind: string;
}

interface TypedColumn {
  readonly table: string;
  readonly column: string;
  readonly warn: string;
  readonly error: string;
}

const HOUR = 60;
const NO_COLUMN: TypedColumn = { table: '', column: '', warn: '26', error: '' };
const REMINDERS = [
  { value: '', text: 'Tell once' },
  { value: '60', text: 'Remind every hour' },
  { value: '240', text: 'Remind every 4 hours' },
  { value: '1440', text: 'Remind every day' },
];

const hours = (minutes: number | null | undefined): string =>
  minutes == null ? '' : String(Math.round((minutes / HOUR) * 100) / 100);

/** Returns hours as minutes; null for what is no number above 0. */
function minutesOf(text: string): number | null {
  const minutes = Math.round(Number(text.replace(',', '.')) * HOUR);
  return text.trim() === '' || !(minutes >= 1) ? null : minutes;
}

function typedOf(alert: Alert | undefined): Typed {
  const component = alert?.component ?? null;
  return {
    name: alert?.name ?? '',
    url: alert?.url ?? '',
    source: component === null ? '' : keyOf(component, alert?.configuration ?? ''),
    kinds: alert?.kinds ?? ['failed', 'doubtful'],
    late: hours(alert?.lateMinutes ?? 26 * HOUR),
    lateError: hours(alert?.lateErrorMinutes),
    columns: (alert?.columns ?? []).map(({ table, column, warnMinutes, errorMinutes }) => ({
      table,
      column,
      warn: hours(warnMinutes),
      error: hours(errorMinutes),
    })),
    days: String(alert?.endingDays ?? 14),
    remind: alert?.remindMinutes == null ? '' : String(alert.remindMinutes),
  };
}

function changesOf(typed: Typed, alert: Alert | undefined): AlertUpdate & { name: string; url: string } {
  const has = (kind: AlertKind): boolean => typed.kinds.includes(kind);
  const source = fromKey(typed.source);
  // One that is about a component as a whole, made by a command, stays so.
  const scope =
    source ??
    (typed.source === ''
      ? { component: null, configuration: null }
      : { component: alert?.component ?? null, configuration: null });
  return {
    name: typed.name.trim(),
    url: typed.url.trim(),
    ...scope,
    kinds: KINDS.flatMap(({ kind }) => (has(kind) ? kind : [])),
    lateMinutes: has('late') ? minutesOf(typed.late) : null,
    lateErrorMinutes: has('late') ? minutesOf(typed.lateError) : null,
    columns: has('stale')
      ? typed.columns.map(({ table, column, warn, error }): WatchedColumn => ({
          table: table.trim(),
          column: column.trim(),
          warnMinutes: minutesOf(warn) ?? 0,
          errorMinutes: minutesOf(error),
        }))
      : null,
    endingDays: has('ending') ? Math.round(Number(typed.days)) : null,
    remindMinutes: typed.remind === '' ? null : Number(typed.remind),
  };
}

/** Makes an alert, or changes one. */
export function AlertForm({
  alert,
  onClose,
  onDone,
}: {
  /** The one to change; a new one without. */
  readonly alert?: Alert;
  readonly onClose: () => void;
  readonly onDone: (alert: Alert) => void;
}) {
  const sources = useSources();
  const [typed, setTyped] = useState(() => typedOf(alert));
  const [isChanged, setChanged] = useState(false);
  const set = (changes: Partial<Typed>): void => setTyped((before) => ({ ...before, ...changes }));
  const has = (kind: AlertKind): boolean => typed.kinds.includes(kind);
  const choose = (kind: AlertKind, isChosen: boolean): void =>
    set({
      kinds: isChosen ? [...typed.kinds, kind] : typed.kinds.filter((each) => each !== kind),
      ...(kind === 'stale' && isChosen && typed.columns.length === 0 ? { columns: [NO_COLUMN] } : {}),
    });
  const save = useAction(async () => {
    const body = changesOf(typed, alert);
    const saved =
      alert === undefined ? await client().alerts.create(body) : await client().alerts.update(alert.id, body);
    setChanged(false);
    void invalidate('alerts');
    onDone(saved);
  });
  useUnsaved(isChanged);
  return (
    <Dialog title={alert === undefined ? 'New alert' : 'Change the alert'} onClose={onClose} form="side">
      <form
        class="stack"
        onInput={() => setChanged(true)}
        onSubmit={(event) => {
          event.preventDefault();
          if (!save.isRunning) void save.run(undefined);
        }}
      >
        <Input label="Name" value={typed.name} onInput={(name) => set({ name })} isRequired hasFocus />
        <Input
          label="Goes to"
          hint="An address that messages are posted to, or mailto: and addresses of mail with commas."
          placeholder="https://hooks.example.com/…"
          value={typed.url}
          onInput={(url) => set({ url })}
          isRequired
          isMono
        />
        <Select
          label="Sources"
          value={typed.source}
          options={[
            { value: '', text: 'All sources' },
            ...(alert?.component != null && alert.configuration === null
              ? [{ value: keyOf(alert.component, ''), text: `Sources of ${alert.component}` }]
              : []),
            ...(sources.data ?? []).map(({ key, name }) => ({ value: key, text: name })),
          ]}
          onChange={(source) => set({ source })}
        />
        <fieldset class="alerts-choices">
          <legend>Tells when</legend>
          {KINDS.map(({ kind, text }) => (
            <Checkbox key={kind} label={text} isChecked={has(kind)} onChange={(is) => choose(kind, is)} />
          ))}
        </fieldset>
        {has('late') && (
          <div class="alerts-pair">
            <Input
              label="Late after (hours)"
              value={typed.late}
              onInput={(late) => set({ late })}
              isRequired
            />
            <Input
              label="Error after (hours)"
              value={typed.lateError}
              placeholder="never"
              onInput={(lateError) => set({ lateError })}
            />
          </div>
        )}
        {has('stale') && <Columns columns={typed.columns} onChange={(columns) => set({ columns })} />}
        {has('ending') && (
          <Input
            label="Days before the end of a token or a login"
            value={typed.days}
            onInput={(days) => set({ days })}
            isRequired
          />
        )}
        <Select
          label="Reminders"
          value={typed.remind}
          options={
            REMINDERS.some(({ value }) => value === typed.remind)
              ? REMINDERS
              : [...REMINDERS, { value: typed.remind, text: `Remind every ${typed.remind} minutes` }]
          }
          onChange={(remind) => set({ remind })}
        />
        {save.error !== undefined && <ErrorBanner error={save.error} />}
        <div class="row">
          <Button type="submit" kind="primary" isBusy={save.isRunning}>
            {alert === undefined ? 'Make the alert' : 'Save'}
          </Button>
          <Button onPress={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Columns({
  columns,
  onChange,
}: {
  readonly columns: readonly TypedColumn[];
  readonly onChange: (columns: readonly TypedColumn[]) => void;
}) {
  return (
    <fieldset class="alerts-choices">
      <legend>Columns with times</legend>
      {columns.map((each, index) => {
        const set = (changes: Partial<TypedColumn>): void =>
          onChange(columns.map((other, at) => (at === index ? { ...other, ...changes } : other)));
        return (
          <div class="alerts-column" key={index}>
            <Input
              label="Table"
              value={each.table}
              onInput={(table) => set({ table })}
              placeholder="in.c-shop.orders"
              isRequired
              isMono
            />
            <Input
              label="Column"
              value={each.column}
              onInput={(column) => set({ column })}
              placeholder="updated_at"
              isRequired
              isMono
            />
            <Input label="Old after (hours)" value={each.warn} onInput={(warn) => set({ warn })} isRequired />
            <Input
              label="Error after (hours)"
              value={each.error}
              onInput={(error) => set({ error })}
              placeholder="never"
            />
            <IconButton
              icon="trash"
              label={`Leave out column ${index + 1}`}
              onPress={() => onChange(columns.filter((_, at) => at !== index))}
            />
          </div>
        );
      })}
      <div>
        <Button icon="plus" onPress={() => onChange([...columns, NO_COLUMN])}>
          Add a column
        </Button>
      </div>
    </fieldset>
  );
}
