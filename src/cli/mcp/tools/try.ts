import { Type } from 'typebox';
import { scopeFrom } from '../../../lib/encryption/index.ts';
import type { Tried } from '../../../service/domain/builder/builder-types.ts';
import { toldError } from '../../../service/domain/builder/process/told-error.ts';
import { RunError } from '../../../lib/errors.ts';
import { configurationText } from '../given-configuration.ts';
import type { KeptTrial } from '../trials.ts';
import { resultOf } from '../told-failure.ts';
import { defineTool } from '../tool.ts';
import { configurationInput } from './configuration.ts';

const SHOWN_REQUESTS = 30;
const SHOWN_ROWS = 3;
const CELL_LETTERS = 200;
const MOST_ROWS = 50;

export const tryConfiguration = defineTool({
  name: 'try_configuration',
  title: 'Try a configuration',
  description:
    'Runs a configuration for a few pages of each job, by the engine of every run, in a folder of its own: nothing is pushed, and no state changes. Returns verdicts, tables with their first rows, and requests. Go on with show_rows and explain.',
  input: Type.Object({
    configuration: configurationInput,
    row: Type.Optional(Type.String({ description: 'Only this row of the configuration.' })),
    pages: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20, default: 2, description: 'Pages of each job.' }),
    ),
    replay: Type.Optional(
      Type.String({
        description:
          'An earlier trial, such as trial-1: its answers are used again and the API is not asked, to try another mapping.',
      }),
    ),
  }),
  works: 'at an API',
  async run({ configuration, row, pages = 2, replay }, call) {
    const { session } = call;
    const document = await configurationText(configuration, session.dataFolder, session.grants);
    const recording = replay === undefined ? undefined : recordingOf(session.trials.find(replay));
    const maxRequests = replay === undefined ? session.requestsFor(call) : undefined;
    const { id, folder } = await session.trials.begin();
    const said = await session.ask(
      {
        kind: 'try',
        document,
        row,
        pages,
        recording,
        keys: session.keys(),
        scope: scopeFrom(process.env),
        environment: session.grants.variables,
        maxRequests,
        onlyReads: true,
        folder,
      },
      call,
    );
    const { tried } = resultOf(said, 'tried');
    session.trials.keep(id, tried, recording !== undefined);
    const late = tried.error === undefined ? undefined : call.lateness();
    return {
      trial: id,
      ...summary(tried),
      ...(late === undefined ? {} : { error: toldError(late, session.secrets) }),
    };
  },
});

function recordingOf({ id, tried }: KeptTrial): string {
  if (tried.recording !== null) return tried.recording;
  throw new RunError('command.invalid', `The answers of ${id} are too large to be used again.`, {
    hint: 'Try it without replay, with fewer pages.',
  });
}

function summary({ error, jobs, tables, recordings, warnings }: Tried): object {
  const requests = recordings.flatMap(({ row, jobs: told }) =>
    told.flatMap(({ job, runs }) =>
      runs.flatMap((run) =>
        run.pages.map(({ page, request, status, rows, answer, end }) => ({
          ...(row === undefined ? {} : { row }),
          job,
          page,
          request: `${request.method} ${request.url}`,
          status,
          ...(rows === undefined ? {} : { rows }),
          ...(answer === undefined ? {} : { answer: answer.slice(0, 1000).toWellFormed() }),
          ...(end === undefined ? {} : { end: end.text }),
        })),
      ),
    ),
  );
  return {
    ...(error === undefined ? {} : { error }),
    jobs: jobs.map(({ reasons, ...job }) => ({ ...job, reasons: reasons.map(({ text }) => text) })),
    tables: tables.map(({ rows, ...table }) => ({ ...table, rows: rows.slice(0, SHOWN_ROWS).map(cut) })),
    requests: requests.slice(0, SHOWN_REQUESTS),
    requestsCount: requests.length,
    warnings,
  };
}

const cut = (row: readonly string[]): readonly string[] =>
  row.map((cell) => (cell.length > CELL_LETTERS ? `${cell.slice(0, CELL_LETTERS).toWellFormed()}…` : cell));

export const showRows = defineTool({
  name: 'show_rows',
  title: 'Show rows of a trial',
  description: 'Returns rows of a table that try_configuration has made, as they would be loaded.',
  input: Type.Object({
    trial: Type.Optional(Type.String({ description: 'Such as trial-1; the last one by default.' })),
    table: Type.Optional(Type.String({ description: 'Its name; the first one by default.' })),
    row: Type.Optional(
      Type.String({ description: 'Row of the configuration, where several have the table.' }),
    ),
    from: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ROWS, default: 20 })),
  }),
  works: 'here',
  async run({ trial, table, row, from = 0, count = 20 }, { session }) {
    const { id, tried } = session.trials.find(trial);
    const found = tried.tables.find(
      (each) => (table === undefined || each.name === table) && (row === undefined || each.row === row),
    );
    if (found === undefined)
      throw new RunError('command.invalid', `${id} has no such table.`, {
        hint: `It has: ${tried.tables.map(({ name }) => name).join(', ') || 'none'}.`,
      });
    const { rows, ...about } = found;
    const note =
      rows.length < found.rowsCount
        ? { note: `Of ${found.rowsCount} rows the first ${rows.length} are kept.` }
        : {};
    return await Promise.resolve({
      trial: id,
      ...about,
      from,
      rows: rows.slice(from, from + count),
      ...note,
    });
  },
});
