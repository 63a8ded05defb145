import { valued } from '../command.ts';
import { formatBytes, formatTable, plural } from '../format.ts';
import { countArg } from '../shared.ts';
import { time } from './facts.ts';
import { fitted } from './shown-rows.ts';
import { storageCommand } from './storage-command.ts';

export const orphansCommand = storageCommand({
  name: 'orphans',
  describe:
    'List the files of a lake that no table has, older than two days, and delete those that were listed',
  options: { delete: valued('JOB', 'Delete what this job has listed; its number is below the list') },
  examples: [
    ['gex storage tables orphans', 'Files that killed processes left behind'],
    ['gex storage tables orphans --delete 42', 'Delete those that job 42 has listed'],
  ],
  async run({ args, client, io, line, show }) {
    const found = await client.tables.orphans({ jobId: countArg(args, 'delete'), ...line.wait });
    const { count, files, isDeleted, jobId } = found;
    show(found, () => {
      if (count === 0) return 'No file is without a table.';
      const listed = formatTable(
        ['file', 'size', 'from'],
        files.map(({ path, bytes, created }) => [path, formatBytes(bytes), time(created)]),
        ['size'],
      );
      const what = plural(count, 'file');
      const end = isDeleted
        ? `${what} deleted.`
        : `${what} without a table. gex storage tables orphans --delete ${jobId} deletes what is listed here.`;
      return `${fitted(listed, io.width, '--json has all of it.')}\n${end}`;
    });
  },
});
