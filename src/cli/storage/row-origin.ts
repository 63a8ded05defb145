import { refused } from '../parse.ts';
import type { RowOrigin } from '../../storage/client/index.ts';
import { facts, short, time } from './facts.ts';
import { tableWord } from './id-word.ts';
import { verticalRows } from './shown-rows.ts';
import { storageCommand } from './storage-command.ts';
import { rowOptions, whereArg } from './where.ts';

const RECORD = 2000;

export const rowCommand = storageCommand({
  name: 'row',
  describe:
    'Show a row and where it comes from: the load and the run that wrote it last, and the request whose answer has it',
  words: [tableWord],
  options: {
    where: {
      ...rowOptions.where,
      describe: 'What the row is known by, such as id=17; may be given several times',
    },
  },
  examples: [['gex storage tables row in.c-main.users --where id=17', 'Which page brought this row?']],
  async run({ args, client, io, show }) {
    const whereFilters = whereArg(args);
    if (whereFilters.length === 0)
      throw refused('Say which row.', 'Write --where id=17, with the columns of its key.');
    const origin = await client.tables.rowOrigin(args.word('table'), { whereFilters }, { signal: io.signal });
    show(origin, () => describe(origin));
  },
});

function describe({ columns, values, changedTime, loads, request, unknown }: RowOrigin): string {
  const [load] = loads;
  const isOne = loads.length === 1;
  const known = facts([
    ['written last', time(changedTime)],
    [
      'by',
      isOne && load !== undefined ? loaderOf(load) : loads.map((each) => `${loaderOf(each)}?`).join(', '),
    ],
    ['request', request === null ? '' : `${request.request.method} ${request.request.url}`],
    ['page', request === null ? '' : pageText(request)],
    ['answered', request === null ? '' : `${request.status} at ${request.at}`],
    ['in it at', request?.path ?? ''],
    [
      'by the values of',
      request === null || request.isSure ? '' : `${request.columns.join(', ')}: likely, and not sure`,
    ],
  ]);
  const parts = [verticalRows(columns, [values]), known];
  if (request?.record !== undefined) parts.push(short(JSON.stringify(request.record), RECORD));
  if (unknown.length > 0) parts.push(unknown.join('\n'));
  return parts.join('\n\n');
}

function pageText({ job, row, page, run }: NonNullable<RowOrigin['request']>): string {
  return `${page} of “${job}”${row === undefined ? '' : `, row ${row}`}, run ${run}`;
}

function loaderOf({ run, job, component, configuration, creatorToken }: RowOrigin['loads'][number]): string {
  if (run === null) return `job ${job} of ${creatorToken.description}`;
  return `run ${run} of ${component}/${configuration}`;
}
