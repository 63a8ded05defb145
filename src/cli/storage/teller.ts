import { systemEnv } from '../../lib/env.ts';
import type { Log } from '../../lib/log.ts';
import type { CopyProgress } from '../../service/domain/transfer/storage.ts';
import type { Io } from '../command.ts';
import { formatCount } from '../format.ts';

const LIVE_MS = 100;
const PLAIN_MS = 10_000;

/** Shows progress: in one line on a terminal; elsewhere in a line of the log every ten seconds. */
export function createTeller(io: Io, log: Log): (told: CopyProgress) => void {
  const pause = io.isTerminal ? LIVE_MS : PLAIN_MS;
  let saidMs = systemEnv.now();
  return ({ work, what, name, number, count }) => {
    if (systemEnv.now() - saidMs < pause) return;
    saidMs = systemEnv.now();
    const place = number === undefined ? '' : ` ${formatCount(number)} of ${formatCount(count ?? number)}`;
    const text = `${work === 'copy' ? 'copying' : 'comparing'} ${what}${place}: ${name}`;
    if (io.isTerminal) io.live(text);
    else log.info(text);
  };
}
