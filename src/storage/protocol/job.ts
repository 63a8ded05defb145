import { Type, type Static } from 'typebox';
import { Time } from './common.ts';

export const JobStatus = Type.Enum(['waiting', 'processing', 'success', 'error']);
export type JobStatus = Static<typeof JobStatus>;

/** A job. `error` is there only when it failed, and is an object then. */
export const Job = Type.Object(
  {
    id: Type.Integer(),
    status: JobStatus,
    url: Type.String({ description: 'Where to ask for it again.' }),
    tableId: Type.Union([Type.String(), Type.Null()]),
    operationName: Type.String(),
    operationParams: Type.Unknown(),
    createdTime: Time,
    startTime: Type.Union([Time, Type.Null()]),
    endTime: Type.Union([Time, Type.Null()]),
    runId: Type.Union([Type.String(), Type.Null()]),
    results: Type.Unknown({ description: 'Null until it is finished.' }),
    error: Type.Optional(
      Type.Object({ code: Type.String(), message: Type.String(), exceptionId: Type.String() }),
    ),
    creatorToken: Type.Object({ id: Type.String(), description: Type.String() }),
    metrics: Type.Object({
      inCompressed: Type.Boolean(),
      inBytes: Type.Integer(),
      inBytesUncompressed: Type.Integer(),
      outCompressed: Type.Boolean(),
      outBytes: Type.Integer(),
      outBytesUncompressed: Type.Integer(),
    }),
  },
  { title: 'Job' },
);
export type Job = Static<typeof Job>;

const Moment = Type.Optional(Type.String({ examples: ['2017-02-14 10:34:45'], description: 'In UTC.' }));

/** Query of `GET jobs`. */
export const JobsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  storage_job_status: Type.Optional(Type.Array(Type.String())),
  excluded_storage_job_status: Type.Optional(Type.Array(Type.String())),
  operationName: Type.Optional(
    Type.Array(Type.String(), { description: 'Only these operations, such as `tableImport`.' }),
  ),
  tableId: Type.Optional(Type.String({ description: 'Only jobs of this table.' })),
  created_time: Moment,
  created_time_from: Moment,
  created_time_to: Moment,
  start_time: Moment,
  start_time_from: Moment,
  start_time_to: Moment,
  end_time: Moment,
  end_time_from: Moment,
  end_time_to: Moment,
});
