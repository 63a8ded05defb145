import type { Pool } from 'pg';
import type { Log } from '../../../lib/log.ts';
import { tellingOnce } from '../../platform/health/log-on-change.ts';
import type { TicketName } from './dispatch.ts';

/** Sees that there are tickets which may be taken now: for all that this process waits for in one look. */
export interface Lookout {
  /** @returns ends the watch */
  watch(name: TicketName, wake: () => void): () => void;
  close(): Promise<void>;
}

/** Half of it is what work waits for on average when it was asked for by another process. */
const LOOK_MS = 250;

export function createLookout(pool: Pool, schema: string, log: Log): Lookout {
  const watched = new Map<TicketName, () => void>();
  const telling = tellingOnce(() => log, 'The queue cannot be looked at');
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  return {
    watch(name, wake) {
      watched.set(name, wake);
      timer ??= setInterval(look, LOOK_MS);
      return () => {
        watched.delete(name);
        if (watched.size === 0) stop();
      };
    },
    async close() {
      watched.clear();
      stop();
      await looking;
    },
  };

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  function look(): void {
    looking ??= telling(lookOnce()).finally(() => {
      looking = undefined;
    });
  }

  async function lookOnce(): Promise<void> {
    const { rows } = await pool.query<{ name: TicketName }>(ready(schema), [[...watched.keys()]]);
    for (const { name } of rows) watched.get(name)?.();
  }
}

/** Not those whose key another one has, at work or to be tried again: nobody is given them. */
const ready = (
  schema: string,
): string => `select watched.name from unnest($1::text[]) watched (name) where exists (
  select from "${schema}".job t
  where t.name = watched.name and t.state < 'active' and not t.blocked and t.start_after <= clock_timestamp()
    and not exists (
      select from "${schema}".job other
      where other.name = t.name and other.singleton_key = t.singleton_key and other.id <> t.id
        and other.state in ('active', 'retry')))`;
