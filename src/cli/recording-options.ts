import { RunError } from '../lib/errors.ts';
import type { FolderRunOptions } from '../runner/run.ts';
import type { RecordingOptions } from '../runner/row-recording.ts';
import { valued, listed, flag, type Args, type Option } from './command.ts';

/** How a run goes on where one was stopped, and what is kept of it. */
export const recordingOptions = {
  restart: flag('Begin anew instead of going on where a run was stopped'),
  'restart-job': listed('JOB', 'Go on, but ask anew for all of this job; may be given several times'),
  'resume-within': valued(
    'TIME',
    'How old the last answer of a run that was stopped may be; 1 day by default',
  ),
  'no-resume': flag('Begin anew, and leave nothing to go on with'),
  record: valued(
    'FILE',
    'Write the recording of the run into a compressed file that can be sent, without secrets',
  ),
  explanation: valued(
    'FILE',
    'Write what `gex explain` tells of the run into a compressed file of JSON lines, without secrets',
  ),
  replay: valued(
    'FILE|last',
    'Play a recording again without asking the API, or that of the last run; push nothing',
  ),
  'keep-recording': valued(
    'MB',
    'Size up to which the recording of a good run is kept; 100 by default, 0 keeps none',
  ),
} as const satisfies Record<string, Option>;

/** @throws {RunError} `command.invalid` for a value that is none */
export async function recordingArgs(
  args: Args,
): Promise<RecordingOptions & Pick<FolderRunOptions, 'explanation' | 'record' | 'replay'>> {
  const jobs = args.list('restart-job');
  const restart = args.isSet('restart') || (jobs.length > 0 && jobs);
  return {
    resume: args.isSet('no-resume') ? false : { withinMs: await withinArg(args), restart },
    keepRecording: keptArg(args),
    record: args.text('record'),
    explanation: args.text('explanation'),
    replay: args.text('replay'),
  };
}

async function withinArg(args: Args): Promise<number | undefined> {
  const text = args.text('resume-within');
  if (text === undefined) return undefined;
  const { strtotime } = await import('../engine/jobs/functions/index.ts');
  const seconds = strtotime(text, 0);
  if (seconds !== false && seconds > 0) return seconds * 1000;
  throw new RunError('command.invalid', `--resume-within is a time such as "2 days", and not “${text}”.`, {
    hint: 'Write for example --resume-within "12 hours".',
  });
}

function keptArg(args: Args): number | undefined {
  const text = args.text('keep-recording');
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000_000;
  throw new RunError('command.invalid', `--keep-recording is a number of megabytes, and not “${text}”.`, {
    hint: 'Write for example --keep-recording 500, or 0 to keep none.',
  });
}
