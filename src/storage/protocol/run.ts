import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

/**
 * `waiting` for a runner, or for the run of the same configuration before it; `processing` on a runner; then one of
 * `success`, `error`, and `cancelled` on request.
 */
export const RunStatus = Type.Enum(['waiting', 'processing', 'success', 'error', 'cancelled']);
export type RunStatus = Static<typeof RunStatus>;

const RowIds = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
  description:
    'Only these rows of the configuration, also disabled ones; all that are not disabled by default.',
});

/** Body of `POST runs`. */
export const RunCreate = Type.Object({
  component: Type.String({ minLength: 1, description: 'Id of the component, such as `ex-generic-v2`.' }),
  configuration: Type.String({ minLength: 1, description: 'Id of the configuration.' }),
  rows: Type.Optional(RowIds),
  from: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Asks again for the time from here on, as `gex run --from`; no state moves.',
      examples: ['2026-01-01'],
    }),
  ),
  to: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'With `from`: up to before this time.' }),
  ),
  restart: Type.Optional(
    Type.Boolean({
      description:
        'Asks for everything again, also where a run that failed could be gone on with. Default: false.',
    }),
  ),
  ifVersion: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Refused with 412 when the configuration has another version by now. Without it, the run goes by the version that is there.',
    }),
  ),
  ifRunning: Type.Optional(
    Type.Enum(['wait', 'refuse'], {
      description:
        'What happens while an earlier run of the configuration has not ended: this one waits for it (the default), or is refused with 409.',
    }),
  ),
});
export type RunCreate = Static<typeof RunCreate>;

/** Rights of a token to run a configuration. */
export const MayRun = Type.Object(
  {
    canRun: Type.Boolean({
      description:
        'True when a run that this token starts now would have all rights that it needs: to use the component, to write into its buckets, to read what its mapping takes.',
    }),
    reason: Type.Optional(Type.String({ description: 'Why not.' })),
    hint: Type.Optional(Type.String({ description: 'What to do.' })),
  },
  { title: 'Run rights' },
);
export type MayRun = Static<typeof MayRun>;

/** Body of `POST runs/<id>/accept`. */
export const RunAccept = Type.Object({
  because: Type.String({
    minLength: 1,
    maxLength: 1000,
    pattern: '\\S',
    description: 'Why the tables are good all the same: it goes into the report.',
    examples: ['The total counts deleted users, too.'],
  }),
});
export type RunAccept = Static<typeof RunAccept>;

