import { digKeys, isList, isNumber, toText } from '../../lib/json/index.ts';
import { probe, type ApiProbe } from '../../engine/extract/probe.ts';
import type { ActionContext } from './action.ts';
import { input, wrongInput } from './input.ts';
import { learnSecrets } from './mask.ts';

/** How many requests each job may make in an action. */
const MAX_CALLS = 10;

/**
 * Runs the job that `parameters.__SELECTED_JOB` names: `"0"` is the first job, `"0_1"` its second child. The only job
 * need not be named.
 *
 * @throws {ExtractorError} when it names none, or the configuration cannot be run
 */
export async function probeSelected(context: ActionContext): Promise<ApiProbe> {
  const result = await probe({ ...context, job: selectedJob(context), maxCalls: MAX_CALLS });
  learnSecrets(context.secrets, result.exchanges);
  if (result.isCut) context.log.info(`Only the first ${MAX_CALLS} calls of each job were made`);
  return result;
}

function selectedJob({ configuration }: ActionContext): readonly number[] {
  const key = '__SELECTED_JOB';
  const hint = 'Give the index of a job, from 0; of a child, "0_1" is the second one of the first job.';
  const value = input(configuration, key);
  if (value === undefined || value === '') {
    const jobs = digKeys(['parameters', 'config', 'jobs'], configuration);
    if (isList(jobs) && jobs.length === 1) return [0];
    throw wrongInput(key, 'is missing', hint);
  }
  const text = typeof value === 'string' || isNumber(value) ? toText(value).trim() : '';
  if (!/^\d{1,9}(?:_\d{1,9})*$/.test(text)) throw wrongInput(key, 'names no job', hint);
  return text.split('_').map(Number);
}
