// Loaded into a measured process: writes down its memory every so often, resident before a collection and what lives after it.
import { appendFileSync } from 'node:fs';

/** One line of the file. */
export interface MemoryPoint {
  /** Seconds since the start. */
  readonly at: number;
  readonly residentMb: number;
  /** Objects and buffers that are in use. */
  readonly usedMb: number;
}

const { BENCH_TRACE: file, BENCH_TRACE_MS: every = '1000' } = process.env;
if (file !== undefined) {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('the process needs --expose-gc');
  setInterval(() => {
    const { rss } = process.memoryUsage();
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    const point: MemoryPoint = {
      at: process.uptime(),
      residentMb: rss / 1e6,
      usedMb: (heapUsed + arrayBuffers) / 1e6,
    };
    appendFileSync(file, `${JSON.stringify(point)}\n`);
  }, Number(every)).unref();
}
