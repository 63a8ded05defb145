import { systemEnv } from '../../lib/env.ts';
import type { Alert, AlertCreate, AlertMessage, AlertUpdate } from '../../storage/client/index.ts';
import type { WatchedColumn } from '../../storage/protocol/alert.ts';
import { flag, listed, valued, type Args, type Command, type Option } from '../command.ts';
import { formatTable } from '../format.ts';
import { refused } from '../parse.ts';
import { momentOption } from '../runs/moment.ts';
import { countArg } from '../shared.ts';
import { facts, short, time } from '../storage/facts.ts';
import { storageCommand } from '../storage/storage-command.ts';

const idWord = { name: 'id', describe: 'Number of the alert', isRequired: true } as const;

const alertOptions = {
  kinds: valued('A,B', 'What is told: failed, doubtful, late, unusual, stale, ending'),
  component: valued('ID', 'Only configurations of this component'),
  config: valued('ID', 'With --component: only this configuration'),
  late: valued('MINUTES', 'Tells of configurations with a schedule that loaded nothing for so long'),
  'late-error': valued('MINUTES', 'With --late: from when on it is an error and no warning'),
  column: listed(
    'TABLE:COLUMN:MINUTES[:MINUTES]',
    'Tells when the newest time of a column is older, as an error after the second; may be repeated',
  ),
  ending: valued('DAYS', 'Tells so many days before a token ends'),
  remind: valued('MINUTES', 'Tells again while it is still so'),
} as const satisfies Record<string, Option>;

export const alertCommands: readonly Command[] = [
  storageCommand({
    name: 'list',
    describe: 'List the alerts, with what each sees to be wrong',
    examples: [['gex alerts', 'All alerts']],
    async run({ client, show }) {
      const alerts = await client.alerts.list();
      show(alerts, () => (alerts.length === 0 ? 'There are no alerts.' : describeAlerts(alerts)));
    },
  }),
  storageCommand({
    name: 'create',
    describe: 'Make an alert; the key that its messages are signed with is shown once',
    words: [
      { name: 'name', describe: 'Name of the alert', isRequired: true },
      { name: 'url', describe: 'Address that messages are posted to, or mailto:ADDRESS', isRequired: true },
    ],
    options: alertOptions,
    examples: [
      [
        'gex alerts create operations https://hooks.example.com/T1 --late 1500',
        'Failures, doubts, and a day without data',
      ],
      [
        'gex alerts create numbers mailto:data@example.com --kinds unusual,stale --column in.c-shop.orders:updated_at:1500',
        'Numbers that are not as usual, and a table without new values, by mail',
      ],
    ],
    async run({ args, client, show }) {
      const alert = { name: args.word('name'), url: args.word('url'), ...changesOf(args) };
      const made = await client.alerts.create(alert);
      show(made, () => describeAlert(made));
    },
  }),
  storageCommand({
    name: 'update',
    describe: 'Change an alert: what it tells of, whether it is on, until when it is silent',
    words: [idWord],
    options: {
      ...alertOptions,
      'mute-until': valued('TIME', 'No message before this time, such as “tomorrow”; “now” ends it'),
      on: flag('It tells from now on'),
      off: flag('It tells nothing until it is on again'),
    },
    examples: [['gex alerts update 1009 --mute-until tomorrow', 'Silence until tomorrow']],
    async run({ args, client, show }) {
      if (args.isSet('on') && args.isSet('off'))
        throw refused('--on and --off do not go together.', 'Leave one out.');
      const mutedUntil = await momentOption(args, 'mute-until', systemEnv.now());
      const changes: AlertUpdate = {
        ...changesOf(args),
        ...(mutedUntil === undefined ? {} : { mutedUntil }),
        ...(args.isSet('on') || args.isSet('off') ? { isEnabled: args.isSet('on') } : {}),
      };
      const alert = await client.alerts.update(args.word('id'), changes);
      show(alert, () => describeAlert(alert));
    },
  }),
  storageCommand({
    name: 'test',
    describe: 'Send a message to try the address of an alert; “messages” shows what came of it',
    words: [idWord],
    examples: [['gex alerts test 1009', 'One message']],
    async run({ args, client, show }) {
      const message = await client.alerts.test(args.word('id'));
      show(message, () => describeMessages([message]));
    },
  }),
  storageCommand({
    name: 'messages',
    describe: 'Show the last messages of an alert, with the answers of the receiver; --send sends one again',
    words: [idWord],
    options: { send: valued('MESSAGE', 'Send this message again') },
    examples: [['gex alerts messages 1009', 'Those of one alert']],
    async run({ args, client, show }) {
      const [id, again] = [args.word('id'), args.text('send')];
      const messages =
        again === undefined ? await client.alerts.messages(id) : [await client.alerts.send(id, again)];
      show(messages, () => (messages.length === 0 ? 'There are no messages.' : describeMessages(messages)));
    },
  }),
  storageCommand({
    name: 'delete',
    describe: 'Delete an alert, with its messages',
    words: [idWord],
    examples: [['gex alerts delete 1009', 'One alert']],
    async run({ args, client, show }) {
      const id = args.word('id');
      await client.alerts.delete(id);
      show({ deleted: [id] }, () => `Deleted the alert ${id}.`);
    },
  }),
];

