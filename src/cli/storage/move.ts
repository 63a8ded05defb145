import { RunError } from '../../lib/errors.ts';
import type { MoveResult } from '../../service/domain/transfer/move.ts';
import type { Args, Io } from '../command.ts';
import { formatBytes, formatCount, formatTable, plural } from '../format.ts';
import { formatJson } from '../../lib/json/format-json.ts';
import { openLog } from '../shared.ts';
import { boundYoungMemory } from '../heap-tuning.ts';
import { isDatabase, placeArg } from './database-address.ts';
import { interrupted, openEnd } from './open-end.ts';
import { createTeller } from './teller.ts';

/** Bytes are passed on, and rows live for as long as it takes to write them. */
export const LITTLE = 4 << 20;

const GO_ON = 'Give the same command again: it goes on where it was.';

/** Runs `gex storage migrate`. */
export async function migrate(args: Args, io: Io): Promise<number> {
  boundYoungMemory(LITTLE);
  const log = await openLog(args, io);
  const [from, to] = [required(args, io, 'from'), required(args, io, 'to')];
  const { moveStorage } = await import('../../service/domain/transfer/move.ts');
  const source = await openEnd('from', from, { args, io, log });
  try {
    const target = await openEnd('to', to, { args, io, log, secretsOf: from });
    try {
      const told = createTeller(io, log);
      const result = await moveStorage({ from: source, to: target, signal: io.signal, told });
      io.live('');
      tell(result, args, io);
      if (source.encryptionKey !== undefined)
        io.note(
          `The values of # keys stay encrypted: the service there needs the key ${source.encryptionKey} of the one here.`,
        );
      return 0;
    } catch (error) {
      io.live('');
      if (io.signal.aborted) throw interrupted('migration', GO_ON, error);
      const { troubleOfCopy } = await import('../../service/domain/transfer/trouble.ts');
      const [database, ...others] = [from, to].filter(isDatabase);
      throw troubleOfCopy(error, {
        file: isDatabase(to) ? from : to,
        database: others.length > 0 ? undefined : database,
        again: 'it goes on where it was.',
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function required(args: Args, io: Io, name: 'from' | 'to'): string {
  const text = placeArg(args, io, name);
  if (text !== undefined) return text;
  throw new RunError(
    'command.invalid',
    `Say where ${name === 'from' ? 'it is' : 'it goes'}: --${name} DIR.`,
    {
      hint: 'Write for example gex storage migrate --from storage --to /data/storage.',
    },
  );
}

export function tell({ moved, emptyFiles }: MoveResult, args: Args, io: Io): void {
  const rows = moved.filter(({ count }) => count > 0);
  const text = formatTable(
    ['what', 'count', 'size'],
    rows.map(({ what, count, bytes }) => [
      what,
      formatCount(count),
      bytes === undefined ? '' : formatBytes(bytes),
    ]),
    ['count', 'size'],
  );
  io.print(args.isSet('json') ? formatJson({ moved: rows, emptyFiles }) : text);
  io.note('Both are the same: every row and every byte was compared.');
  if (emptyFiles > 0)
    io.note(
      `${plural(emptyFiles, 'file')} had no bytes: never uploaded, unless they are in an object store (--from-s3).`,
    );
}
