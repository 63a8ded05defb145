/** Locks by name: one task at a time works on a name, others wait in their order. */
export interface Locks {
  run<Result>(name: string, task: () => Promise<Result>): Promise<Result>;
}

export function createLocks(): Locks {
  const last = new Map<string, Promise<void>>();
  return {
    async run(name, task) {
      const before = last.get(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      last.set(name, promise);
      await before;
      try {
        return await task();
      } finally {
        resolve();
        if (last.get(name) === promise) last.delete(name);
      }
    },
  };
}
