import path from 'node:path';

const FULL = new Set(['EDQUOT', 'ENOSPC', 'EFBIG']);

/**
 * Tells whether the file system refused a backup, or what is beside it. A file that is open already is not named by the
 * error.
 */
export function isOfFile(file: string, error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if ('path' in error) return String(error.path).startsWith(path.resolve(file));
  return 'syscall' in error && 'code' in error && FULL.has(String(error.code));
}
