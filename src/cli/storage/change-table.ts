import { RunError } from '../../lib/errors.ts';
import { listed, flag, valued, type Command } from '../command.ts';
import { plural } from '../format.ts';
import { size } from './facts.ts';
import { tableWord } from './id-word.ts';
import { storageCommand } from './storage-command.ts';
import { namesArg, whereArg } from './where.ts';

const columnWord = { name: 'column', describe: 'Its name', isRequired: true } as const;

/** Commands that change a table, or remove it. */
export const changeCommands: readonly Command[] = [
  storageCommand({
    name: 'add-column',
    describe: 'Add an empty column to a table',
    words: [tableWord, columnWord],
    options: {
      basetype: valued(
        'TYPE',
        'For a typed table: STRING, INTEGER, NUMERIC, FLOAT, BOOLEAN, DATE or TIMESTAMP',
      ),
    },
    examples: [['gex storage tables add-column in.c-main.users email', 'One more column']],
    async run({ args, client, line, show }) {
      const id = args.word('table');
      const name = args.word('column');
      const basetype = args.text('basetype');
      const column = { name, ...(basetype === undefined ? {} : { basetype }) };
      await client.tables.addColumn(id, column, line.wait);
      show(await client.tables.detail(id), () => `added ${name} to ${id}`);
    },
  }),
  storageCommand({
    name: 'delete-column',
    describe: 'Delete a column with its values',
    words: [tableWord, columnWord],
    options: { force: flag('Also a column of the primary key') },
    examples: [['gex storage tables delete-column in.c-main.users email', 'One column less']],
    async run({ args, client, line, show }) {
      const id = args.word('table');
      const name = args.word('column');
      await client.tables.deleteColumn(id, name, {
        force: args.isSet('force'),
        ...line.wait,
      });
      show(await client.tables.detail(id), () => `deleted ${name} from ${id}`);
    },
  }),
  storageCommand({
    name: 'set-key',
    describe: 'Set the primary key of a table, or take it away',
    words: [tableWord],
    options: {
      columns: valued('A,B', 'Columns of the new key'),
      none: flag('Take the key away'),
    },
    examples: [['gex storage tables set-key in.c-main.users --columns id', 'Replace the key']],
    async run({ args, client, line, show }) {
      const id = args.word('table');
      const columns = namesArg(args, 'columns') ?? [];
      if (columns.length === 0 ? !args.isSet('none') : args.isSet('none'))
        throw oneOf('--columns', '--none', 'id');
      const { primaryKey } = await client.tables.detail(id);
      const { wait } = line;
      const isSame = primaryKey.join(',') === columns.join(',');
      if (!isSame && primaryKey.length > 0) await client.tables.deletePrimaryKey(id, wait);
      if (!isSame && columns.length > 0) {
        try {
          await client.tables.setPrimaryKey(id, columns, wait);
        } catch (error) {
          // A key that the rows don't allow leaves the old one.
          if (primaryKey.length > 0) await client.tables.setPrimaryKey(id, primaryKey, wait);
          throw error;
        }
      }
      show(
        await client.tables.detail(id),
        () => `${id}: ${columns.length === 0 ? 'no key' : columns.join(', ')}`,
      );
    },
  }),
  storageCommand({
    name: 'delete-rows',
    describe: 'Delete rows of a table',
    words: [tableWord],
    options: {
      where: listed(
        'CONDITION',
        'Those that this holds for, such as status=closed (= and != only); may be given several times',
      ),
      'changed-since': valued('TIME', 'Those that changed since'),
      'changed-until': valued('TIME', 'Those that changed before'),
      all: flag('All of them'),
    },
    examples: [['gex storage tables delete-rows in.c-main.users --where status=closed', 'Some of them']],
    async run({ args, client, line, show }) {
      const id = args.word('table');
      const whereFilters = whereArg(args, ['=', '!=']);
      const [changedSince, changedUntil] = [args.text('changed-since'), args.text('changed-until')];
      const isSome = whereFilters.length > 0 || changedSince !== undefined || changedUntil !== undefined;
      if (isSome === args.isSet('all')) throw oneOf('--where', '--all', 'status=closed');
      const rows = {
        ...(whereFilters.length === 0 ? {} : { whereFilters }),
        ...(changedSince === undefined ? {} : { changedSince }),
        ...(changedUntil === undefined ? {} : { changedUntil }),
        ...(isSome ? {} : { allowTruncate: true }),
      };
      const result = await client.tables.deleteRows(id, rows, line.wait);
      show(result, () => `deleted ${plural(result.deletedRows, 'row')} of ${id}`);
    },
  }),
  storageCommand({
    name: 'delete',
    describe: 'Delete a table with its rows',
    words: [tableWord],
    options: { force: flag('Also when something else refers to it') },
    examples: [['gex storage tables delete in.c-main.users', 'For good']],
    async run({ args, client, show }) {
      const id = args.word('table');
      const { rowsCount, dataSizeBytes } = await client.tables.detail(id);
      await client.tables.delete(id, { force: args.isSet('force') });
      show(
        { deleted: [id] },
        () => `deleted ${id} (${plural(rowsCount ?? 0, 'row')}, ${size(dataSizeBytes)})`,
      );
    },
  }),
];

function oneOf(some: string, all: string, example: string): RunError {
  return new RunError('command.invalid', `Write either ${some} or ${all}.`, {
    hint: `For example ${some} ${example}.`,
  });
}
