import { valued, type Command } from './command.ts';
import { storageCommand } from './storage/storage-command.ts';

export const sqlCommand: Command = storageCommand({
  name: 'sql',
  describe: 'Ask the tables of a storage in SQL; without a query, in a small shell',
  words: [
    {
      name: 'query',
      describe: 'One SELECT statement; a table is its bucket and its name: "in.c-main".users',
      isRequired: false,
    },
  ],
  options: {
    format: valued(
      'FORMAT',
      'How the rows are written; by the name of the file with --out, else as a table',
      {
        choices: ['table', 'csv', 'jsonl', 'json', 'parquet', 'xlsx'],
      },
    ),
    out: valued('FILE', 'Write the rows into a file'),
    limit: valued('ROWS', 'At most so many rows; 1,000 by default for a table, and all for a file'),
  },
  examples: [
    [`gex sql 'SELECT country, count(*) FROM "in.c-main".users GROUP BY ALL'`, 'As a table'],
    [`gex sql 'FROM "in.c-main".users' --out users.parquet`, 'Into a file'],
    ['gex sql', 'A shell; \\? shows what it knows'],
  ],
  async run(context) {
    const { args, io, client } = context;
    const [query] = args.words('query');
    const [{ askOnce, readAnswerOptions }, { sqlShell }] = await Promise.all([
      import('./sql/answer.ts'),
      import('./sql/shell.ts'),
    ]);
    const options = readAnswerOptions(args);
    if (query !== undefined) await askOnce({ client, io }, query, { ...options, signal: io.signal });
    else await sqlShell({ client, io }, options);
  },
});
