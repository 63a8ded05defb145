import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

/**
 * `failed` and `doubtful`: how the last run ended; `late`: nothing was loaded for longer than an alert allows;
 * `neverRun`: no run has ended yet; else `fresh`. A run that was cancelled changes nothing.
 */
export const SourceCondition = Type.Enum(['failed', 'late', 'doubtful', 'neverRun', 'fresh']);
export type SourceCondition = Static<typeof SourceCondition>;

/** Query of `GET runs/sources`. */
export const SourceStatesQuery = Type.Object({
  state: Type.Optional(Type.Array(SourceCondition, { description: 'Only those in one of these states.' })),
  isPaused: Type.Optional(
    Type.Boolean({ description: 'Only those that are paused, or only those that are not.' }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Only those with all of its words in name, id or component.',
    }),
  ),
  sort: Type.Optional(
    Type.Enum(['need', 'name', 'lastRun', 'lastLoad', 'next'], {
      description:
        'Order: those that need a look first (the default), by name, by the last run or load with the newest first, or by the next time of their schedules.',
    }),
  ),
  isReversed: Type.Optional(Type.Boolean({ description: 'The other way round.' })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 500, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

const nullableTime = Type.Union([Time, Type.Null()]);

/** State of a configuration: how it last ran, and whether its data is as new as it should be. */
export const SourceState = Type.Object({
  component: Type.String(),
  configuration: Type.String(),
  name: Type.String(),
  state: SourceCondition,
  isPaused: Type.Boolean({
    description:
      'True when it is disabled, or has schedules of which none is enabled: nothing comes by itself.',
  }),
  lastRun: Type.Union([Type.String(), Type.Null()], { description: 'The last one that ended by itself.' }),
  lastRunTime: nullableTime,
  lastLoadTime: Type.Union([Time, Type.Null()], { description: 'When the last good run ended.' }),
  nextTime: Type.Union([Time, Type.Null()], { description: 'When a schedule starts it next.' }),
  lateMinutes: Type.Union([Type.Integer(), Type.Null()], {
    description: 'After how many minutes without a load an alert calls it late.',
  }),
});
export type SourceState = Static<typeof SourceState>;

/** Answer of `GET runs/sources`: those that need a look come first. */
export const SourceStates = Type.Object(
  {
    counts: Type.Record(SourceCondition, Type.Integer(), {
      description: 'How many sources are in each state, whatever is asked for.',
    }),
    paused: Type.Integer({ description: 'How many of all are paused.' }),
    total: Type.Integer({ description: 'How many fit what is asked for.' }),
    sources: Type.Array(SourceState),
  },
  { title: 'State of sources' },
);
export type SourceStates = Static<typeof SourceStates>;
