import { Type, type Static } from 'typebox';
import { Content } from './common.ts';

export const EventCreate = Type.Object({
  message: Type.String({ minLength: 1 }),
  component: Type.String({ minLength: 1 }),
  type: Type.Optional(Type.Enum(['info', 'success', 'warn', 'error'])),
  description: Type.Optional(Type.String()),
  configurationId: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String()),
  params: Type.Optional(Content),
  results: Type.Optional(Content),
  duration: Type.Optional(Type.Unsafe<unknown>({ description: 'Seconds.' })),
});
export type EventCreate = Static<typeof EventCreate>;

export const EventsQuery = Type.Object({
  sinceId: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only newer ones than this id or UUID.' }),
  ),
  maxId: Type.Optional(Type.String({ maxLength: 100, description: 'Only older ones than this id or UUID.' })),
  component: Type.Optional(Type.String()),
  configurationId: Type.Optional(Type.String()),
  runId: Type.Optional(Type.String({ maxLength: 1000 })),
  q: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'Words of the message and `field:value`, joined by AND, OR, NOT and brackets.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type EventsQuery = Static<typeof EventsQuery>;

export const TriggerCreate = Type.Object({
  runWithTokenId: Type.Integer(),
  component: Type.String({ minLength: 1 }),
  configurationId: Type.String({ minLength: 1 }),
  coolDownPeriodMinutes: Type.Integer({ minimum: 1 }),
  tableIds: Type.Array(Type.String()),
});
export type TriggerCreate = Static<typeof TriggerCreate>;

export const TriggerUpdate = Type.Partial(TriggerCreate);
export type TriggerUpdate = Static<typeof TriggerUpdate>;
