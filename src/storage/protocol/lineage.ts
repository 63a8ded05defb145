import { Type, type Static } from 'typebox';
import { Time } from './common.ts';
import { RunStatus } from './run.ts';

const nullable = <T extends ReturnType<typeof Type.String>>(type: T) => Type.Union([type, Type.Null()]);

const load = {
  row: Type.Optional(Type.String({ description: 'Row of the configuration; absent when it has no rows.' })),
  output: Type.String({ description: 'Name of the table in the run.' }),
  runs: Type.Integer({ description: 'How many runs have loaded it, of those that are kept.' }),
  lastRun: Type.String({ description: 'Id of the last one.' }),
  lastTime: Time,
  lastRows: Type.Integer({ description: 'Rows that it gave.' }),
  lastStatus: Type.Union([RunStatus, Type.Null()], {
    description: 'How it ended: a run may fail after a load. Null when it is no longer kept.',
  }),
  lastVerdict: nullable(Type.String()),
  lastVersion: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The version of the configuration that it went by.',
  }),
};

/** A table that runs of a configuration have loaded. */
export const FilledTable = Type.Object(
  {
    table: Type.String({ description: 'Id of the table.' }),
    ...load,
    rowsCount: Type.Union([Type.Integer(), Type.Null()], {
      description: 'How many rows it has now; null when it is gone, or the token may not read it.',
    }),
    dataSizeBytes: Type.Union([Type.Integer(), Type.Null()]),
    lastImportDate: Type.Union([Time, Type.Null()], { description: 'Its last load, by whomever.' }),
    isThere: Type.Boolean({ description: 'False when the table is gone.' }),
  },
  { title: 'Filled table' },
);
export type FilledTable = Static<typeof FilledTable>;

/** A configuration whose runs have loaded a table. */
export const TableSource = Type.Object({
  component: Type.String(),
  configuration: Type.String(),
  name: Type.String({ description: 'Name of the configuration.' }),
  isDeleted: Type.Boolean(),
  isDisabled: Type.Boolean(),
  ...load,
  schedules: Type.Integer({ description: 'How many schedules it has that are enabled.' }),
  nextTime: Type.Union([Time, Type.Null()], { description: 'When it runs next by a schedule.' }),
});
export type TableSource = Static<typeof TableSource>;

/** Sources of a table. */
export const TableSources = Type.Object(
  {
    table: Type.String({ description: 'The table that has the rows: of an alias, that at its end.' }),
    lastImportDate: Type.Union([Time, Type.Null()], { description: 'The last load, by whomever.' }),
    sources: Type.Array(TableSource, { description: 'The last that loaded it first.' }),
    hidden: Type.Integer({ description: 'Further sources, of components that the token may not use.' }),
  },
  { title: 'Table sources' },
);
export type TableSources = Static<typeof TableSources>;

/** Query of `GET tables/<id>/loads`. */
export const TableLoadsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** A load of a table, by a run or by somebody. */
export const TableLoad = Type.Object(
  {
    job: Type.String({ description: 'Id of the storage job.' }),
    run: nullable(Type.String({ description: 'Id of the run that asked for it; null for everybody else.' })),
    time: Time,
    rows: Type.Integer({ description: 'Rows that were loaded.' }),
    totalRows: Type.Integer({ description: 'Rows that the table had then.' }),
    totalBytes: Type.Integer(),
    creatorToken: Type.Object({ id: Type.String(), description: Type.String() }),
  },
  { title: 'Table load' },
);
export type TableLoad = Static<typeof TableLoad>;

const lastDay = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 40,
    description: 'A time on the last day, in UTC; today by default.',
    examples: ['2026-03-01'],
  }),
);

/** Query of `GET runs/days`. */
export const RunDaysQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 366, default: 30, description: 'How many days, with the last one.' }),
  ),
  until: lastDay,
  component: Type.Optional(Type.String()),
  configuration: Type.Optional(Type.String()),
});

/** How the runs ended that ended on a day. */
export const RunDay = Type.Object(
  {
    day: Type.String({ description: 'In UTC.', examples: ['2026-03-01'] }),
    success: Type.Integer({ description: 'Without those in doubt.' }),
    doubtful: Type.Integer({ description: 'Succeeded, and may not have everything.' }),
    error: Type.Integer(),
    cancelled: Type.Integer(),
  },
  { title: 'Run day' },
);
export type RunDay = Static<typeof RunDay>;

/** Query of `GET runs/source-days`. */
export const SourceDaysQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 31, default: 14, description: 'How many days, with the last one.' }),
  ),
  until: lastDay,
  search: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Only those with all of its words in name, id or component.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 40 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});

/** How the runs of a configuration ended, by day. */
export const SourceDays = Type.Object(
  {
    component: Type.String(),
    configuration: Type.String(),
    name: Type.String(),
    days: Type.Array(RunDay, { description: 'Days on which runs of it ended, the oldest first.' }),
  },
  { title: 'Source days' },
);
export type SourceDays = Static<typeof SourceDays>;

export const SourceDaysPage = Type.Object(
  {
    days: Type.Array(Type.String(), { description: 'All days of the range, the oldest first.' }),
    total: Type.Integer({ description: 'Configurations that fit the search.' }),
    sources: Type.Array(SourceDays, {
      description: 'Those of which most runs failed come first, then those with most doubts, then by name.',
    }),
  },
  { title: 'Source days page' },
);
export type SourceDaysPage = Static<typeof SourceDaysPage>;
