import { ApiError } from '../api-error.ts';

/**
 * Refuses a change of another version than the current one, for clients that have read a version.
 *
 * @throws {ApiError} 412 with the current version, when it is another
 */
export function checkVersion(
  what: 'configuration' | 'row',
  version: number,
  ifVersion: number | undefined,
): void {
  if (ifVersion === undefined || ifVersion === version) return;
  throw new ApiError(
    412,
    'storage.components.versionChanged',
    `The ${what} has been changed meanwhile: its version is ${version}, and no longer ${ifVersion}. Read it again, and send the change for that version.`,
    { params: { version } },
  );
}
