import { findBranch } from '../../stores/metadata/branches.ts';
import type { RunRow } from '../../stores/metadata/tables.ts';
import type { Context } from '../context.ts';

/** Receiver of OpenLineage events, and what the process of a run does not know of it. */
export interface LineageReceiver {
  readonly url: string;
  readonly key?: string | undefined;
  /** Address that names the tables; that of the storage by default. */
  readonly storage?: string | undefined;
  /** Id of the development branch; undefined in the default branch. */
  readonly branch?: string | undefined;
  /** The time of its schedule that the run is for. */
  readonly nominalTime?: string | undefined;
}

/** Returns the receiver that the environment of the service names; undefined when it names none. */
export async function lineageReceiver(
  { meta, publicUrl }: Pick<Context, 'meta' | 'publicUrl'>,
  run: Pick<RunRow, 'branch_id' | 'occurrence'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LineageReceiver | undefined> {
  const url = environment['GEX_OPENLINEAGE_URL'] ?? '';
  if (url === '') return undefined;
  const main = await findBranch(meta, 'default');
  return {
    url,
    key: environment['GEX_OPENLINEAGE_KEY'],
    storage: publicUrl,
    branch: main?.id === run.branch_id ? undefined : String(run.branch_id),
    nominalTime: run.occurrence?.split('@')[1],
  };
}
