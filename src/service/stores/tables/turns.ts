/** Lets work with the same key run one after another, in the order it came. */
export function createTurns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const run = before.then(work, work);
    const done = run.catch(() => undefined);
    last.set(key, done);
    try {
      return await run;
    } finally {
      if (last.get(key) === done) last.delete(key);
    }
  };
}

/** Lets `count` pieces of work run at a time; `alone` waits for every place and holds the rest off. */
export interface TurnPlaces {
  use<T>(work: () => Promise<T>): Promise<T>;
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export function createPlaces(count: number): TurnPlaces {
  let free = count;
  const waiting: { places: number; start: () => void }[] = [];

  return { use: (work) => hold(1, work), alone: (work) => hold(count, work) };

  async function hold<T>(places: number, work: () => Promise<T>): Promise<T> {
    if (waiting.length > 0 || free < places) {
      await new Promise<void>((start) => waiting.push({ places, start }));
    } else free -= places;
    try {
      return await work();
    } finally {
      free += places;
      startNext();
    }
  }

  function startNext(): void {
    for (;;) {
      const next = waiting[0];
      if (next === undefined || next.places > free) return;
      waiting.shift();
      free -= next.places;
      next.start();
    }
  }
}
