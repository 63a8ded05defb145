import { Type, type Static } from 'typebox';
import { Time } from './common.ts';
import { RunError } from './run.ts';

/** Query of `GET runs/problems`. */
export const RunProblemsQuery = Type.Object({
  since: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description:
        'Runs that ended from this time on: a time of ISO 8601, of the last 24 hours when it is left out.',
      examples: ['2026-03-01T18:00:00Z'],
    }),
  ),
  until: Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: 'Up to before this time; now by default.' }),
  ),
  component: Type.Optional(Type.String()),
  configuration: Type.Optional(Type.String()),
});

/** A configuration with runs that went wrong for the same cause. */
const ProblemSource = Type.Object({
  component: Type.String(),
  configuration: Type.String(),
  runs: Type.Integer({ description: 'Of it, with this cause.' }),
  lastRun: Type.String({ description: 'Id of the newest of them.' }),
  lastTime: Time,
  isSolved: Type.Boolean({
    description: 'True when a newer run of it succeeded, without a doubt or with one that was accepted.',
  }),
});

/** Runs that went wrong for the same cause: what they say is the same but for names, numbers and addresses. */
const RunProblem = Type.Object({
  id: Type.String({ description: 'The same for the same cause, also in other answers.' }),
  kind: Type.Enum(['failed', 'doubtful'], {
    description: '`doubtful`: the runs succeeded, and their tables may not have everything.',
  }),
  error: RunError,
  host: Type.Optional(
    Type.String({ description: 'The host that was asked, where the error has an address.' }),
  ),
  runs: Type.Integer({ description: 'How many.' }),
  firstTime: Time,
  lastTime: Time,
  runIds: Type.Array(Type.String(), { description: 'The newest 100 of them, the newest first.' }),
  sources: Type.Array(ProblemSource, { description: 'The last that failed first.' }),
});
export type RunProblem = Static<typeof RunProblem>;

/** Times of a schedule that gave no run. */
const MissedRun = Type.Object({
  schedule: Type.String(),
  component: Type.String(),
  configuration: Type.String(),
  cron: Type.String(),
  timeZone: Type.String(),
  reason: Type.Enum(['away', 'waiting', 'overdue'], {
    description:
      '`away`: no process of the service looked at schedules then; `waiting`: the run before it still waited; `overdue`: its time has come, and no process looks at schedules.',
  }),
  times: Type.Integer({ description: 'How many.' }),
  firstTime: Time,
  lastTime: Time,
});
export type MissedRun = Static<typeof MissedRun>;

/** Runs that went wrong in a range of time, by their causes, and those that should have been and were not. */
export const RunProblems = Type.Object(
  {
    since: Time,
    until: Time,
    counts: Type.Object(
      {
        success: Type.Integer(),
        doubtful: Type.Integer({ description: 'Of those that succeeded; accepted ones are not among them.' }),
        error: Type.Integer(),
        cancelled: Type.Integer(),
        accepted: Type.Integer({
          description:
            'Runs whose doubt was accepted. Those that had loaded nothing count neither as `error` nor as `success`, the others as `success`.',
        }),
      },
      { description: 'Runs that ended in the range.' },
    ),
    problems: Type.Array(RunProblem, {
      description: 'Those first that are not solved in some configuration, then those with the most runs.',
    }),
    missed: Type.Array(MissedRun),
    leftOut: Type.Integer({ description: 'Runs that went wrong and were not looked at: beyond 10,000.' }),
  },
  { title: 'Run problems' },
);
export type RunProblems = Static<typeof RunProblems>;
