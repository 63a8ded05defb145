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
    nextTime: Type.Union([Time, Type.Null()], {
      description: 'When it runs next; null while it is disabled, and when it never does.',
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
