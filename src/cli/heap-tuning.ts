/** Limit of the space for new objects. More saves no time in a run and is never given back to the system. */
const ENOUGH_BYTES = 16 << 20;
/** The limit where answers take more memory than objects. */
const ENOUGH_FOR_ANSWERS = ENOUGH_BYTES / 2;
const LOOK_EVERY_MS = 25;

/** The flag is one of the process, which may do many commands one after the other. */
let isBounded = false;

/**
 * Keeps the space for new objects from growing without need: V8 doubles it up to 64 MB while a run goes on, which
 * made up most of the difference between the memory of a short run and a long one (`bench/memory.ts`).
 *
 * Answers that are done with wait for a collection as well, until they have twice the memory of this space. Where they
 * come to as much, rows are written from their bytes, and hardly an object lives on: half of the space does as well.
 *
 * It changes the whole process, so it is for commands and not for the library. The limit cannot be set once a process
 * has begun (`--max-semi-space-size` is read at its start), but the factor of growth can.
 *
 * @param enoughBytes less for what mostly passes bytes on
 */
export function boundYoungMemory(enoughBytes?: number): void {
  let isSmall = true;
  const timer = setInterval(() => {
    const { heapTotal, arrayBuffers } = process.memoryUsage();
    // a small heap is seen without the module, which a short run need not load
    isSmall &&= heapTotal < (enoughBytes ?? ENOUGH_BYTES);
    if (isSmall) return;
    const { getHeapSpaceStatistics, setFlagsFromString } = process.getBuiltinModule('node:v8');
    const size = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size;
    if (size !== undefined) {
      const enough = enoughBytes ?? (arrayBuffers > size / 2 ? ENOUGH_FOR_ANSWERS : ENOUGH_BYTES);
      if (size < enough) return;
    }
    clearInterval(timer);
    if (isBounded) return;
    isBounded = true;
    setFlagsFromString('--semi-space-growth-factor=1');
    // what is compiled is kept at the end for processes that begin without it
    process.prependOnceListener('exit', () => setFlagsFromString('--semi-space-growth-factor=2'));
  }, LOOK_EVERY_MS);
  timer.unref();
}
