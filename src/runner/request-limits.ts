import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { FIRST_LIMIT } from '../engine/http/auto-limit.ts';
import type { LimitKeeper, LimitStart, LimitSubject, LimitTrace } from '../engine/http/limit-trace.ts';
import { saltedName } from '../engine/http/host-limits.ts';
import { writeFileAtomic } from '../engine/sink/atomic.ts';

/** Part of the limit of the last run that the next one begins with. */
const BEGIN = 0.75;

/** Hosts and credentials that are remembered: those whose credentials change with each run would be ever more. */
const MOST = 50;

/** The last run that asked a host. */
interface KeptTrace extends LimitTrace {
  /** The limit of the last run that found one out: a short run finds out nothing. */
  readonly known?: LimitStart;
}

/** `.gex/limits.json` of the data folder. */
interface KeptLimits {
  /** Makes the names of credentials say nothing elsewhere. */
  readonly salt: string;
  readonly limits: readonly KeptTrace[];
}

/**
 * Keeps how many requests at once the hosts of a data folder have taken, in `.gex/limits.json`: for the next run, and for
 * people. Its loss costs nothing but time.
 */
export function folderLimits(dataFolder: string): LimitKeeper {
  const file = path.join(dataFolder, '.gex', 'limits.json');
  let kept: KeptLimits | undefined;
  const known = (): KeptLimits =>
    (kept ??= keptIn(file) ?? { salt: randomBytes(16).toString('hex'), limits: [] });
  return {
    startOf(subject) {
      const trace = known().limits.find((each) => isSame(each, subject));
      if (trace === undefined) return undefined;
      const { limit, wasRefused } = knownBy(trace);
      return { limit: Math.max(wasRefused ? 1 : FIRST_LIMIT, Math.floor(limit * BEGIN)), wasRefused };
    },
    nameOf: (credentials) => saltedName(credentials, known().salt),
    keep(traces) {
      if (traces.length === 0) return;
      const before = (trace: LimitTrace): KeptTrace | undefined =>
        known().limits.find((each) => isSame(each, trace));
      const others = known().limits.filter((each) => !traces.some((trace) => isSame(each, trace)));
      const limits = [...others, ...traces.map((trace) => after(trace, before(trace)))].slice(-MOST);
      writeFileAtomic(file, `${JSON.stringify({ salt: known().salt, limits }, null, 2)}\n`, 0o600);
    },
  };
}

function knownBy({ known, limit, refused }: KeptTrace): LimitStart {
  return known ?? { limit, wasRefused: refused > 0 };
}

/** Adds what is known after a run: a run in which nothing was cut says that at least so many are taken. */
function after(trace: LimitTrace, before: KeptTrace | undefined): KeptTrace {
  const isCut = trace.changes.some(({ from, to }) => to < from);
  const earlier = before === undefined || isCut ? { limit: 1, wasRefused: isCut } : knownBy(before);
  return { ...trace, known: { ...earlier, limit: Math.max(earlier.limit, trace.limit) } };
}

function isSame(a: LimitSubject, b: LimitSubject): boolean {
  return a.origin === b.origin && a.credential === b.credential;
}

function keptIn(file: string): KeptLimits | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof read !== 'object' || read === null) return undefined;
    const { salt, limits } = read as Partial<Record<string, unknown>>; // what is in it is looked at here
    if (typeof salt !== 'string' || salt === '' || !Array.isArray(limits)) return undefined;
    return { salt, limits: limits.filter(isTrace) };
  } catch {
    return undefined; // what was cut off by hand is found out again
  }
}

function isTrace(value: unknown): value is KeptTrace {
  if (typeof value !== 'object' || value === null) return false;
  const { origin, limit, known } = value as Partial<Record<string, unknown>>; // see above
  return typeof origin === 'string' && isCount(limit) && (known === undefined || isStart(known));
}

function isStart(value: unknown): value is LimitStart {
  if (typeof value !== 'object' || value === null) return false;
  const { limit, wasRefused } = value as Partial<Record<string, unknown>>; // see above
  return isCount(limit) && typeof wasRefused === 'boolean';
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
