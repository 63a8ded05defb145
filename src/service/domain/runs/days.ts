import type { RunDay } from '../../../storage/protocol/lineage.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { countByDay } from '../../stores/metadata/runs.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Counts how runs ended on each of the last days, the oldest first; a day without runs has zeros. */
export async function readDays(
  meta: Meta,
  of: Omit<Parameters<typeof countByDay>[1], 'since'>,
  { now, days }: { readonly now: number; readonly days: number },
): Promise<RunDay[]> {
  const names = Array.from({ length: days }, (_, i) => dayOf(now - (days - 1 - i) * DAY_MS));
  const counted = await countByDay(meta, { ...of, since: names[0] ?? dayOf(now) });
  return names.map((day) => {
    const all = counted.filter((each) => each.day === day);
    const sum = (fits: (each: (typeof all)[number]) => boolean): number =>
      all.filter(fits).reduce((total, { runs }) => total + runs, 0);
    return {
      day,
      success: sum((each) => each.status === 'success' && (each.verdict !== 'doubtful' || each.isAccepted)),
      doubtful: sum((each) => (each.status === 'success' && each.verdict === 'doubtful') !== each.isAccepted),
      error: sum(({ status, isAccepted }) => status === 'error' && !isAccepted),
      cancelled: sum(({ status }) => status === 'cancelled'),
    };
  });
}

const dayOf = (time: number): string => isoTime(time).slice(0, 10);
