import type { StorageClient, Table } from '../../storage/client/index.ts';
import { flag, valued, type Command } from '../command.ts';
import { formatTable } from '../format.ts';
import { changeCommands } from './change-table.ts';
import { exportCommand } from './export-table.ts';
import { facts, number, short, size, time } from './facts.ts';
import { historyCommands } from './table-history.ts';
import { loadCommands } from './load-table.ts';
import { orphansCommand } from './orphans.ts';
import { tableWord } from './id-word.ts';
import { rowCommand } from './row-origin.ts';
import { describeOrigin, originOf } from './table-origin.ts';
import { fitted, verticalRows } from './shown-rows.ts';
import { storageCommand, type StorageContext } from './storage-command.ts';
import { rowOptions, rowsQuery } from './where.ts';

export const tableCommands: readonly Command[] = [
  storageCommand({
    name: 'list',
    describe: 'List the tables',
    options: { bucket: valued('ID', 'Only those of this bucket') },
    examples: [['gex storage tables list --bucket in.c-main', 'Those of a bucket']],
    async run({ args, client, show }) {
      const bucket = args.text('bucket');
      const tables = await client.tables.list(bucket === undefined ? {} : { bucket });
      show(tables, () => (tables.length === 0 ? 'There are no tables.' : describeTables(tables)));
    },
  }),
  storageCommand({
    name: 'show',
    describe: 'Show what is known of a table: columns, key, size, how fresh it is and where it comes from',
    words: [tableWord],
    examples: [['gex storage tables show in.c-main.users', 'One table']],
    async run({ args, client, io, show }) {
      const table = await client.tables.detail(await idOf(client, args.word('table')));
      const origin = await originOf(client, table.id);
      show({ ...table, ...origin }, () => describeTable(table) + describeOrigin(origin, io.width));
    },
  }),
  storageCommand({
    name: 'preview',
    describe: 'Show the first rows of a table, 20 without a limit',
    words: [tableWord],
    options: {
      ...rowOptions,
      vertical: flag('Each row as lines of column and value: for wide tables'),
    },
    examples: [
      ['gex storage tables preview in.c-main.users --where status=open', 'Some rows'],
      ['gex storage tables preview in.c-main.users --limit 1 --vertical', 'All of the first row'],
    ],
    run: preview,
  }),
  rowCommand,
  ...historyCommands,
  ...loadCommands,
  exportCommand,
  ...changeCommands,
  orphansCommand,
];

/** Returns the id of a table; its last part, or its name that is shown, is enough where one table alone has that. */
async function idOf(client: StorageClient, given: string): Promise<string> {
  if (given.includes('.')) return given;
  // An error of the list is not told: that of the table itself says more.
  const found = await client.tables.brief({ search: given, limit: MOST_NAMED }).catch(() => undefined);
  const named = (found?.tables ?? []).filter(({ id, name }) => id.endsWith(`.${given}`) || name === given);
  const [only] = named;
  return only !== undefined && named.length === 1 ? only.id : given;
}

const MOST_NAMED = 500;

const PREVIEW_ROWS = 20;

async function preview({ args, io, client, show }: StorageContext): Promise<void> {
  const data = await client.tables.preview(args.word('table'), { limit: PREVIEW_ROWS, ...rowsQuery(args) });
  show(data, () => {
    if (data.rows.length === 0) return 'No rows.';
    const rows = data.rows.map((row) => row.map((cell) => cell ?? ''));
    if (args.isSet('vertical')) return verticalRows(data.columns, rows);
    return fitted(
      formatTable(
        data.columns,
        rows.map((row) => row.map((cell) => short(cell))),
      ),
      io.width,
      '--vertical shows all of it, --columns some.',
    );
  });
}

function describeTables(tables: readonly Table[]): string {
  return formatTable(
    ['table', 'rows', 'size', 'key', 'changed'],
    tables.map((table) => [
      table.id,
      number(table.rowsCount),
      size(table.dataSizeBytes),
      short(table.primaryKey.join(', ')),
      time(table.lastChangeDate ?? table.created),
    ]),
    ['rows', 'size'],
  );
}

function describeTable(table: Table): string {
  return facts([
    ['table', table.id],
    ['name', table.displayName],
    ['rows', number(table.rowsCount)],
    ['size', size(table.dataSizeBytes)],
    ['created', time(table.created)],
    ['changed', time(table.lastChangeDate)],
    ['last load', time(table.lastImportDate)],
    ['typed', table.isTyped ? 'yes' : 'no'],
    ['key', table.primaryKey.join(', ')],
    ['columns', (table.columns ?? []).join('\n')],
    ['metadata', (table.metadata ?? []).map(({ key, value }) => `${key} = ${short(value)}`).join('\n')],
  ]);
}
