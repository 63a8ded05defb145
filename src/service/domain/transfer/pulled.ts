/**
 * Yields the items that a writer pushes, one after another, as the reader asks for them: `push` waits in each call of
 * `give` until the item has been used. When the reader stops early, `give` fails, and `push` is awaited.
 */
export async function* pulled<T>(
  push: (give: (item: T) => Promise<void>) => Promise<unknown>,
): AsyncGenerator<T, undefined> {
  let next = Promise.withResolvers<{ readonly item: T } | undefined>();
  let used = Promise.withResolvers<void>();
  let isLeft = false;
  const pushing = push(async (item) => {
    if (isLeft) throw new Error('Nobody takes it any more.');
    used = Promise.withResolvers<void>();
    next.resolve({ item });
    await used.promise;
  }).then(
    () => next.resolve(undefined),
    (error: unknown) => next.reject(error),
  );
  try {
    for (;;) {
      const given = await next.promise;
      if (given === undefined) return undefined;
      next = Promise.withResolvers();
      // A failure that comes while an item is in use is heard when the next one is asked for.
      next.promise.catch(() => undefined);
      yield given.item;
      used.resolve();
    }
  } finally {
    isLeft = true;
    next.promise.catch(() => undefined);
    used.promise.catch(() => undefined);
    used.reject(new Error('Nobody takes it any more.'));
    await pushing;
  }
}

/** Works on items, so many at a time; the first failure ends it, after what is being done. */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of items) {
    if (failures.length > 0) break;
    const done: Promise<void> = work(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(done));
    running.add(done);
    if (running.size >= count) await Promise.race(running);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
