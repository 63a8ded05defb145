import { digKeys, isList } from '../lib/json/index.ts';
import type { ReadyRow } from './plan.ts';

/** Waits until all rows before have ended. @throws {unknown} the reason, when the row is to stop */
export type WaitForTurn = () => Promise<void>;

export interface RowsAtOnceOptions<Place> {
  /** Rows that may be under way. */
  readonly most: number;
  readonly signal: AbortSignal;
  /** @param signal is aborted when a row before fails */
  readonly placeOf: (row: ReadyRow, signal: AbortSignal) => Place;
  /** @param turn undefined when rows run one after the other */
  readonly work: (at: Place, row: ReadyRow, turn: WaitForTurn | undefined) => Promise<void>;
  /** Tells of a row that is stopped because one before it failed. */
  readonly onStopped: (at: Place) => void;
}

/**
 * Runs rows beside each other, so that what is left behind is the same as of one after the other: what others see is done
 * in turns, in the order of the rows. When a row fails, those before it come to their end, and those behind it are
 * stopped without having shown anything.
 *
 * A row that reads tables or files of the storage runs alone: rows before it may write them, and rows behind it may
 * change them.
 *
 * @throws {unknown} what the first of the failed rows threw, in their order
 */
export async function runRowsAtOnce<Place>(
  rows: readonly ReadyRow[],
  { most, signal, placeOf, work, onStopped }: RowsAtOnceOptions<Place>,
): Promise<void> {
  const underWay = new Map<number, Promise<void>>();
  const stops = rows.map(() => new AbortController());
  const failures = new Map<number, unknown>();
  const fail = (index: number, error: unknown): void => {
    failures.set(index, error);
    for (const stop of stops.slice(index + 1)) stop.abort(error);
  };
  let before: Promise<unknown> = Promise.resolve();
  let begun = 0;
  for (const [index, row] of rows.entries()) {
    const isAlone = readsStorage(row);
    const others = isAlone ? 1 : most;
    while (underWay.size >= others) await Promise.race(underWay.values());
    if (failures.size > 0 || signal.aborted) break;
    begun++;
    const stop = AbortSignal.any([signal, stops[index]?.signal ?? signal]);
    const at = placeOf(row, stop);
    const earlier = before;
    const turn = async (): Promise<void> => {
      await earlier;
      stop.throwIfAborted();
    };
    const own = work(at, row, most > 1 ? turn : undefined)
      .catch((error: unknown) => {
        if (stop.aborted && !signal.aborted) onStopped(at);
        fail(index, error);
      })
      .finally(() => underWay.delete(index));
    underWay.set(index, own);
    before = Promise.all([before, own]);
    if (isAlone) await own;
  }
  await before;
  const first = [...failures].toSorted(([a], [b]) => a - b)[0];
  if (first !== undefined) throw first[1];
  if (begun < rows.length) signal.throwIfAborted();
}

function readsStorage({ configuration }: ReadyRow): boolean {
  return (['tables', 'files'] as const).some((kind) => {
    const inputs = digKeys(['storage', 'input', kind], configuration);
    return isList(inputs) && inputs.length > 0;
  });
}