/** Query of `GET runs`. */
export const RunsQuery = Type.Object({
  component: Type.Optional(Type.String()),
  configuration: Type.Optional(Type.String()),
  status: Type.Optional(Type.Array(RunStatus)),
  isLast: Type.Optional(
    Type.Boolean({
      description:
        'Only the last run of each configuration, of those that have one of the statuses asked for.',
    }),
  ),
  isBad: Type.Optional(
    Type.Boolean({
      description:
        'Only those that failed, and those whose verdict is `cut` or `doubtful`; not those whose doubt was accepted.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'Only those that ended from this time on: a time of ISO 8601.',
      examples: ['2026-03-01T18:00:00Z'],
    }),
  ),
  until: Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: 'Only those that ended before this time.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** Result of a run for a row of its configuration. */
export const RunRowResult = Type.Object({
  id: Type.Optional(Type.String({ description: 'Absent when the configuration has no rows.' })),
  verdict: Type.Optional(
    Type.String({ description: 'The worst of its jobs: `complete`, `ended`, `cut` or `doubtful`.' }),
  ),
  isHeld: Type.Optional(
    Type.Boolean({ description: 'True when nothing was pushed, as it may not be everything.' }),
  ),
  rows: Type.Integer({ description: 'Rows in all tables.' }),
  tables: Type.Array(
    Type.Object({
      name: Type.String(),
      rows: Type.Integer(),
      destination: Type.Optional(Type.String({ description: 'The table that they were loaded into.' })),
    }),
  ),
  jobs: Type.Array(Type.Unknown({ description: 'Whether each job has everything, as in `report.json`.' })),
});
export type RunRowResult = Static<typeof RunRowResult>;

export const RunError = Type.Object({
  code: Type.String(),
  message: Type.String(),
  audience: Type.Enum(['user', 'application'], { description: 'Whose it is to mend.' }),
  hint: Type.Optional(Type.String()),
  where: Type.Optional(Type.Unknown()),
});
export type RunError = Static<typeof RunError>;

/** Milliseconds that a run spent on each part of its work: each moment counts once, for what was under way. */
export const RunSpent = Type.Object({
  startMs: Type.Integer({ description: 'Until its process had begun.' }),
  loginMs: Type.Integer({ description: 'Waiting for the answers of logins.' }),
  requestsMs: Type.Integer({ description: 'Waiting for answers of the API.' }),
  waitingMs: Type.Integer({
    description:
      'For limits of the configuration, and before requests were sent again, while none was under way.',
  }),
  inputMs: Type.Integer({ description: 'Fetching tables and files of the input mapping.' }),
  writingMs: Type.Integer({ description: 'Writing tables, and all else.' }),
  uploadMs: Type.Integer({ description: 'Uploading tables and files.' }),
  importMs: Type.Integer({ description: 'Behind an upload: while the storage loads it into tables.' }),
});
export type RunSpent = Static<typeof RunSpent>;

/** How far a run is that has not ended: bounded, and of the last second or two. */
export const RunProgress = Type.Object({
  time: Type.String({ description: 'When this was so.' }),
  row: Type.Optional(Type.String({ description: 'The row of the configuration that is at work.' })),
  pages: Type.Integer({ description: 'Of all jobs of this attempt; also below.' }),
  rows: Type.Integer(),
  bytes: Type.Integer(),
  rowsPerSecond: Type.Number({ description: 'Over the last ten seconds.' }),
  requests: Type.Integer({ description: 'That went out, logins and further attempts among them.' }),
  retries: Type.Integer({ description: 'Requests that were, or are about to be, sent again.' }),
  waitedMs: Type.Integer({
    description: 'Spent waiting, by limits of the configuration and before retries.',
  }),
  waiting: Type.Optional(
    Type.Object(
      {
        for: Type.Enum(['pace', 'retry'], {
          description: '`pace`: a limit of the configuration; `retry`: until a request is sent again.',
        }),
        until: Type.String(),
      },
      { description: 'Present while nothing is under way but that.' },
    ),
  ),
  last: Type.Optional(
    Type.Object(
      {
        request: Type.String({ description: 'Method and address, without secrets.' }),
        status: Type.Optional(Type.Integer()),
        failure: Type.Optional(Type.String()),
        ms: Type.Optional(Type.Integer({ description: 'Absent while it is not answered.' })),
      },
      { description: 'The last request.' },
    ),
  ),
  transfer: Type.Optional(
    Type.Object(
      {
        direction: Type.Enum(['upload', 'download']),
        name: Type.String(),
        bytes: Type.Integer(),
        totalBytes: Type.Optional(Type.Integer()),
      },
      { description: 'The file that is moved between the run and the storage.' },
    ),
  ),
  spent: Type.Optional(RunSpent),
  jobs: Type.Array(
    Type.Object({
      row: Type.Optional(Type.String()),
      job: Type.String(),
      level: Type.Integer({ description: '0 for a job, 1 for its children, and so on.' }),
      pages: Type.Integer(),
      rows: Type.Integer(),
      bytes: Type.Integer(),
      startTime: Type.String(),
      end: Type.Optional(Type.String({ description: 'Why it ended, in words. Absent while it is at work.' })),
    }),
    { description: 'The last 50 jobs.' },
  ),
});
export type RunProgress = Static<typeof RunProgress>;

const nullable = <T extends ReturnType<typeof Type.String>>(type: T) => Type.Union([type, Type.Null()]);

/** Acceptance of the doubt of a run: by whom, and why. */
const RunAcceptance = Type.Object(
  {
    because: Type.String(),
    creatorToken: Type.Optional(
      Type.Object(
        { id: Type.String(), description: Type.String() },
        { description: 'Absent where the configuration says it, by `completeness` of a job.' },
      ),
    ),
    run: Type.Optional(Type.String({ description: 'The run that has loaded what this one had held back.' })),
  },
  { description: 'Present when its doubt was accepted: it is no failure any longer.' },
);

/** A run of a configuration. */
export const Run = Type.Object(
  {
    id: Type.String(),
    status: RunStatus,
    branchId: Type.Integer(),
    component: Type.String(),
    configuration: Type.String(),
    asked: Type.Object(
      {
        rows: Type.Optional(Type.Array(Type.String())),
        from: Type.Optional(Type.String()),
        to: Type.Optional(Type.String()),
        restart: Type.Optional(Type.Boolean()),
      },
      { description: 'What it was started with.' },
    ),
    accepts: Type.Optional(
      Type.Object(
        { run: Type.String(), because: Type.String() },
        { description: 'Of a run that loads what another one has held back: which one, and why.' },
      ),
    ),
    configurationVersion: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'The version that was there when it was asked for, which it goes by; null of one that an older version of the service has asked for.',
    }),
    schedule: nullable(Type.String({ description: 'Id of the schedule that asked for it.' })),
    scheduledTime: nullable(Time),
    creatorToken: Type.Object({ id: Type.String(), description: Type.String() }),
    createdTime: Time,
    startTime: nullable(Time),
    endTime: nullable(Time),
    cancelTime: nullable(Type.String({ description: 'When it was asked to end.' })),
    attempt: Type.Integer({ description: 'How often a runner took it; more than 1 when one was lost.' }),
    verdict: nullable(Type.String({ description: 'The worst of its rows.' })),
    accepted: Type.Optional(RunAcceptance),
    exitCode: Type.Union([Type.Integer(), Type.Null()]),
    error: Type.Union([RunError, Type.Null()]),
    log: Type.Object({ lines: Type.Integer() }),
    progress: Type.Optional(RunProgress),
    spent: Type.Optional(
      Type.Object(RunSpent.properties, {
        description: 'When it has ended: what its last attempt spent its time on. Not in lists.',
      }),
    ),
    rowCount: Type.Optional(
      Type.Integer({
        description:
          'In lists: rows that it has loaded into tables, without those that are held back, or those that have come so far.',
      }),
    ),
    rows: Type.Optional(
      Type.Array(RunRowResult, { description: 'Of the rows that ran, when it has ended. Not in lists.' }),
    ),
  },
  { title: 'Run' },
);
export type Run = Static<typeof Run>;

/** Query of `GET runs/<id>/log`. */
export const RunLogQuery = Type.Object({
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: 'Lines to leave out: `next` of the last answer.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1000 })),
});

/** Query of `GET runs/<id>/events`. */
export const RunEventsQuery = Type.Object({
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Lines of the log to leave out. `Last-Event-ID` says the same, and comes first.',
    }),
  ),
});

/** A part of the log of a run. */
export const RunLog = Type.Object({
  lines: Type.Array(
    Type.Unknown({
      description: 'An object with `level`, `time`, `message` and further facts.',
      examples: [{ level: 'info', time: '2026-01-02T03:04:05.000Z', message: 'Made the bucket in.c-main' }],
    }),
  ),
  next: Type.Integer({ description: 'The offset to go on from.' }),
  isEnded: Type.Boolean({ description: 'True when nothing comes any more.' }),
});
export type RunLog = Static<typeof RunLog>;