function changesOf(args: Args): Omit<AlertCreate, 'name' | 'url'> {
  const kinds = args
    .text('kinds')
    ?.split(',')
    .map((kind) => kind.trim());
  const columns = args.list('column').map(watchedColumn);
  const given = {
    // The service says which ones there are.
    kinds: kinds as AlertCreate['kinds'],
    component: args.text('component'),
    configuration: args.text('config'),
    lateMinutes: countArg(args, 'late'),
    lateErrorMinutes: countArg(args, 'late-error'),
    columns: columns.length === 0 ? undefined : columns,
    endingDays: countArg(args, 'ending'),
    remindMinutes: countArg(args, 'remind'),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** @throws {RunError} `command.invalid` */
function watchedColumn(text: string): WatchedColumn {
  // Names of tables and columns may hold anything but times at their end.
  const found = /^(?<table>[^:]+):(?<column>.+?):(?<warn>\d{1,6})(?::(?<error>\d{1,6}))?$/.exec(text)?.groups;
  if (found === undefined)
    throw refused(
      `--column ${text} names no table, column and minutes.`,
      'Write for example --column in.c-shop.orders:updated_at:1500.',
    );
  const { table = '', column = '', warn, error } = found;
  return {
    table,
    column,
    warnMinutes: Number(warn),
    ...(error === undefined ? {} : { errorMinutes: Number(error) }),
  };
}

function describeAlerts(alerts: readonly Alert[]): string {
  return formatTable(
    ['alert', 'name', 'tells of', 'of', 'state', 'wrong now'],
    alerts.map((alert) => [
      alert.id,
      alert.name,
      alert.kinds.join(', '),
      scopeOf(alert),
      stateOf(alert),
      alert.wrong.length === 0 ? '' : String(alert.wrong.length),
    ]),
    ['wrong now'],
  );
}

const scopeOf = ({ component, configuration }: Alert): string =>
  configuration ?? component ?? 'all configurations';

const stateOf = ({ isEnabled, mutedUntil }: Alert): string =>
  !isEnabled ? 'off' : mutedUntil === null ? 'on' : `muted until ${time(mutedUntil)}`;

function describeAlert(alert: Alert): string {
  return facts([
    ['alert', alert.id],
    ['name', alert.name],
    ['address', alert.url],
    ['tells of', alert.kinds.join(', ')],
    ['of', scopeOf(alert)],
    ['late after', thresholds(alert.lateMinutes, alert.lateErrorMinutes)],
    [
      'columns',
      (alert.columns ?? [])
        .map(({ table, column, warnMinutes, errorMinutes }) => {
          return `${table}, ${column}: ${thresholds(warnMinutes, errorMinutes)}`;
        })
        .join('\n'),
    ],
    ['told of an end', alert.endingDays === null ? '' : `${alert.endingDays} days before`],
    ['reminds after', alert.remindMinutes === null ? '' : `${alert.remindMinutes} minutes`],
    ['state', stateOf(alert)],
    [
      'wrong',
      alert.wrong
        .map(({ kind, severity, since, detail, ...what }) =>
          [`${subjectOf(what)} ${kind} (${severity}) since ${time(since)}`, detail ?? []].flat().join('\n  '),
        )
        .join('\n'),
    ],
    ['signed with', alert.secret ?? ''],
  ]);
}

const thresholds = (warn: number | null, error: number | null | undefined): string =>
  warn === null ? '' : `${warn} minutes${error == null ? '' : `, an error after ${error}`}`;

const subjectOf = ({ configuration, table, column, token }: Partial<Alert['wrong'][number]>): string =>
  configuration ?? (table === undefined ? `token ${token}` : `${table}, ${column}`);

function describeMessages(messages: readonly AlertMessage[]): string {
  return formatTable(
    ['message', 'event', 'status', 'attempts', 'written', 'next', 'answer'],
    messages.map((message) => [
      message.id,
      message.event,
      message.status,
      String(message.attempts),
      time(message.createdTime),
      time(message.nextTime),
      short(message.answer ?? ''),
    ]),
    ['attempts'],
  );
}
