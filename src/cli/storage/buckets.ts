import { RunError } from '../../lib/errors.ts';
import type { BucketDetail } from '../../storage/client/index.ts';
import { flag, valued, type Command } from '../command.ts';
import { formatTable, plural } from '../format.ts';
import { facts, number, short, size, time } from './facts.ts';
import { bucketWord } from './id-word.ts';
import { storageCommand } from './storage-command.ts';

export const bucketCommands: readonly Command[] = [
  storageCommand({
    name: 'list',
    describe: 'List the buckets',
    examples: [['gex storage buckets list', 'Those of ./storage']],
    async run({ client, show }) {
      const buckets = await client.buckets.list();
      show(buckets, () =>
        buckets.length === 0
          ? 'There are no buckets.'
          : formatTable(
              ['bucket', 'rows', 'size', 'changed', 'description'],
              buckets.map((bucket) => [
                bucket.id,
                number(bucket.rowsCount),
                size(bucket.dataSizeBytes),
                time(bucket.lastChangeDate ?? bucket.created),
                short(bucket.description),
              ]),
              ['rows', 'size'],
            ),
      );
    },
  }),
  storageCommand({
    name: 'show',
    describe: 'Show a bucket with its tables',
    words: [bucketWord],
    examples: [['gex storage buckets show in.c-main', 'One bucket']],
    async run({ args, client, show }) {
      const bucket = await client.buckets.detail(args.word('bucket'));
      show(bucket, () => describeBucket(bucket));
    },
  }),
  storageCommand({
    name: 'create',
    describe: 'Create a bucket: main becomes in.c-main',
    words: [{ name: 'name', describe: 'Without its stage and without c-', isRequired: true }],
    options: {
      stage: valued('STAGE', 'in, where data comes in, or out, for results', {
        default: 'in',
        choices: ['in', 'out'],
      }),
      description: valued('TEXT', 'What it is for'),
    },
    makesStorage: true,
    examples: [['gex storage buckets create main', 'in.c-main']],
    async run({ args, client, show }) {
      const [, stage, name] = /^(in|out)\.c-(.+)$/.exec(args.word('name')) ?? [];
      if (stage !== undefined)
        throw new RunError(
          'command.invalid',
          'The name of a bucket is written without its stage and without c-.',
          {
            hint: `Write: gex storage buckets create ${name} --stage ${stage}`,
          },
        );
      const description = args.text('description');
      const bucket = await client.buckets.create({
        name: args.word('name'),
        stage: args.text('stage') === 'out' ? 'out' : 'in',
        ...(description === undefined ? {} : { description }),
      });
      show(bucket, () => `created ${bucket.id}`);
    },
  }),
  storageCommand({
    name: 'delete',
    describe: 'Delete a bucket',
    words: [bucketWord],
    options: { force: flag('Also with its tables') },
    examples: [['gex storage buckets delete in.c-main --force', 'With all of its tables']],
    async run({ args, client, show }) {
      const id = args.word('bucket');
      const { rowsCount, tables = [] } = await client.buckets.detail(id);
      if (tables.length > 0 && !args.isSet('force'))
        throw new RunError('command.invalid', `${id} has ${plural(tables.length, 'table')}.`, {
          hint: 'With --force they are deleted, too.',
        });
      await client.buckets.delete(id, { force: args.isSet('force') });
      show({ deleted: [id] }, () =>
        tables.length === 0
          ? `deleted ${id}`
          : `deleted ${id} with ${plural(tables.length, 'table')} (${plural(rowsCount, 'row')})`,
      );
    },
  }),
];

function describeBucket(bucket: BucketDetail): string {
  const { tables = [] } = bucket;
  const head = facts([
    ['bucket', bucket.id],
    ['name', bucket.displayName],
    ['description', bucket.description],
    ['rows', number(bucket.rowsCount)],
    ['size', size(bucket.dataSizeBytes)],
    ['created', time(bucket.created)],
    ['changed', time(bucket.lastChangeDate)],
    ['tables', String(tables.length)],
  ]);
  if (tables.length === 0) return head;
  const list = formatTable(
    ['table', 'rows', 'size', 'changed'],
    tables.map((table) => [
      table.id,
      number(table.rowsCount),
      size(table.dataSizeBytes),
      time(table.lastChangeDate),
    ]),
    ['rows', 'size'],
  );
  return `${head}\n\n${list}`;
}
