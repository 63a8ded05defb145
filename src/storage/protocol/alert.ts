import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

/** `failed`: a run ended with an error; `doubtful`: its tables may not have everything; `late`: nothing was loaded for long. */
export const AlertKind = Type.Enum(['failed', 'doubtful', 'late']);
export type AlertKind = Static<typeof AlertKind>;

/** `waiting` to be sent; `sent`; `dead` after the last attempt, until it is sent again by hand. */
export const AlertMessageStatus = Type.Enum(['waiting', 'sent', 'dead']);
export type AlertMessageStatus = Static<typeof AlertMessageStatus>;

const MINUTES_OF_A_YEAR = 525_600;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'Address that messages are posted to, by http or https.',
    examples: ['https://hooks.example.com/services/…'],
  }),
  kinds: Type.Array(AlertKind, {
    minItems: 1,
    description: 'What is told. Default: `failed` and `doubtful`, and `late` where `lateMinutes` is given.',
  }),
  component: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    description: 'Only configurations of this component; null for all.',
  }),
  configuration: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    description: 'With `component`: only this configuration; null for all.',
  }),
  lateMinutes: Type.Union([Type.Integer({ minimum: 1, maximum: MINUTES_OF_A_YEAR }), Type.Null()], {
    description:
      'With `late`: a configuration with an enabled schedule is late when its last good run ended longer ago than so many minutes. One that never ran counts from when its schedule was made; one without an enabled schedule is paused, and never late.',
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
        component: Type.String(),
        configuration: Type.String(),
        kind: AlertKind,
        run: Type.Union([Type.String(), Type.Null()]),
        since: Time,
        toldTime: Type.Union([Time, Type.Null()]),
      }),
      { description: 'Configurations that it sees to be wrong now.' },
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
    event: Type.String({ description: '`failed`, `doubtful`, `late`, `recovered`, or `test`.' }),
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
