import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Node } from './cluster.ts';

/** Kill of a runner with the runs that it had. */
export interface Blow {
  readonly runner: string;
  /** The configurations whose runs it had. */
  readonly hit: readonly string[];
  /** When it was struck, in milliseconds of the performance clock. */
  readonly at: number;
}

/**
 * Strikes the runner that has most runs, together with their processes, as when a machine is gone. With a time it is
 * stopped for as long, and comes back from the dead: its processes of runs, which others have by then, are to end.
 *
 * @throws when no runner has a run, or a process is gone already
 */
export async function strike(cluster: Cluster, freezeMs: number): Promise<Blow> {
  const runners = cluster.nodes.filter(({ role }) => role === 'runner');
  const [busiest] = runners.toSorted((a, b) => runsOf(b).size - runsOf(a).size);
  const runs = busiest === undefined ? new Map<number, string>() : runsOf(busiest);
  if (busiest === undefined || runs.size === 0)
    throw new Error('The blow hits nothing: no runner has a run.');
  const blow = { runner: busiest.name, hit: [...runs.values()].toSorted(), at: performance.now() };
  // All stand still before any is gone: none notices that another is, and ends in good order.
  for (const pid of [busiest.pid, ...runs.keys()]) process.kill(pid, 'SIGSTOP');
  if (freezeMs > 0) await comeBack(busiest, [...runs.keys()], freezeMs);
  else {
    for (const pid of runs.keys()) process.kill(pid, 'SIGKILL');
    await cluster.replace(busiest, { signal: 'SIGKILL', pauseMs: 0 });
  }
  return blow;
}

/** How long a runner may take to see that its runs are another's, and their processes to end. */
const ENDING_MS = 20_000;

async function comeBack(runner: Node, pids: readonly number[], afterMs: number): Promise<void> {
  await sleep(afterMs);
  for (const pid of [runner.pid, ...pids]) process.kill(pid, 'SIGCONT');
  const latest = performance.now() + ENDING_MS;
  while (pids.some((pid) => runsOf(runner).has(pid))) {
    if (performance.now() > latest)
      throw new Error(`${runner.name} came back, and goes on with runs that are no longer its own.`);
    await sleep(100);
  }
}

/** The processes of runs that a runner has, and of what configuration each is. */
function runsOf({ pid }: Node): Map<number, string> {
  const runs = new Map<number, string>();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  for (const child of children.split(/\s+/).filter(Boolean)) {
    const configuration = /--config=([^\0]+)/.exec(commandOf(child))?.[1];
    if (configuration !== undefined) runs.set(Number(child), configuration);
  }
  return runs;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // it has ended meanwhile
  }
}
