import path from 'node:path';
import { systemEnv } from '../../env.ts';
import { RunError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { MoveResult } from '../../storage/server/move/move.ts';
import type { OpenedStorage, Told } from '../../storage/server/move/storage.ts';
import type { Args, Io } from '../command.ts';
import { formatBytes, formatCount, formatTable, plural } from '../format.ts';
import { formatJson } from '../../json/format-json.ts';
import { openLog } from '../shared.ts';
import { storeOf } from './move-options.ts';

/** `gex storage migrate`. */
export async function migrate(args: Args, io: Io): Promise<number> {
  const log = await openLog(args, io);
  const [from, to] = [required(args, 'from'), required(args, 'to')];
  const { moveStorage } = await import('../../storage/server/move/move.ts');
  const source = await openEnd('from', from, { args, io });
  try {
    const target = await openEnd('to', to, { args, io, secretsOf: from });
    try {
      const told = createTeller(io, log);
      const result = await moveStorage({ from: source, to: target, signal: io.signal, told });
      io.live('');
      tell(result, args, io);
      await tellKeys(from, io);
      return 0;
    } catch (error) {
      io.live('');
      throw io.signal.aborted ? interrupted(error) : error;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function required(args: Args, name: 'from' | 'to'): string {
  const text = args.text(name);
  if (text !== undefined) return text;
  throw new RunError(
    'command.invalid',
    `Say where ${name === 'from' ? 'it is' : 'it goes'}: --${name} DIR.`,
    {
      hint: 'Write for example gex storage migrate --from storage --to /data/storage.',
    },
  );
}

async function openEnd(
  end: 'from' | 'to',
  name: string,
  { args, io, secretsOf }: { readonly args: Args; readonly io: Io; readonly secretsOf?: string },
): Promise<OpenedStorage> {
  const [{ checkFolder, fileError }, { copySecrets, openFolderStorage }] = await Promise.all([
    import('../../storage/open/folder.ts'),
    import('../../storage/server/move/folder.ts'),
  ]);
  const dir = path.resolve(name);
  checkFolder(dir, { storage: name, mustExist: end === 'from' });
  const objects = storeOf(end, args, io, process.env);
  try {
    if (secretsOf !== undefined) await copySecrets(path.resolve(secretsOf), dir);
    return await openFolderStorage(dir, {
      role: end === 'from' ? 'source' : 'target',
      objects,
      env: systemEnv,
    });
  } catch (error) {
    throw fileError(error, dir);
  }
}

function interrupted(cause: unknown): RunError {
  return new RunError('run.interrupted', 'The migration was interrupted.', {
    hint: 'Give the same command again: it goes on where it was.',
    cause,
  });
}

const LIVE_MS = 100;
const PLAIN_MS = 10_000;

/** One line on a terminal; elsewhere a line of the log every ten seconds. */
function createTeller(io: Io, log: Log): (told: Told) => void {
  const pause = io.isTerminal ? LIVE_MS : PLAIN_MS;
  let saidMs = systemEnv.now();
  return ({ work, what, name, number, count }) => {
    if (systemEnv.now() - saidMs < pause) return;
    saidMs = systemEnv.now();
    const place = number === undefined ? '' : ` ${formatCount(number)} of ${formatCount(count ?? number)}`;
    const text = `${work === 'copy' ? 'copying' : 'comparing'} ${what}${place}: ${name}`;
    if (io.isTerminal) io.live(text);
    else log.info(text);
  };
}

function tell({ moved, emptyFiles }: MoveResult, args: Args, io: Io): void {
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

/** Which keys `#` values need in the new place. */
async function tellKeys(from: string, io: Io): Promise<void> {
  const { existsSync } = await import('node:fs');
  const { keysFrom, readKeyFile } = await import('../../encryption/index.ts');
  const file = path.join(path.resolve(from), 'encryption.key');
  const keys = [...keysFrom(process.env), ...(existsSync(file) ? readKeyFile(file) : [])];
  if (keys.length === 0) return;
  io.note(
    `The values of # keys stay encrypted. The service needs ${keys.length === 1 ? 'the key' : 'the keys'} ` +
      `${keys.map(({ id }) => id).join(', ')}, which a folder keeps in encryption.key.`,
  );
}
