import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { LimitKeeper, LimitTrace } from '../engine/http/auto-limit.ts';
import { writeFileAtomic } from '../engine/sink/atomic.ts';

/** Part of the limit of the last run that the next one begins with. */
const BEGIN = 0.75;

/**
 * Keeps how many requests at once the hosts of a data folder have taken, in `.gex/limits.json`: for the next run, and for
 * people. Its loss costs nothing but time.
 */
export function folderLimits(dataFolder: string): LimitKeeper {
  const file = path.join(dataFolder, '.gex', 'limits.json');
  return {
    startOf(origin) {
      const known = tracesIn(file).find((trace) => trace.origin === origin);
      return known === undefined ? undefined : Math.max(1, Math.floor(known.limit * BEGIN));
    },
    keep(traces) {
      if (traces.length === 0) return;
      const origins = new Set(traces.map(({ origin }) => origin));
      const others = tracesIn(file).filter(({ origin }) => !origins.has(origin));
      writeFileAtomic(file, `${JSON.stringify([...others, ...traces], null, 2)}\n`, 0o600);
    },
  };
}

function tracesIn(file: string): readonly LimitTrace[] {
  if (!existsSync(file)) return [];
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(read) ? read.filter(isTrace) : [];
  } catch {
    return []; // what was cut off by hand is found out again
  }
}

function isTrace(value: unknown): value is LimitTrace {
  if (typeof value !== 'object' || value === null) return false;
  const { origin, limit } = value as Partial<Record<string, unknown>>; // what is in it is looked at here
  return typeof origin === 'string' && typeof limit === 'number' && Number.isFinite(limit);
}
