import type { Imported } from '../authoring/importing/report.ts';
import { systemEnv } from '../lib/env.ts';
import { RunError } from '../lib/errors.ts';
import type { Args, Io } from './command.ts';

/** Result of what follows an import. */
interface Afterwards {
  readonly imported: Imported;
  /** Exit code: 1 when a stream that was claimed differs. */
  readonly code: number;
}

/** Checks an import, as the options ask for. */
export async function afterwards(claimed: Imported, args: Args, io: Io): Promise<Afterwards> {
  const recording = args.text('recording');
  if (recording !== undefined && !args.isSet('check'))
    throw new RunError('command.invalid', '--recording is for --check.', {
      hint: 'Give --check, too.',
    });
  if (!args.isSet('check')) return { imported: claimed, code: 0 };
  const { prove } = await import('../authoring/importing/proof/prove.ts');
  const { openRecordedApi } = await import('../authoring/importing/proof/recorded-api.ts');
  const recorded = recording === undefined ? undefined : openRecordedApi(recording);
  const imported = await prove(claimed, {
    environment: process.env,
    env: recorded?.env ?? systemEnv,
    secrets: io.secrets,
    signal: io.signal,
    bottom: recorded?.send,
    onStream: (stream) => (io.isTerminal ? io.live(`checking ${stream}`) : undefined),
  }).finally(() => io.live(''));
  const isDifferent = imported.report.streams.some(({ trial }) => trial?.result === 'differs');
  return { imported, code: isDifferent ? 1 : 0 };
}
