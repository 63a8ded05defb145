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
  const [from, to] = [required(args, io, 'from'), required(args, io, 'to')];
  const { moveStorage } = await import('../../storage/server/move/move.ts');
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
      throw io.signal.aborted ? interrupted(error) : error;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** One that is an address may come from the environment: it may have a password, and options show in lists of processes. */
function required(args: Args, io: Io, name: 'from' | 'to'): string {
  const text = args.text(name) ?? process.env[`GEX_${name.toUpperCase()}_DATABASE_URL`] ?? '';
  const password = /^[^/]*\/\/[^:@/]*:(?<password>.*)@/.exec(text)?.groups?.['password'] ?? '';
  if (password !== '') io.secrets.add(password);
  if (text !== '') return text;
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
  { args, io, log, secretsOf }: Opening,
): Promise<OpenedStorage> {
  const role = end === 'from' ? 'source' : 'target';
  const objects = storeOf(end, args, io, process.env);
  if (isDatabase(name)) {
    if (objects === undefined)
      throw new RunError('command.invalid', `A database has no place for files: --${end}-s3 is missing.`, {
        hint: `Name the object store as for gex serve: --${end}-s3 URL --${end}-s3-bucket NAME.`,
      });
    const { openDatabaseStorage } = await import('../../storage/server/move/database.ts');
    const schema = args.text(`${end}-database-schema`);
    const database = { url: name, ...(schema === undefined ? {} : { schema }), waitMs: 0 };
    return await openDatabaseStorage({ role, database, objects, env: systemEnv, log });
  }
  const [{ checkFolder, fileError }, { copySecrets, openFolderStorage }] = await Promise.all([
    import('../../storage/open/folder.ts'),
    import('../../storage/server/move/folder.ts'),
  ]);
  const dir = path.resolve(name);
  checkFolder(dir, { storage: name, mustExist: end === 'from' });
  try {
    if (secretsOf !== undefined && !isDatabase(secretsOf)) await copySecrets(path.resolve(secretsOf), dir);
    return await openFolderStorage(dir, { role, objects, environment: process.env, env: systemEnv });
  } catch (error) {
    throw fileError(error, dir);
  }
}

interface Opening {
  readonly args: Args;
  readonly io: Io;
  readonly log: Log;
  readonly secretsOf?: string;
}

const isDatabase = (name: string): boolean => /^postgres(?:ql)?:/i.test(name);

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
