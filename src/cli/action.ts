import { encodeExact } from '../lib/json/index.ts';
import { valued, type Command } from './command.ts';
import { dataOption, logOptions, openLog } from './shared.ts';

export const actionCommand: Command = {
  name: 'action',
  describe: 'Run a sync action (test_request, infer_mapping, …) and print its answer as JSON',
  words: [{ name: 'name', describe: 'The action', isRequired: true }],
  options: {
    data: dataOption,
    row: valued('ID', 'The row to use; the first one by default'),
    ...logOptions,
  },
  examples: [
    ['gex action test_request --data my-api', 'Run the job that __SELECTED_JOB names, its first page only'],
    ['gex action infer_mapping --data my-api --row users', 'Propose a mapping for the records of a row'],
  ],
  async run(args, io) {
    const { runSyncAction } = await import('../authoring/actions/run-action.ts');
    const row = args.text('row');
    const answer = await runSyncAction({
      action: args.word('name'),
      dataFolder: args.text('data') ?? '.',
      rows: row === undefined ? [] : [row],
      log: await openLog(args, io),
      secrets: io.secrets,
      signal: io.signal,
    });
    io.print(encodeExact(answer));
    return 0;
  },
};
