import { client, type MayRun } from './client.ts';
import { useQuery } from './query.ts';
import { currentSession, mayUse } from './session.ts';

/**
 * Returns whether the token may run a source as it is, and why not; undefined while that is not known. A token of all
 * buckets is not asked about.
 */
export function useMayRun(
  component: string | undefined,
  configuration: string | undefined,
): Pick<MayRun, 'canRun' | 'reason'> | undefined {
  const { isMaster, canManageBuckets } = currentSession().token;
  const isAsked = component !== undefined && configuration !== undefined && mayUse(component);
  const isForAll = isMaster || canManageBuckets;
  const { data } = useQuery({
    key: ['sources', component, configuration, 'run-rights'],
    load: async () =>
      await client()
        .configurations(component ?? '')
        .runRights(configuration ?? ''),
    isEnabled: isAsked && !isForAll,
  });
  if (!isAsked) return undefined;
  return isForAll ? { canRun: true } : data;
}
