/**
 * Does the work for every item, some at a time, and gives the results in the order of the items. The first failure stops
 * the others; it is thrown when all of them have ended.
 */
export async function mapConcurrent<T, R>(
  items: readonly T[],
  lanes: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const queue = items.entries();
  const results: R[] = [];
  const lane = async (): Promise<void> => {
    for (const [i, item] of queue) {
      either.throwIfAborted();
      results[i] = await work(item, either);
    }
  };
  let failure: { readonly error: unknown } | undefined;
  await Promise.all(
    Array.from({ length: Math.min(lanes, items.length) }, () =>
      lane().catch((error: unknown) => {
        failure ??= { error };
        stop.abort(error);
      }),
    ),
  );
  signal.throwIfAborted();
  if (failure !== undefined) throw failure.error;
  return results;
}
