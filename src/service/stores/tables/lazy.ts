import type { TableEngine } from './engine.ts';

/**
 * An engine that is loaded and opened when it is first needed: a service that stores configurations only starts
 * without it.
 */
export function lazyEngine(isShared: boolean, load: () => Promise<TableEngine>): TableEngine {
  let opening: Promise<TableEngine> | undefined;

  async function opened(): Promise<TableEngine> {
    opening ??= load().then(async (engine) => {
      await engine.open();
      return engine;
    });
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  }

  return {
    isShared,
    open: async () => void (await opened()),
    async close() {
      const closing = opening;
      opening = undefined;
      await (await closing)?.close();
    },
    create: async (...given) => await (await opened()).create(...given),
    drop: async (...given) => await (await opened()).drop(...given),
    dropBucket: async (...given) => await (await opened()).dropBucket(...given),
    describe: async (...given) => await (await opened()).describe(...given),
    addColumn: async (...given) => await (await opened()).addColumn(...given),
    dropColumn: async (...given) => await (await opened()).dropColumn(...given),
    setPrimaryKey: async (...given) => await (await opened()).setPrimaryKey(...given),
    import: async (...given) => await (await opened()).import(...given),
    export: async (...given) => await (await opened()).export(...given),
    preview: async (...given) => await (await opened()).preview(...given),
    count: async (...given) => await (await opened()).count(...given),
    profile: async (...given) => await (await opened()).profile(...given),
    deleteRows: async (...given) => await (await opened()).deleteRows(...given),
    versions: async () => await (await opened()).versions(),
    orphans: async () => await (await opened()).orphans(),
    // An engine that was never opened has nothing to free.
    compact: async () => (opening === undefined ? { freedBytes: 0 } : await (await opened()).compact()),
  };
}
