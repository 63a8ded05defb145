import { isoTime } from '../../../../lib/iso-time.ts';
import { lastEnded, lastLoads, listEnabled, type LastEnded } from '../../../stores/metadata/alerts.ts';
import { lockKeyOf } from '../../../stores/metadata/runs.ts';
import { causeOf, errorOf } from '../../runs/cause.ts';
import { findingOf, isOf, type AlertFinding, type AlertFindings, type AlertLook } from '../finding.ts';

/** Looks at how the last run of each configuration ended, and at those that load nothing. */
export async function lookAtRuns({
  meta,
  alert,
  kinds,
  now,
  ended,
  known,
}: AlertLook): Promise<AlertFindings> {
  const late = kinds.has('late') ? await lateOnes({ meta, alert, now }) : new Map<string, AlertFinding>();
  const found = new Map<string, AlertFinding | undefined>();
  for (const lockKey of new Set([...known.filter(isRun), ...late.keys(), ...ended])) {
    const last = await lastEnded(meta, lockKey);
    if (last !== undefined && !isOf(alert, last)) continue;
    const kind = last === undefined ? undefined : kindOf(last);
    if (last === undefined || kind === undefined || !kinds.has(kind)) {
      found.set(lockKey, late.get(lockKey));
      continue;
    }
    found.set(
      lockKey,
      findingOf({
        lock_key: lockKey,
        component_id: last.component_id,
        configuration_id: last.configuration_id,
        kind,
        severity: kind === 'failed' ? 'error' : 'warning',
        cause: causeOf(last),
        run_id: last.id,
        error: JSON.stringify(errorOf(last)),
        since: last.ended ?? isoTime(now),
      }),
    );
  }
  return found;
}

/** Subjects of other kinds have their kind in front of what they are about. */
const isRun = (lockKey: string): boolean => lockKey.startsWith('[');

function kindOf({ status, verdict, accepted }: LastEnded): 'doubtful' | 'failed' | undefined {
  if (accepted !== null) return undefined;
  if (status === 'error') return 'failed';
  return verdict === 'doubtful' ? 'doubtful' : undefined;
}

/** Returns the configurations with an enabled schedule whose last good run is too long ago. */
async function lateOnes({
  meta,
  alert,
  now,
}: Pick<AlertLook, 'alert' | 'meta' | 'now'>): Promise<ReadonlyMap<string, AlertFinding>> {
  const { late_minutes: minutes, late_error_minutes: errorMinutes } = alert;
  if (minutes === null) return new Map();
  const scheduled = Map.groupBy(
    (await listEnabled(meta, alert.branch_id)).filter((schedule) => isOf(alert, schedule)),
    lockKeyOf,
  );
  const loads = await lastLoads(meta, [...scheduled.keys()]);
  const found = new Map<string, AlertFinding>();
  for (const [lockKey, [first]] of scheduled) {
    if (first === undefined) continue;
    // One that never ran is measured from its first schedule on.
    const since = loads.get(lockKey) ?? first.created;
    const age = (now - Date.parse(since)) / 60_000;
    if (age < minutes) continue;
    found.set(
      lockKey,
      findingOf({
        lock_key: lockKey,
        component_id: first.component_id,
        configuration_id: first.configuration_id,
        kind: 'late',
        severity: errorMinutes !== null && age >= errorMinutes ? 'error' : 'warning',
        cause: `late ${lockKey}`,
        since,
      }),
    );
  }
  return found;
}
