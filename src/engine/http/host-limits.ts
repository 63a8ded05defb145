import { createHmac } from 'node:crypto';
import type { Env } from '../../lib/env.ts';
import type { AutoLimit } from './auto-limit.ts';
import type { BudgetAccount } from './budgets.ts';
import type { LimitKeeper, LimitSubject, LimitTrace } from './limit-trace.ts';
import type { RateGate } from './rate-limiter.ts';
import type { Semaphore } from './semaphore.ts';

/** The limit of a host, and those who wait for a place. */
export interface AutoGate extends LimitSubject {
  readonly limit: AutoLimit;
  /** Lets one request wait for its place, and others behind it in their order. */
  readonly head: Semaphore;
  ended: PromiseWithResolvers<void>;
}

/**
 * The limits of hosts that all connections of a run share: jobs, iterations, and configuration rows beside each other
 * count together.
 *
 * A limit that is found out is one of the host and the credentials, for an API counts each of its users; what the
 * configuration says is of the host, as it says.
 */
export interface HostLimits {
  readonly auto: Map<string, AutoGate>;
  readonly gates: Map<string, RateGate>;
  readonly accounts: Map<string, BudgetAccount>;
  readonly keeper: LimitKeeper;
  /** Returns the limits that were found out so far. */
  traces(): readonly LimitTrace[];
}

/** @param keeper knows limits of earlier runs; by default each begins anew */
export function createHostLimits(env: Env, keeper: LimitKeeper = forgetful(env)): HostLimits {
  const auto = new Map<string, AutoGate>();
  return {
    auto,
    gates: new Map(),
    accounts: new Map(),
    keeper,
    traces: () => [...auto.values()].map((gate) => gate.limit.trace(gate)),
  };
}

function forgetful(env: Env): LimitKeeper {
  const salt = env.randomBytes(16);
  return { startOf: () => undefined, nameOf: (text) => saltedName(text, salt), keep: () => {} };
}

/** Names credentials by a few digits of a salted digest, which does not tell them. */
export function saltedName(credentials: string, salt: Uint8Array | string): string {
  return createHmac('sha256', salt).update(credentials).digest('hex').slice(0, 8);
}
