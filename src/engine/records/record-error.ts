import { RecordError } from '../../lib/errors.ts';

/** Makes the error of a setting of the records that cannot be used; `at` is its JSON path. */
export function unusable(message: string, at: string, hint?: string): RecordError {
  return new RecordError('records.invalid', message, { where: { path: at }, hint });
}
