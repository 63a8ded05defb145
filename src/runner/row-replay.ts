import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { reasonOf, RunError } from '../lib/errors.ts';
import { isObject, parseExact } from '../lib/json/index.ts';
import { unpack } from '../engine/recording/pack.ts';
import { RecordFile } from '../engine/recording/record-file.ts';
import { Replay } from '../engine/recording/replay.ts';
import { scan, type RecordingScan } from '../engine/recording/scan.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { RowPlace } from './row-place.ts';
import type { RowRecording } from './row-recording.ts';

/**
 * Opens what was recorded of a row.
 *
 * @param source a file, or `last` for the last run over the data folder
 * @throws {RunError} `replay.invalid` when there is no recording of the row in it that this version can read
 */
export async function openRowReplay(at: RowPlace, source: string, secrets: Secrets): Promise<RowRecording> {
  const plain = source === 'last' ? lastOf(at) : await plainOf(source, at);
  const file = RecordFile.open(plain, 'r');
  try {
    const found = sectionOf(file, at.row.id, source);
    const state = parseExact(found.head.state);
    const recording = new Replay(file, found, secrets);
    const answers = found.exchanges === 1 ? '1 answer' : `${found.exchanges.toLocaleString('en-US')} answers`;
    const begun = new Date(found.head.startedAt).toISOString().slice(0, 19).replace('T', ' ');
    at.log.info(`Replaying the run that was begun at ${begun} UTC: ${answers}, without requests`);
    if (recording.masked > 0)
      at.log.warn(
        `${recording.masked === 1 ? '1 answer' : `${recording.masked} answers`} of the recording had secrets of the configuration in them, which are masked: tables have stars, and ones in numbers, in their place`,
      );
    return {
      recording,
      state: isObject(state) ? state : {},
      period: found.head.period,
      end: async () => recording.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Returns the recording that was written last: a run that was stopped may have come after one that succeeded. */
function lastOf({ folder, row }: RowPlace): string {
  const [last] = [folder.unfinished, folder.lastRecording]
    .filter((file) => existsSync(file))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (last !== undefined) return last;
  const which = row.id === undefined ? '' : ` of the row “${row.id}”`;
  throw new RunError('replay.invalid', `There is no recording of a last run${which}.`, {
    where: { file: path.dirname(folder.lastRecording) },
    hint: 'Run it once; a recording above 100 MB is kept with --keep-recording.',
  });
}

async function plainOf(source: string, { folder }: RowPlace): Promise<string> {
  const plain = path.join(folder.work, 'replay');
  try {
    await unpack(source, plain);
    return plain;
  } catch (error) {
    const reason = reasonOf(error);
    throw new RunError('replay.invalid', `The recording “${source}” cannot be read: ${reason}`, {
      cause: error,
      where: { file: source },
      hint: 'Give a file that --record wrote, or “last”.',
    });
  }
}

function sectionOf(file: RecordFile, row: string | undefined, source: string): RecordingScan {
  const rows: (string | undefined)[] = [];
  for (let found = scan(file); found !== undefined; found = scan(file, found.end)) {
    if (found.head.row === row) return found;
    rows.push(found.head.row);
  }
  if (rows.length === 0)
    throw new RunError('replay.invalid', `“${source}” is no recording, or one of another version.`, {
      where: { file: source },
      hint: 'Give a file that --record wrote with this version, or “last”.',
    });
  const names = rows.map((name) =>
    name === undefined ? 'a configuration without rows' : `the row “${name}”`,
  );
  const wanted = row === undefined ? 'a configuration without rows' : `the row “${row}”`;
  throw new RunError('replay.invalid', `“${source}” has no recording of ${wanted}.`, {
    where: { file: source },
    hint: `It has ${names.join(', ')}. Name a row with --row.`,
  });
}
