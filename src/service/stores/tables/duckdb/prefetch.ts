/** The same items; the next one is made while one is used. When it is left early, what is being made is waited for. */
export async function* prefetch<T>(source: AsyncGenerator<T, undefined>): AsyncGenerator<T, undefined> {
  let next = source.next();
  try {
    for (;;) {
      const item = await next;
      if (item.done === true) return undefined;
      next = source.next();
      // Looked at in the next round; a reader that stops before must not leave a failure unheard.
      next.catch(() => undefined);
      yield item.value;
    }
  } finally {
    await next.catch(() => undefined);
    await source.return(undefined);
  }
}
