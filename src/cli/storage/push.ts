import { valued, flag, listed, type Command } from '../command.ts';
import { logOptions } from '../shared.ts';

export const pushCommand: Command = {
  name: 'push',
  describe: 'Push the outputs that lie in a data folder, or what is left of a push that was cut short',
  words: [{ name: 'dir', describe: 'The data folder of the run', isRequired: true }],
  options: {
    row: listed('ID', 'Push only the output of this row; may be given several times'),
    'dry-run': flag('Show what would be pushed and where to, and push nothing'),
    again: flag(
      'Push also what was pushed before; incremental loads without a primary key then have it twice',
    ),
    discard: flag('Give up what was not pushed to its end: the next run asks the API for the same again'),
    storage: valued(
      'DIR|URL',
      'The storage; the one that the push was begun for, else ./storage beside the data',
    ),
    json: flag('Print the result as JSON'),
    ...logOptions,
  },
  examples: [
    ['gex storage push my-api', 'Push what a failed push left over'],
    ['gex storage push my-api --dry-run', 'See which file goes into which table'],
    ['gex storage push my-api --storage http://127.0.0.1:8080', 'Push tables of a run with --storage none'],
  ],
  async run(args, io) {
    const { push } = await import('./push-outputs.ts');
    return await push(args, io);
  },
};
