import { JobError } from '../../lib/errors.ts';
import { SettingsReader } from '../../lib/read-settings.ts';

/** Creates an error of the configuration of a job, at a JSON path. */
export function jobError(path: string, message: string, hint?: string): JobError {
  return new JobError('job.invalid', message, { where: { path }, hint });
}

export const read = new SettingsReader(jobError);
