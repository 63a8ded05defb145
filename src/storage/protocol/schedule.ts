import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

const fields = {
  cron: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'Minute, hour, day of the month, month and day of the week, as in cron; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`.',
    examples: ['30 6 * * 1-5'],
  }),
  timeZone: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The IANA name of the time zone that the expression is meant in. Default: `UTC`.',
    examples: ['Europe/Prague'],
  }),
  rows: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
    description: 'Only these rows of the configuration; an empty list is all of them.',
  }),
  isEnabled: Type.Boolean({ description: 'Default: true.' }),
};

/** Body that makes a schedule. */
export const ScheduleCreate = Type.Object({
  cron: fields.cron,
  timeZone: Type.Optional(fields.timeZone),
  rows: Type.Optional(fields.rows),
  isEnabled: Type.Optional(fields.isEnabled),
});
export type ScheduleCreate = Static<typeof ScheduleCreate>;

/** Body that changes one; what is left out stays. */
export const ScheduleUpdate = Type.Partial(
  Type.Object({
    ...fields,
    ifVersion: Type.Integer({
      minimum: 1,
      description:
        'Approves this version of the configuration, with the states that it has now: runs of the schedule need the rights of the caller alone for it, and not of those who made it. Refused with 412 when it has another version by now.',
    }),
  }),
);
export type ScheduleUpdate = Static<typeof ScheduleUpdate>;

/** When a configuration is to run. */
export const Schedule = Type.Object(
  {
    id: Type.String(),
    ...fields,
    isPaused: Type.Boolean({
      description: 'True while it is held by `POST schedules/pause`, until `POST schedules/resume`.',
    }),
    nextTime: Type.Union([Time, Type.Null()], {
      description: 'When it runs next; null while it is disabled or paused, and when it never does.',
    }),
    lastTime: Type.Union([Time, Type.Null()], { description: 'The time that it ran for last.' }),
    approvedVersion: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'The version of the configuration that `creatorToken` has approved, by making the schedule or by `ifVersion`. Runs by another version also need the rights of whoever made that; null when none is approved.',
    }),
    refusal: Type.Union(
      [
        Type.Object({
          run: Type.String({ description: 'Id of the run.' }),
          message: Type.String(),
          hint: Type.Optional(Type.String()),
          version: Type.Union([Type.Integer(), Type.Null()]),
        }),
        Type.Null(),
      ],
      {
        description:
          'Why its last run was refused for want of rights; null when it was not, or was approved since.',
      },
    ),
    createdTime: Time,
    creatorToken: Type.Object(
      { id: Type.String(), description: Type.String() },
      { description: 'Who made or last changed it: its runs may do no more than this token.' },
    ),
  },
  { title: 'Schedule' },
);
export type Schedule = Static<typeof Schedule>;

/** Query of `GET schedules`. */
export const SchedulesQuery = Type.Object({
  component: Type.Optional(Type.String()),
  configuration: Type.Optional(Type.String()),
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 168,
      default: 24,
      description: 'How far ahead `times` looks.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** A schedule among those of all configurations. */
export const ListedSchedule = Type.Object(
  {
    ...Schedule.properties,
    component: Type.String(),
    configuration: Type.String(),
    name: Type.String({ description: 'Name of the configuration.' }),
    waitsFor: Type.Enum(['time', 'run', 'resume', 'enabling', 'configuration', 'approval', 'nothing'], {
      description:
        'What it waits for: its `time`; the `run` that it has asked for and that has not ended; to be resumed or enabled; its `configuration`, which is disabled or deleted; the `approval` of a version; `nothing`, as its expression has no more times.',
    }),
    run: Type.Union([Type.String(), Type.Null()], { description: 'With `run`: its id.' }),
    times: Type.Array(Time, {
      description: 'Its next times within the hours asked for, the first 48 of them.',
    }),
    hasMoreTimes: Type.Boolean({ description: 'True when there are more within these hours.' }),
  },
  { title: 'Listed schedule' },
);
export type ListedSchedule = Static<typeof ListedSchedule>;

/** `active`: enabled and not paused; a paused one is enabled. */
const ScheduleStanding = Type.Enum(['active', 'paused', 'disabled']);

/** Query of `GET schedules/brief`. */
export const ScheduleBriefsQuery = Type.Object({
  search: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        'Only those with all of its words in the name or id of the configuration, its component, the expression or the time zone.',
    }),
  ),
  standing: Type.Optional(ScheduleStanding),
  sort: Type.Optional(
    Type.Enum(['next', 'name', 'last'], {
      description:
        'Order: by the next time with those last that have none (the default), by the name of the configuration, or the last started first.',
    }),
  ),
  isReversed: Type.Optional(Type.Boolean({ description: 'The other way round.' })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 500, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type ScheduleBriefsQuery = Static<typeof ScheduleBriefsQuery>;

/** Schedule, as far as lists show it. */
export const ScheduleBrief = Type.Pick(ListedSchedule, [
  'id',
  'component',
  'configuration',
  'name',
  'cron',
  'timeZone',
  'isEnabled',
  'isPaused',
  'waitsFor',
  'run',
  'nextTime',
  'lastTime',
]);
export type ScheduleBrief = Static<typeof ScheduleBrief>;

/** A page of a list of schedules. */
export const ScheduleBriefs = Type.Object(
  {
    counts: Type.Record(ScheduleStanding, Type.Integer(), {
      description: 'How many there are of each standing, whatever is asked for.',
    }),
    total: Type.Integer({ description: 'How many fit the query.' }),
    schedules: Type.Array(ScheduleBrief),
  },
  { title: 'Schedule briefs' },
);
export type ScheduleBriefs = Static<typeof ScheduleBriefs>;

/** Query of `GET schedules/calendar`. */
export const ScheduleCalendarQuery = Type.Object({
  hours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 48, default: 24, description: 'How far ahead it looks.' }),
  ),
});

/** An hour of the calendar. */
export const CalendarHour = Type.Object({
  time: Type.String({ format: 'date-time', description: 'When it begins.' }),
  runs: Type.Integer({ description: 'How many runs begin in it by schedules.' }),
  schedules: Type.Integer({ description: 'How many schedules start them.' }),
  first: Type.Array(
    Type.Object({ component: Type.String(), configuration: Type.String(), name: Type.String() }),
    { description: 'The configurations of up to four of these.' },
  ),
});
export type CalendarHour = Static<typeof CalendarHour>;

/** The next hours with the runs that begin in them by schedules, the hour that goes on first. */
export const ScheduleCalendar = Type.Object(
  { hours: Type.Array(CalendarHour) },
  { title: 'Calendar of schedules' },
);
export type ScheduleCalendar = Static<typeof ScheduleCalendar>;

/** Body of `POST schedules/pause` and `POST schedules/resume`: all schedules that the token may change, or some. */
export const SchedulesHold = Type.Object({
  component: Type.Optional(Type.String({ minLength: 1 })),
  configuration: Type.Optional(Type.String({ minLength: 1, description: 'With `component`.' })),
});
export type SchedulesHold = Static<typeof SchedulesHold>;

/** How many schedules were paused or resumed. */
export const SchedulesHeld = Type.Object({ schedules: Type.Integer() }, { title: 'Held schedules' });
export type SchedulesHeld = Static<typeof SchedulesHeld>;
