import { useState } from 'preact/hooks';
import { client, type Alert, type AlertMessage, type AlertUpdate } from '../../data/client.ts';
import { invalidate, useAction, useQuery } from '../../data/query.ts';
import { useSources } from '../../data/sources.ts';
import { Link } from '../../route/link.tsx';
import { navigate } from '../../route/router.ts';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm, FormDialog } from '../../ui/dialog.tsx';
import { Checkbox, Select } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useOffset } from '../../ui/pager.tsx';
import { Badge, ErrorBanner, Loaded } from '../../ui/states.tsx';
import { toast } from '../../ui/toast.tsx';
import { By, KeyValue, plural, RelativeTime, Text } from '../../ui/values.tsx';
import { AlertForm } from './form.tsx';
import { AlertState } from './list.tsx';
import { isMuted, minutesText, scopeOf, subjectOf, wordOf } from './words.ts';
import './alerts.css';

export function AlertDetail({ id }: { readonly id: string }) {
  const alert = useQuery({
    key: ['alerts', 'one', id],
    load: async () => await client().alerts.detail(id),
    everyMs: 15_000,
    topic: 'alerts',
  });
  return (
    <Page
      title={alert.data?.name ?? `Alert ${id}`}
      crumbs={[{ to: '/alerts', text: 'Alerts' }]}
      actions={alert.data && <Actions alert={alert.data} />}
    >
      <Loaded query={alert}>
        {(found) => (
          <>
            <Facts alert={found} />
            <WrongNow alert={found} />
            <Messages alert={found} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

type Asked = 'change' | 'delete' | 'mute';

function Actions({ alert }: { readonly alert: Alert }) {
  const [asked, setAsked] = useState<Asked | undefined>();
  const close = (): void => setAsked(undefined);
  const change = useAction(async (changes: AlertUpdate) => {
    await client().alerts.update(alert.id, changes);
    await invalidate('alerts');
  });
  const test = useAction(async () => {
    await client().alerts.test(alert.id);
    toast('A message is on its way: what came of it stands below.');
    await invalidate('alerts', 'messages');
  });
  const remove = useAction(async () => {
    await client().alerts.delete(alert.id);
    toast('The alert is deleted.');
    navigate('/alerts');
    await invalidate('alerts', 'list');
  });
  const error = change.error ?? test.error;
  return (
    <>
      <Checkbox
        label="On"
        isSwitch
        isChecked={alert.isEnabled}
        isDisabled={change.isRunning}
        onChange={(isEnabled) => void change.run({ isEnabled })}
      />
      <Button isBusy={test.isRunning} onPress={() => void test.run(undefined)}>
        Send a test
      </Button>
      {isMuted(alert) ? (
        <Button onPress={() => void change.run({ mutedUntil: null })}>End the silence</Button>
      ) : (
        <Button icon="clock" onPress={() => setAsked('mute')}>
          Mute
        </Button>
      )}
      <Button icon="edit" onPress={() => setAsked('change')}>
        Change
      </Button>
      <Button kind="danger" icon="trash" onPress={() => setAsked('delete')}>
        Delete
      </Button>
      {error !== undefined && <ErrorBanner error={error} />}
      {asked === 'change' && <AlertForm alert={alert} onClose={close} onDone={close} />}
      {asked === 'mute' && <Mute alert={alert} onClose={close} />}
      {asked === 'delete' && (
        <Confirm
          title="Delete this alert?"
          action="Delete the alert"
          onConfirm={() => void remove.run(undefined)}
          onClose={close}
          isBusy={remove.isRunning}
          error={remove.error}
        >
          <p>
            Nobody is told by <Text>{alert.name}</Text> any more, and its messages are gone.
          </p>
        </Confirm>
      )}
    </>
  );
}

const HOUR_MS = 3_600_000;
const SILENCES = [
  { value: '1', text: 'For an hour' },
  { value: '4', text: 'For 4 hours' },
  { value: '24', text: 'For a day' },
  { value: '168', text: 'For a week' },
];

function Mute({ alert, onClose }: { readonly alert: Alert; readonly onClose: () => void }) {
  const [hours, setHours] = useState('4');
  const mute = useAction(async () => {
    const mutedUntil = new Date(Date.now() + Number(hours) * HOUR_MS).toISOString();
    await client().alerts.update(alert.id, { mutedUntil });
    await invalidate('alerts');
    onClose();
  });
  return (
    <FormDialog
      title="No messages for a while"
      action="Mute the alert"
      isBusy={mute.isRunning}
      error={mute.error}
      onSubmit={() => void mute.run(undefined)}
      onClose={onClose}
    >
      <Select label="How long" value={hours} options={SILENCES} onChange={setHours} />
      <p class="muted">What is still wrong then is told when the silence is over.</p>
    </FormDialog>
  );
}

const thresholds = (warn: number, error: number | null | undefined): string =>
  error == null ? minutesText(warn) : `${minutesText(warn)}, an error after ${minutesText(error)}`;

function Facts({ alert }: { readonly alert: Alert }) {
  const sources = useSources();
  const { lateMinutes, lateErrorMinutes, columns, endingDays, remindMinutes } = alert;
  return (
    <KeyValue
      items={[
        ['State', <AlertState alert={alert} />],
        ['Goes to', <Text>{alert.url}</Text>],
        ['Tells of', alert.kinds.map(wordOf).join(', ')],
        ['Sources', <Text>{scopeOf(alert, sources.data)}</Text>],
        ...(lateMinutes === null ? [] : [['Late after', thresholds(lateMinutes, lateErrorMinutes)] as const]),
        ...(columns ?? []).map(
          ({ table, column, warnMinutes, errorMinutes }) =>
            [
              'Old after',
              <>
                {thresholds(warnMinutes, errorMinutes)}: <Text>{`${table}, ${column}`}</Text>
              </>,
            ] as const,
        ),
        ...(endingDays === null ? [] : [['Before an end', plural(endingDays, 'day')] as const]),
        ['Reminds', remindMinutes === null ? 'no' : `after ${minutesText(remindMinutes)}`],
        ['By', <By token={alert.creatorToken} />],
      ]}
    />
  );
}

function WrongNow({ alert: { wrong, isEnabled } }: { readonly alert: Alert }) {
  const sources = useSources();
  return (
    <section class="stack" aria-label="Wrong now">
      <h2>Wrong now</h2>
      {wrong.length === 0 && (
        <p class="muted">
          {isEnabled ? 'Nothing that it tells of.' : 'It looks at nothing while it is off.'}
        </p>
      )}
      {wrong.length > 0 && (
        <ul class="alerts-wrong">
          {wrong.map((each) => {
            const { text, to } = subjectOf(each, sources.data);
            const { kind, severity, since, detail, toldTime } = each;
            return (
              <li class="card" key={`${kind} ${text}`}>
                <div class="row">
                  <Badge tone={severity === 'error' ? 'bad' : 'warn'}>{wordOf(kind)}</Badge>
                  <Link to={to}>
                    <Text>{text}</Text>
                  </Link>
                  <span class="muted small">
                    since <RelativeTime value={since} />,{' '}
                    {toldTime === null ? (
                      'not told yet'
                    ) : (
                      <>
                        told <RelativeTime value={toldTime} />
                      </>
                    )}
                  </span>
                </div>
                {detail !== null && (
                  <p>
                    <Text>{detail}</Text>
                  </p>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

/** Messages of a page of the list. */
const PART = 50;

const STATUS = { sent: 'good', waiting: 'warn', dead: 'bad' } as const;

/** Returns the line of a message for chats. */
function lineOf({ body }: AlertMessage): string {
  const text: unknown = typeof body === 'object' && body !== null && 'text' in body ? body.text : undefined;
  return typeof text === 'string' ? text : '';
}

function Messages({ alert: { id } }: { readonly alert: Alert }) {
  const offset = useOffset();
  const messages = useQuery({
    key: ['alerts', 'messages', id, offset],
    load: async () => await client().alerts.messages(id, { limit: PART, offset }),
    everyMs: (all) => (all?.some(({ status }) => status === 'waiting') === true ? 3000 : 15_000),
    topic: 'alerts',
    keepsPrevious: true,
  });
  const send = useAction(async (message: string) => {
    await client().alerts.send(id, message);
    await invalidate('alerts', 'messages');
  });
  const columns: readonly Column<AlertMessage>[] = [
    {
      id: 'event',
      title: 'Message',
      width: 150,
      show: ({ event }) => wordOf(event),
    },
    {
      id: 'status',
      title: 'Status',
      width: 110,
      show: ({ status }) => <Badge tone={STATUS[status]}>{status}</Badge>,
    },
    {
      id: 'time',
      title: 'Written',
      width: 130,
      show: ({ createdTime }) => <RelativeTime value={createdTime} />,
    },
    { id: 'answer', title: 'Answer', width: 220, text: ({ answer }) => answer ?? '' },
    { id: 'attempts', title: 'Attempts', width: 90, align: 'right', show: ({ attempts }) => attempts },
    { id: 'text', title: 'Text', width: 320, text: lineOf },
    {
      id: 'again',
      title: 'Again',
      width: 130,
      show: ({ id: message, status, attempts }) =>
        status === 'waiting' && attempts === 0 ? (
          <span class="muted">–</span>
        ) : (
          <Button isBusy={send.isRunning} onPress={() => void send.run(message)}>
            Send again
          </Button>
        ),
    },
  ];
  return (
    <section class="stack" aria-label="Messages">
      <h2>Messages</h2>
      {send.error !== undefined && <ErrorBanner error={send.error} />}
      <Loaded query={messages}>
        {(all) =>
          all.length === 0 && offset === 0 ? (
            <p class="muted">Nothing was told yet. A test shows whether the address takes messages.</p>
          ) : (
            <>
              <DataTable label="Messages" columns={columns} rows={all} rowKey={(message) => message.id} />
              <Pager noun="messages" size={PART} shown={all.length} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}
