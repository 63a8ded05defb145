import type { Static } from 'typebox';
import type {
  RunDay,
  SourceDays,
  SourceDaysPage,
  SourceDaysQuery,
} from '../../../storage/protocol/lineage.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { countByDay, lockKeyOf, type DayCount } from '../../stores/metadata/runs.ts';
import { listNamed } from '../../stores/metadata/source-states.ts';
import { hasWords } from '../has-words.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Sources of a page. */
const LIMIT = 40;

/** Days in UTC, of which the last one has the time `last`. */
export interface DayRange {
  readonly last: number;
  readonly days: number;
}

/** Counts how runs ended on each day of a range, the oldest first; a day without runs has zeros. */
export async function readDays(
  meta: Meta,
  of: Omit<Parameters<typeof countByDay>[1], 'isBySource' | 'since' | 'until'>,
  range: DayRange,
): Promise<RunDay[]> {
  const counted = Map.groupBy(await countByDay(meta, { ...of, ...endsOf(range) }), ({ day }) => day);
  return namesOf(range).map((day) => dayOf(day, counted.get(day) ?? []));
}

/**
 * Counts how the runs of each configuration ended, by day: those of which most failed come first. Those in the trash are
 * left out.
 */
export async function readSourceDays(
  meta: Meta,
  { branchId, components }: { readonly branchId: number; readonly components: readonly string[] | undefined },
  range: DayRange,
  { search, limit = LIMIT, offset = 0 }: Static<typeof SourceDaysQuery>,
): Promise<SourceDaysPage> {
  const isFound = hasWords(search);
  const named = (await listNamed(meta, branchId, components)).filter(
    ({ name, configuration_id, component_id }) => isFound(`${name} ${configuration_id} ${component_id}`),
  );
  const counted = Map.groupBy(
    await countByDay(meta, { branchId, components, ...endsOf(range), isBySource: true }),
    ({ lock_key }) => lock_key,
  );
  const all = named.map((source): SourceDays => {
    const byDay = Map.groupBy(counted.get(lockKeyOf(source)) ?? [], ({ day }) => day);
    return {
      component: source.component_id,
      configuration: source.configuration_id,
      name: source.name,
      days: [...byDay].map(([day, runs]) => dayOf(day, runs)).toSorted((a, b) => (a.day < b.day ? -1 : 1)),
    };
  });
  const sorted = all.toSorted(
    (a, b) =>
      sumOf(b, 'error') - sumOf(a, 'error') ||
      sumOf(b, 'doubtful') - sumOf(a, 'doubtful') ||
      a.name.localeCompare(b.name) ||
      (a.configuration < b.configuration ? -1 : 1),
  );
  return { days: namesOf(range), total: all.length, sources: sorted.slice(offset, offset + limit) };
}

const sumOf = ({ days }: SourceDays, kind: 'doubtful' | 'error'): number =>
  days.reduce((sum, day) => sum + day[kind], 0);

const nameOf = (time: number): string => isoTime(time).slice(0, 10);

const namesOf = ({ last, days }: DayRange): string[] =>
  Array.from({ length: days }, (_, i) => nameOf(last - (days - 1 - i) * DAY_MS));

const endsOf = ({ last, days }: DayRange): { readonly since: string; readonly until: string } => ({
  since: nameOf(last - (days - 1) * DAY_MS),
  until: nameOf(last + DAY_MS),
});

function dayOf(day: string, all: readonly DayCount[]): RunDay {
  const sum = (fits: (each: DayCount) => boolean): number =>
    all.filter(fits).reduce((total, { runs }) => total + runs, 0);
  return {
    day,
    success: sum((each) => each.status === 'success' && (each.verdict !== 'doubtful' || each.isAccepted)),
    doubtful: sum((each) => (each.status === 'success' && each.verdict === 'doubtful') !== each.isAccepted),
    error: sum(({ status, isAccepted }) => status === 'error' && !isAccepted),
    cancelled: sum(({ status }) => status === 'cancelled'),
  };
}
