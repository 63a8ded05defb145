import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';

/** Something without which requests are not worth being sent here. */
export interface Check {
  /** For people and programs, such as `database`. */
  readonly name: string;
  /** True when many requests can be answered without it: they are sent here all the same. Default: false. */
  readonly isBearable?: boolean;
  /** Resolves when it is there. An `Unready` says why not in words for everybody; any other error only goes to the log. */
  check(): Promise<void>;
}

/** Why a check failed, in words that anybody may read. */
export class Unready extends Error {}

export interface UnreadyReason {
  readonly check: string;
  readonly message: string;
}

export interface ReadinessState {
  /** Why requests should not be sent here; none when they should. */
  readonly reasons: readonly UnreadyReason[];
  /** Missing resources that don't stop requests from being sent here. */
  readonly degraded: readonly UnreadyReason[];
}

export interface Readiness {
  /** Asked again within two seconds, it is not looked up. */
  condition(): Promise<ReadinessState>;
  add(checks: readonly Check[]): void;
  /** Everything that is needed has been started. */
  started(): void;
  /** From now on it is not ready. */
  stop(): void;
  readonly isStopping: boolean;
  /** Aborted when it stops. */
  readonly stopping: AbortSignal;
  /** Connections are about to be cut: no request waits any longer for something slow. */
  hurry(): void;
  /** Aborted by that. */
  readonly shutdownSignal: AbortSignal;
}

/** Probes come every few seconds, from several sides. */
const FRESH_MS = 2000;

/** Milliseconds for a check; callers of the probe give up after a few seconds as well. */
const PATIENCE_MS = 3000;

export function createReadiness(env: Env, log: Log): Readiness {
  const checks: Check[] = [];
  let state: 'ready' | 'starting' | 'stopping' = 'starting';
  let latest: { readonly at: number; readonly condition: Promise<ReadinessState> } | undefined;
  let told = '';
  const shutdownSignal = new AbortController();
  const stopping = new AbortController();

  async function tryAll(): Promise<ReadinessState> {
    const all = await Promise.all(checks.map(async (check) => await tryOne(check, env)));
    const failed = all.filter((one) => one !== undefined);
    const summary = failed.map(({ reason }) => reason.check).join(', ');
    const isReady = failed.every(({ isBearable }) => isBearable);
    if (summary !== told && failed.length > 0)
      log.warn(isReady ? 'The service is degraded' : 'The service is not ready', {
        failed: failed.map(({ reason, detail }) => ({ ...reason, detail })),
      });
    else if (summary !== told) log.info('The service is ready again');
    told = summary;
    const reasonsOf = (bearable: boolean): readonly UnreadyReason[] =>
      failed.filter(({ isBearable }) => isBearable === bearable).map(({ reason }) => reason);
    return { reasons: reasonsOf(false), degraded: reasonsOf(true) };
  }

  return {
    async condition() {
      if (state === 'starting') return unready('start', 'The service is starting.');
      if (state === 'stopping') return unready('stop', 'The service is stopping.');
      const now = env.now();
      if (latest === undefined || Math.abs(now - latest.at) > FRESH_MS)
        latest = { at: now, condition: tryAll() };
      return await latest.condition;
    },
    add: (more) => void checks.push(...more),
    started() {
      if (state === 'starting') state = 'ready';
    },
    stop() {
      state = 'stopping';
      stopping.abort();
    },
    stopping: stopping.signal,
    get isStopping() {
      return state === 'stopping';
    },
    hurry: () => shutdownSignal.abort(),
    shutdownSignal: shutdownSignal.signal,
  };
}

const unready = (check: string, message: string): ReadinessState => ({
  reasons: [{ check, message }],
  degraded: [],
});

async function tryOne(
  one: Check,
  env: Env,
): Promise<
  { readonly reason: UnreadyReason; readonly detail: string; readonly isBearable: boolean } | undefined
> {
  const over = new AbortController();
  const late = env.sleep(PATIENCE_MS, over.signal).then(() => {
    throw new Unready(`It did not answer within ${PATIENCE_MS / 1000} seconds.`);
  });
  // One of the two is late, and its result is not awaited any more.
  late.catch(() => undefined);
  const checked = one.check();
  checked.catch(() => undefined);
  try {
    await Promise.race([checked, late]);
    return undefined;
  } catch (error) {
    const message =
      error instanceof Unready ? error.message : 'It cannot be used. The log of the service says why.';
    return {
      reason: { check: one.name, message },
      detail: String(error),
      isBearable: one.isBearable === true,
    };
  } finally {
    over.abort();
  }
}
