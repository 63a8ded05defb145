import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Checkpoints {
  /** After a transaction. Its own outcome is settled before, so this never fails. */
  afterCommit(): Promise<void>;
  /** After work that the disk had no room for: the log may hold much that has been deleted since. */
  afterDiskFull(): Promise<void>;
}

/** Ways to do a checkpoint. */
export interface Checkpoint {
  /** Runs beside other work, which may prevent it; the next checkpoint tries again. */
  beside(): Promise<void>;
  /** Runs while all other work waits: if it fails for lack of space, the database is useless until it is repaired. */
  alone(): Promise<void>;
}

/** A log of changes that is larger is worked into the file, and one that is larger than this where space is short. */
const FROM_BYTES = 16 * 1024 * 1024;
const FROM_BYTES_WHEN_FULL = 1024 * 1024;

/**
 * Writes the log of changes into the database file. Not left to the database, which would do it within a commit: on a
 * full disk it would then be unknown whether the transaction is stored.
 */
export function createCheckpoints(file: string, checkpoint: Checkpoint): Checkpoints {
  /** Free space that was too little. */
  let tooLittle = -1;

  return {
    afterCommit: () => run(FROM_BYTES).catch(() => undefined),
    afterDiskFull: () => run(FROM_BYTES_WHEN_FULL).catch(() => undefined),
  };

  async function run(fromBytes: number): Promise<void> {
    const { size } = await stat(`${file}.wal`);
    if (size < fromBytes) return;
    const { bavail, bsize } = await statfs(dirname(file));
    const free = bavail * bsize;
    if (free >= 2 * size) return await checkpoint.beside();
    if (free <= tooLittle) return;
    tooLittle = free;
    await checkpoint.alone();
    tooLittle = -1;
  }
}
