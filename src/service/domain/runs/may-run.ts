import { ExtractorError } from '../../../lib/errors.ts';
import type { MayRun } from '../../../storage/protocol/run.ts';
import type { LoadedConfiguration } from '../configurations/model.ts';
import type { Context } from '../context.ts';
import { authorOf, type Caller } from '../tokens/caller.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';
import { requireRunRights } from './token.ts';

/** Tells whether a run of a configuration that a caller starts now would have the rights that it needs. */
export async function mayRun(
  context: Pick<Context, 'env' | 'meta'>,
  caller: Caller,
  { head, version }: Pick<LoadedConfiguration, 'head' | 'version'>,
): Promise<MayRun> {
  if (caller.isReadOnly) return { canRun: false, reason: 'This token only reads.' };
  try {
    await requireRunRights(context, {
      ...keyOf(head),
      asked: '{}',
      version: version.version,
      version_identifier: version.identifier,
      schedule_id: null,
      // who starts a run answers for all that is there
      approved_id: Number.MAX_SAFE_INTEGER,
      ...authorOf(caller),
    });
    return { canRun: true };
  } catch (error) {
    if (!(error instanceof ExtractorError)) throw error;
    return {
      canRun: false,
      reason: error.message,
      ...(error.hint === undefined ? {} : { hint: [error.hint].flat().join(' ') }),
    };
  }
}
