import { mkdirSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import { openSandbox, type Sandbox } from './sandbox.ts';
import { QueryError, RESULT_FILE } from '../messages.ts';
import type { FromQuery, QueryProblem, ToQuery } from '../messages.ts';

/*
 * Process of one query: it is started with an empty environment in a folder of its own, is told the query, and ends
 * with the result. Whoever started it ends it by force when it takes too long.
 */

/** Milliseconds between two looks at the memory of the process. */
const LOOK_MS = 50;
const MB = 1024 * 1024;

let sandbox: Sandbox | undefined;
let task: Extract<ToQuery, { kind: 'ask' }> | undefined;

process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToQuery) => {
  // The service sends nothing else.
  answer(message).then(
    (said) => say(said),
    (error: unknown) => say({ kind: 'problem', ...problemOf(error) }),
  );
});

async function answer(message: ToQuery): Promise<FromQuery> {
  if (message.kind === 'ask') {
    task = message;
    const { folder, limits, sql, limit } = message;
    beModest();
    watchMemory(limits.memoryMb);
    mkdirSync(path.dirname(path.join(folder, RESULT_FILE)), { mode: 0o700 });
    sandbox = await openSandbox(folder, limits);
    const needs = await sandbox.needs(sql);
    const isBounded = needs.rows === Infinity;
    // One more tells that there are more.
    const enough = limit === undefined ? undefined : limit + 1;
    const rows = isBounded ? enough : needs.rows;
    return { kind: 'needs', ...needs, rows };
  }
  if (sandbox === undefined || task === undefined) throw new Error('No query was asked.');
  if (message.kind === 'bind') {
    await sandbox.bind(task.sql, message.tables);
    return { kind: 'bound' };
  }
  await sandbox.fill(message.tables);
  return { kind: 'done', ...(await sandbox.run(task.sql, task.format, task.limit)) };
}

function problemOf(error: unknown): QueryProblem {
  if (error instanceof QueryError) return error.problem;
  // The log of the service has it; the text may quote a file of this machine.
  process.stderr.write(`${String(error)}\n`);
  return { code: 'storage.sql.failed', message: 'The query could not be run.' };
}

/** Lets all others have the processors first, and has the system end this process before any other when memory is short. */
function beModest(): void {
  try {
    setPriority(10);
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Other systems have no such file.
  }
}

/** Ends the process when it takes much more memory than its engine may: not all that this takes is counted there. */
function watchMemory(memoryMb: number): void {
  const most = (2 * memoryMb + 256) * MB;
  setInterval(() => {
    if (process.memoryUsage.rss() < most) return;
    const message = 'The query needs more memory than a query may use. Read fewer columns or rows.';
    say({ kind: 'problem', code: 'storage.sql.tooLarge', message });
    // The engine would go on computing.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), LOOK_MS);
  }, LOOK_MS).unref();
}

function say(said: FromQuery): void {
  process.send?.(said);
}
