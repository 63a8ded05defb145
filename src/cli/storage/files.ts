import type { File } from '../../storage/client/index.ts';
import { valued, listed, type Command } from '../command.ts';
import { countArg } from '../shared.ts';
import { facts, size, time } from './facts.ts';
import { describeFiles } from './file-list.ts';
import { numberOf, numberWord } from './id-word.ts';
import { storageCommand } from './storage-command.ts';
import { transferCommands } from './transfer-file.ts';

const fileWord = { name: 'id', describe: 'Number of the file', isRequired: true } as const;
const tagsWord = { name: 'tag', describe: 'A tag', isRequired: true, isList: true } as const;

export const fileCommands: readonly Command[] = [
  storageCommand({
    name: 'list',
    describe: 'List files, the newest first',
    options: {
      tag: listed('TAG', 'Only those with one of these tags; may be given several times'),
      query: valued('TEXT', 'Only those that this finds, such as name:users AND NOT tags:old'),
      limit: valued('N', 'At most so many; 100 by default'),
    },
    examples: [['gex storage files list --tag invoices --limit 10', 'The last ten with a tag']],
    async run({ args, client, show }) {
      const [tags, q, limit] = [args.list('tag'), args.text('query'), countArg(args, 'limit')];
      const files = await client.files.list({
        ...(tags.length === 0 ? {} : { tags }),
        ...(q === undefined ? {} : { q }),
        ...(limit === undefined ? {} : { limit }),
      });
      show(files, () => (files.length === 0 ? 'There are no such files.' : describeFiles(files)));
    },
  }),
  storageCommand({
    name: 'show',
    describe: 'Show what is known of a file',
    words: [fileWord],
    examples: [['gex storage files show 1034', 'One file']],
    async run({ args, client, show }) {
      const file = await client.files.detail(numberWord(args, 'id'));
      show(file, () => describeFile(file));
    },
  }),
  ...transferCommands,
  storageCommand({
    name: 'tag',
    describe: 'Put tags on a file',
    words: [fileWord, tagsWord],
    examples: [['gex storage files tag 1034 invoices 2026', 'Two tags']],
    async run({ args, client, show }) {
      const id = numberWord(args, 'id');
      for (const tag of args.words('tag')) await client.files.addTag(id, tag);
      const file = await client.files.detail(id);
      show(file, () => `${id}: ${file.tags.join(', ')}`);
    },
  }),
  storageCommand({
    name: 'untag',
    describe: 'Take tags off a file',
    words: [fileWord, tagsWord],
    examples: [['gex storage files untag 1034 invoices', 'One tag less']],
    async run({ args, client, show }) {
      const id = numberWord(args, 'id');
      for (const tag of args.words('tag')) await client.files.deleteTag(id, tag);
      const file = await client.files.detail(id);
      show(file, () => `${id}: ${file.tags.length === 0 ? 'no tags' : file.tags.join(', ')}`);
    },
  }),
  storageCommand({
    name: 'delete',
    describe: 'Delete files',
    words: [{ ...fileWord, isList: true }],
    examples: [['gex storage files delete 1034 1035', 'Two files']],
    async run({ args, client, show }) {
      const ids = [...new Set(args.words('id').map((text) => numberOf(text, 'id')))];
      const files: File[] = [];
      // None is deleted when one is wrong.
      for (const id of ids) files.push(await client.files.detail(id));
      for (const id of ids) await client.files.delete(id);
      show({ deleted: ids }, () =>
        files.map(({ id, name, sizeBytes }) => `deleted ${id} (${name}, ${size(sizeBytes)})`).join('\n'),
      );
    },
  }),
];

function describeFile(file: File): string {
  const { maxAgeDays } = file;
  return facts([
    ['file', String(file.id)],
    ['name', file.name],
    ['size', size(file.sizeBytes)],
    ['sliced', file.isSliced ? 'yes' : 'no'],
    ['created', time(file.created)],
    ['kept', maxAgeDays === null ? 'for good' : `for ${maxAgeDays} days`],
    ['by', file.creatorToken.description],
    ['run', file.runId ?? ''],
    ['tags', file.tags.join('\n')],
  ]);
}
