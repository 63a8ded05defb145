import { RunError } from '../../lib/errors.ts';
import type { TableDifference, TableVersion } from '../../storage/client/index.ts';
import { valued, type Args, type Command } from '../command.ts';
import { formatTable, plural } from '../format.ts';
import { countArg } from '../shared.ts';
import { number, short, time } from './facts.ts';
import { tableWord } from './id-word.ts';
import { fitted } from './shown-rows.ts';
import { storageCommand } from './storage-command.ts';

const HISTORY_LENGTH = 20;
const DIFFERENCE_ROWS = 20;

/** Commands over the earlier versions of tables, which a lake keeps. */
export const historyCommands: readonly Command[] = [
  storageCommand({
    name: 'history',
    describe: 'List the changes of a table in a lake, the newest first, with the run of each',
    words: [tableWord],
    options: {
      limit: valued('COUNT', `So many; ${HISTORY_LENGTH} by default`),
      run: valued('ID', 'Only changes of this run'),
    },
    examples: [['gex storage tables history in.c-main.users', 'The last changes']],
    async run({ args, client, io, show }) {
      const limit = countArg(args, 'limit') ?? HISTORY_LENGTH;
      const versions = await client.tables.versions(args.word('table'), { limit, runId: args.text('run') });
      show(versions, () =>
        versions.length === 0
          ? 'No changes are kept.'
          : fitted(describeVersions(versions), io.width, '--json has all of it.'),
      );
    },
  }),
  storageCommand({
    name: 'diff',
    describe: 'Show the rows of a table in a lake that a change or a run added, removed and changed',
    words: [tableWord],
    options: {
      version: valued('NUMBER', 'What this change did; the numbers are in the history'),
      run: valued('ID', 'What the changes of this run did together'),
      from: valued('NUMBER', 'Between two versions, with --to'),
      to: valued('NUMBER', 'The later one of them'),
      limit: valued('ROWS', `Rows of each kind; ${DIFFERENCE_ROWS} by default`),
    },
    examples: [
      ['gex storage tables diff in.c-main.users --run 42', 'What did this run change?'],
      ['gex storage tables diff in.c-main.users --from 17 --to 23', 'Between two versions'],
    ],
    async run({ args, client, io, show }) {
      const query = {
        version: countArg(args, 'version'),
        runId: args.text('run'),
        from: countArg(args, 'from'),
        to: countArg(args, 'to'),
        limit: countArg(args, 'limit') ?? DIFFERENCE_ROWS,
      };
      requireOne(args);
      const found = await client.tables.difference(args.word('table'), query, { signal: io.signal });
      show(found, () => fitted(describeDifference(found), io.width, '--json has all of it.'));
    },
  }),
  storageCommand({
    name: 'restore',
    describe: 'Set a table in a lake back to a version: columns, key and rows. It is one more change',
    words: [
      tableWord,
      {
        name: 'version',
        describe: 'Its number in the history, or a time such as “-2 hours”',
        isRequired: true,
      },
    ],
    examples: [['gex storage tables restore in.c-main.users 17', 'As it was at version 17']],
    async run({ args, client, line, show }) {
      const id = args.word('table');
      const restored = await client.tables.restore(id, args.word('version'), line.wait);
      show(
        { table: id, ...restored },
        () => `${id} is as at version ${restored.version}: ${plural(restored.totalRowsCount, 'row')}`,
      );
    },
  }),
];

/** @throws {RunError} unless one difference is named */
function requireOne(args: Args): void {
  const given = ['version', 'run', 'from'].filter((name) => args.text(name) !== undefined);
  if (given.length === 1 && (args.text('from') === undefined) === (args.text('to') === undefined)) return;
  throw new RunError('command.invalid', 'A difference is that of --version, of --run, or --from and --to.', {
    hint: 'gex storage tables history TABLE lists the versions and their runs.',
  });
}

function describeVersions(versions: readonly TableVersion[]): string {
  return formatTable(
    ['version', 'time', 'change', 'loaded', 'rows', 'columns', 'run', 'configuration', 'job'],
    versions.map((version) => [
      String(version.version),
      time(version.created),
      version.change,
      number(version.importedRowsCount),
      number(version.rowsCount),
      short(
        [
          ...version.addedColumns.map((name) => `+${name}`),
          ...version.droppedColumns.map((name) => `-${name}`),
        ].join(' '),
        30,
      ),
      short(version.runId ?? '', 20),
      short(configurationOf(version), 40),
      version.jobId === null ? '' : String(version.jobId),
    ]),
    ['version', 'loaded', 'rows', 'job'],
  );
}

function configurationOf(version: TableVersion): string {
  const { component, configuration, configurationRow, configurationVersion } = version;
  const place = [component, configuration, configurationRow].filter((part) => part !== null).join('/');
  return configurationVersion === null ? place : `${place} v${configurationVersion}`;
}

function describeDifference({ columns, rows, ...found }: TableDifference): string {
  const { addedCount, removedCount, changedCount, from, to } = found;
  const counts = `Version ${from} to ${to}: ${number(addedCount)} added, ${number(removedCount)} removed, ${number(changedCount)} changed.`;
  if (rows.length === 0) return counts;
  const lines = rows.map(({ change, before, after }) =>
    change === 'changed'
      ? ['~', ...columns.map((_, i) => changedCell(before?.[i] ?? '', after?.[i] ?? ''))]
      : [change === 'added' ? '+' : '-', ...(after ?? before ?? []).map((cell) => short(cell, 40))],
  );
  const more = addedCount + removedCount + changedCount - rows.length;
  const rest = more > 0 ? `\n${number(more)} more; --limit shows more of them.` : '';
  return `${counts}\n\n${formatTable(['', ...columns], lines)}${rest}`;
}

const changedCell = (before: string, after: string): string =>
  before === after ? short(after, 40) : `${short(before, 20)} → ${short(after, 20)}`;
