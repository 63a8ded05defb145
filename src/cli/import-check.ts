import type { Imported, StreamReport } from '../authoring/importing/report.ts';
import type { ProveOptions } from '../authoring/importing/proof/prove.ts';
import type { RecordedApi } from '../authoring/importing/proof/recorded-api.ts';
import { systemEnv } from '../lib/env.ts';
import { RunError } from '../lib/errors.ts';
import type { Args, Io } from './command.ts';

/** Result of what follows an import. */
interface Afterwards {
  readonly imported: Imported;
  /** Exit code: 1 when a stream that was claimed differs. */
  readonly code: number;
}

/** Checks an import, and compares its rows, as the options ask for. */
export async function afterwards(claimed: Imported, args: Args, io: Io): Promise<Afterwards> {
  const [recording, records, tables] = [args.text('recording'), args.text('against'), args.text('tables')];
  if (recording !== undefined && !args.isSet('check') && records === undefined)
    throw misplaced('recording', '--check or --against DIR');
  if (tables !== undefined && records === undefined) throw misplaced('tables', '--against DIR');
  const world = async (): Promise<ProveOptions> => {
    const recorded = recording === undefined ? undefined : await recordedApi(recording);
    return {
      environment: process.env,
      env: recorded?.env ?? systemEnv,
      secrets: io.secrets,
      signal: io.signal,
      bottom: recorded?.send,
      onStream: (stream) => io.live(`checking ${stream}`),
    };
  };
  let imported = claimed;
  try {
    if (args.isSet('check')) {
      const { prove } = await import('../authoring/importing/proof/prove.ts');
      imported = await prove(imported, await world());
    }
    if (records !== undefined) {
      const { compareAgainst } = await import('../authoring/importing/against/against.ts');
      imported = await compareAgainst(imported, { ...(await world()), records, tables });
    }
  } finally {
    io.live('');
  }
  return { imported, code: imported.report.streams.some(isDifferent) ? 1 : 0 };
}

async function recordedApi(place: string): Promise<RecordedApi> {
  const { openRecordedApi } = await import('../authoring/importing/proof/recorded-api.ts');
  return openRecordedApi(place);
}

function isDifferent({ trial, compared }: StreamReport): boolean {
  return trial?.result === 'differs' || compared?.result === 'differs';
}

function misplaced(option: string, beside: string): RunError {
  return new RunError('command.invalid', `--${option} needs ${beside}.`, {
    hint: `Give ${beside}, too, or leave --${option} out.`,
  });
}
