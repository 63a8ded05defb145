import { diskFull, TableError } from '../table-error.ts';

/** Marks an error that a statement of ours raises itself, with `error('…')`. */
export const TIMESTAMP_MARK = 'gex:timestamp:';

/** A typed error for what a user or operator can act on; anything else as it is. */
export function toTableError(error: unknown): unknown {
  const message = error instanceof Error ? error.message : '';
  if (message.includes(TIMESTAMP_MARK)) {
    const value = message.slice(message.indexOf(TIMESTAMP_MARK) + TIMESTAMP_MARK.length).split('\n')[0] ?? '';
    return new TableError(
      'csvImport.invalidTimestamp',
      `Load error: the value "${value}" in the column "_timestamp" is no time.`,
      { cause: error },
    );
  }
  if (/no space left on device|ENOSPC|disk (is )?full|max_temp_directory_size/i.test(message))
    return diskFull(error);
  if (/out of memory error|failed to pin block/i.test(message))
    return new TableError(
      'storage.outOfMemory',
      'The memory of the tables is too small for this. Use fewer columns or shorter values, or raise its limit.',
      { cause: error },
    );
  if (/could not set lock on file/i.test(message)) {
    const holder = /PID (\d+)/.exec(message)?.[1];
    const by = holder === undefined ? 'another process' : `the process ${holder}`;
    return new TableError(
      'storage.tables.locked',
      `The tables are in use by ${by}. Stop it, or choose another folder.`,
      { cause: error },
    );
  }
  return error;
}
