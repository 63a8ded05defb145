import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

/**
 * `failed`: a run ended with an error; `doubtful`: its tables may not have everything; `late`: nothing was loaded for
 * long; `unusual`: its numbers are not those of the runs before; `stale`: the newest value of a column is old;
 * `ending`: a token or a login ends soon.
 */
export const AlertKind = Type.Enum(['failed', 'doubtful', 'late', 'unusual', 'stale', 'ending']);
export type AlertKind = Static<typeof AlertKind>;

export const AlertSeverity = Type.Enum(['warning', 'error']);
export type AlertSeverity = Static<typeof AlertSeverity>;

/** `waiting` to be sent; `sent`; `dead` after the last attempt, until it is sent again by hand. */
export const AlertMessageStatus = Type.Enum(['waiting', 'sent', 'dead']);
export type AlertMessageStatus = Static<typeof AlertMessageStatus>;

/** Query of `GET alerts/<id>/messages`. */
export const AlertMessagesQuery = Type.Object({
  status: Type.Optional(AlertMessageStatus),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type AlertMessagesQuery = Static<typeof AlertMessagesQuery>;

/** Query of `GET alerts`. */
export const AlertsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 1000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type AlertsQuery = Static<typeof AlertsQuery>;

const MINUTES_OF_A_YEAR = 525_600;

const Minutes = Type.Integer({ minimum: 1, maximum: MINUTES_OF_A_YEAR });
const DAYS_OF_A_YEAR = 365;
const MOST_COLUMNS = 50;

/** Column of a table whose newest value is watched. */
export const WatchedColumn = Type.Object({
  table: Type.String({ minLength: 1, maxLength: 255, examples: ['in.c-shop.orders'] }),
  column: Type.String({ minLength: 1, maxLength: 255, examples: ['updated_at'] }),
  warnMinutes: Type.Integer({
    minimum: 1,
    maximum: MINUTES_OF_A_YEAR,
    description: 'How long ago the newest time of the column may be.',
  }),
  errorMinutes: Type.Optional(
    Type.Union([Minutes, Type.Null()], { description: 'From when on it is an error and no warning.' }),
  ),
});
export type WatchedColumn = Static<typeof WatchedColumn>;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description:
      'Address that messages are posted to, by http or https; or `mailto:` and addresses with commas, where the service has a mail server.',
    examples: ['https://hooks.example.com/services/…', 'mailto:operations@example.com'],
  }),
  kinds: Type.Array(AlertKind, {
    minItems: 1,
    description:
      'What is told. Default: `failed` and `doubtful`, and `late`, `stale` and `ending` where `lateMinutes`, `columns` and `endingDays` are given.',
  }),
  component: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    description: 'Only configurations of this component; null for all.',
  }),
  configuration: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    description: 'With `component`: only this configuration; null for all.',
  }),
  lateMinutes: Type.Union([Minutes, Type.Null()], {
    description:
      'With `late`: a configuration with an enabled schedule is late when its last good run ended longer ago than so many minutes. One that never ran counts from when its schedule was made; one without an enabled schedule is paused, and never late.',
  }),
  lateErrorMinutes: Type.Union([Minutes, Type.Null()], {
    description: 'With `lateMinutes`: from when on it is an error and no warning.',
  }),
  columns: Type.Union([Type.Array(WatchedColumn, { minItems: 1, maxItems: MOST_COLUMNS }), Type.Null()], {
    description:
      'With `stale`: columns with times, whose newest value that is not in the future must not be too old.',
  }),
  endingDays: Type.Union([Type.Integer({ minimum: 1, maximum: DAYS_OF_A_YEAR }), Type.Null()], {
    description:
      'With `ending`: how many days before its end a token or a login is told of. One that lasts for less time is not.',
  }),
  remindMinutes: Type.Union([Type.Integer({ minimum: 5, maximum: MINUTES_OF_A_YEAR }), Type.Null()], {
    description: 'Tells again after so many minutes while it is still so; null for once.',
  }),
  mutedUntil: Type.Union([Type.String({ minLength: 1, maxLength: 40 }), Type.Null()], {
    description: 'No message before this time of ISO 8601; what is wrong then is told when it has come.',
  }),
  isEnabled: Type.Boolean({ description: 'Default: true.' }),
};

/** Body that makes an alert. */
export const AlertCreate = Type.Object({
  name: fields.name,
  url: fields.url,
  kinds: Type.Optional(fields.kinds),
  component: Type.Optional(fields.component),
  configuration: Type.Optional(fields.configuration),
  lateMinutes: Type.Optional(fields.lateMinutes),
  lateErrorMinutes: Type.Optional(fields.lateErrorMinutes),
  columns: Type.Optional(fields.columns),
  endingDays: Type.Optional(fields.endingDays),
  remindMinutes: Type.Optional(fields.remindMinutes),
  mutedUntil: Type.Optional(fields.mutedUntil),
  isEnabled: Type.Optional(fields.isEnabled),
});
export type AlertCreate = Static<typeof AlertCreate>;

/** Body that changes one; what is left out stays. */
export const AlertUpdate = Type.Partial(AlertCreate);
export type AlertUpdate = Static<typeof AlertUpdate>;

/** Alert: who is told when runs go wrong, and of which. */
export const Alert = Type.Object(
  {
    id: Type.String(),
    ...fields,
    wrong: Type.Array(
      Type.Object({
        component: Type.Union([Type.String(), Type.Null()]),
        configuration: Type.Union([Type.String(), Type.Null()]),
        table: Type.Optional(Type.String({ description: 'Of what is `stale`, with its column.' })),
        column: Type.Optional(Type.String()),
        token: Type.Optional(Type.String({ description: 'The token that ends.' })),
        kind: AlertKind,
        severity: AlertSeverity,
        detail: Type.Union([Type.String(), Type.Null()], { description: 'What was found, in words.' }),
        run: Type.Union([Type.String(), Type.Null()]),
        since: Time,
        toldTime: Type.Union([Time, Type.Null()]),
      }),
      { description: 'What it sees to be wrong now.' },
    ),
    secret: Type.Optional(
      Type.String({
        description:
          'The key that messages are signed with: `X-Gex-Signature` is `sha256=` and the HMAC of the body in hex. Only in the answer that makes the alert.',
      }),
    ),
    createdTime: Time,
    creatorToken: Type.Object({ id: Type.String(), description: Type.String() }),
  },
  { title: 'Alert' },
);
export type Alert = Static<typeof Alert>;

/** Message of an alert, sent or not. */
export const AlertMessage = Type.Object(
  {
    id: Type.String(),
    uuid: Type.String({ description: 'Same in each attempt, and `id` of the body.' }),
    event: Type.String({ description: 'A kind of alerts, `recovered`, or `test`.' }),
    status: AlertMessageStatus,
    attempts: Type.Integer(),
    nextTime: Type.Union([Time, Type.Null()], { description: 'Of the next attempt.' }),
    answer: Type.Union([Type.String(), Type.Null()], {
      description: 'The last answer, or failure, in words.',
    }),
    body: Type.Unknown(),
    createdTime: Time,
  },
  { title: 'Alert message' },
);
export type AlertMessage = Static<typeof AlertMessage>;
