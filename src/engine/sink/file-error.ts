import { reasonOf, SinkError } from '../../lib/errors.ts';

/** Runs a file operation; its error names the file and says what to do. */
export function guard<T>(path: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw fileError(path, error);
  }
}

export function fileError(path: string, error: unknown): SinkError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = reasonOf(error);
  return new SinkError('output.failed', `“${path}” could not be written: ${reason}`, {
    cause: error,
    where: { file: path },
    hint: HINTS[code] ?? 'Check that its folder exists and can be written.',
  });
}

const FULL = 'free some space and run again: it goes on where it was. No table of this run was changed.';
const DENIED = 'This user may not write there: check the permissions of the folder.';

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: `The disk is full: ${FULL}`,
  EDQUOT: `The disk quota is used up: ${FULL}`,
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: 'The file system is read-only: give a folder that can be written.',
  EMFILE: 'Too many files are open: raise the limit (ulimit -n).',
};
