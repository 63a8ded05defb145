import { Type, type Static } from 'typebox';

/** Query of `GET runs/<id>/explanation`. */
export const RunExplanationQuery = Type.Object({
  row: Type.Optional(Type.String({ description: 'Only this row of the configuration.' })),
  job: Type.Optional(Type.String({ description: 'Only the job of this name, in each row that has one.' })),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Requests to leave out: `next` of the last answer.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, default: 100, description: 'Requests at most.' }),
  ),
});

/** A job in the recording of a row, without its requests. */
const ExplainedJob = Type.Object({
  job: Type.String({ description: 'Its name; several may have the same.' }),
  level: Type.Integer({ description: '0 for a job, 1 for its children, and so on.' }),
  verdict: Type.Optional(Type.String({ description: 'Absent when no run of it ended.' })),
  pages: Type.Optional(Type.Integer()),
  rows: Type.Optional(Type.Integer()),
  doubtful: Type.Optional(Type.Array(Type.Unknown(), { description: 'The first doubtful runs.' })),
  runs: Type.Integer({ description: 'Runs of the job: of a child, one for each row above it.' }),
  requests: Type.Integer({ description: 'Requests that can be asked for.' }),
});

/** A change of the number of requests at once to a host, where the concurrency is `auto`. */
const ExplainedLimit = Type.Object({
  at: Type.String({ description: 'When it was.' }),
  origin: Type.String({ description: 'The host.' }),
  credential: Type.Optional(
    Type.String({ description: 'Tells credentials from each other, and nothing of them.' }),
  ),
  sent: Type.Integer({ description: 'Requests sent to it so far.' }),
  from: Type.Integer(),
  to: Type.Integer({ description: 'The same as before where something held it.' }),
  why: Type.String(),
});

/** Recording of a row. */
const ExplainedRecording = Type.Object({
  version: Type.String({ description: 'Of the program that ran.' }),
  startedAt: Type.String(),
  row: Type.Optional(Type.String({ description: 'Absent when the configuration has no rows.' })),
  finished: Type.Boolean({ description: 'True when all jobs had ended.' }),
  damagedBytes: Type.Optional(Type.Integer()),
  leftOut: Type.Optional(
    Type.Integer({ description: 'Requests in the middle of a long recording that are not told of.' }),
  ),
  limits: Type.Optional(
    Type.Array(ExplainedLimit, {
      description: 'The last 500 changes of the number of requests at once that this row led to.',
    }),
  ),
  jobs: Type.Array(ExplainedJob),
});

/** Which run of a job. */
const ExplainedRun = Type.Object({
  iteration: Type.Optional(Type.Integer({ description: 'Of a job at the top, where it has `iterations`.' })),
  above: Type.Optional(
    Type.Array(Type.Object({ job: Type.String(), page: Type.Integer() }), {
      description: 'Of a child: the pages above it.',
    }),
  ),
  row: Type.Optional(Type.Integer({ description: 'Of a child: which row of the page above, from 1.' })),
  window: Type.Optional(Type.String({ description: 'The window of time that it asked for, in words.' })),
});

/** A request, and what followed from its answer. */
const ExplainedRequest = Type.Object({
  row: Type.Optional(Type.String({ description: 'The row of the configuration.' })),
  job: Type.String(),
  level: Type.Integer(),
  run: ExplainedRun,
  page: Type.Integer({ description: 'From 1; of a step of an export, how often it was asked.' }),
  step: Type.Optional(Type.String({ description: 'Of an export, before its first page.' })),
  request: Type.Object({ method: Type.String(), url: Type.String(), body: Type.Optional(Type.String()) }),
  status: Type.Integer(),
  answeredBy: Type.Optional(Type.String({ description: 'The address that answered, after redirects.' })),
  at: Type.String({ description: 'When the answer had come.' }),
  ms: Type.Integer({ description: 'How long it took, with waiting and retries.' }),
  retries: Type.Integer(),
  bytes: Type.Integer(),
  rows: Type.Optional(Type.Integer()),
  fate: Type.Enum(['used', 'ahead', 'bad', 'open'], {
    description:
      '`used`; or asked for ahead and not needed, an answer that could not be used, or the last one of a run that was stopped.',
  }),
  from: Type.Array(Type.Unknown(), {
    description:
      'What led to it: objects with `how` (`link`, `value`, `count`, `id`, `row`) and the places. Empty for what the configuration asks for.',
  }),
  looked: Type.Optional(
    Type.Unknown({ description: 'What the pagination looked at, by path: texts and null.' }),
  ),
  end: Type.Optional(
    Type.Unknown({ description: 'Why the pages ended here: an object with `code`, `text` and its values.' }),
  ),
  judgement: Type.Optional(
    Type.Unknown({ description: 'Whether the pages were all: `verdict`, `doubts` and the proof.' }),
  ),
});

/** Requests of a run, the reasons that led from page to page, and why each job ended. */
export const RunExplanation = Type.Object(
  {
    recordings: Type.Array(ExplainedRecording, {
      description: 'Of each row; only those that were asked for.',
    }),
    requests: Type.Array(ExplainedRequest, { description: 'A part of them, in the order of the jobs.' }),
    next: Type.Integer({ description: 'The offset to go on from.' }),
    isEnded: Type.Boolean({ description: 'True when there are no more requests.' }),
  },
  { title: 'Run explanation' },
);
export type RunExplanation = Static<typeof RunExplanation>;
