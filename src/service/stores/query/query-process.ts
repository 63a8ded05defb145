import type { ChildProcess } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { QueryError, RESULT_FILE } from './messages.ts';
import type {
  FromQuery,
  NeededTables,
  QueryFormat,
  QueryLimits,
  QueryOutcome,
  QueryRows,
  QueryTable,
} from './messages.ts';

export interface QueryTask {
  readonly sql: string;
  readonly format: QueryFormat;
  readonly limit: number | undefined;
  readonly limits: QueryLimits;
  /** Empty folder; the caller removes it. */
  readonly folder: string;
  /** Ends the process at once. */
  readonly signal: AbortSignal;
}

/** Source of the rows for a query. Each part is asked for once. */
export interface QuerySource {
  /** Finds tables that the asker may read. @throws when one of them is none */
  find(needs: NeededTables): Promise<readonly QueryTable[]>;
  /** Writes their rows into files of the folder. */
  rows(tables: readonly QueryTable[], rows: number | undefined): Promise<readonly QueryRows[]>;
}

/** Milliseconds between two looks at the files of a query. */
const LOOK_MS = 200;

/**
 * Runs a query in a process of its own, which knows nothing but the query and the rows it is given: no variable of the
 * environment, no file that is open, no connection with the service's database.
 *
 * @throws {QueryError} for a query that is wrong, refused or too large; the reason of the signal
 */
export async function runQuery(task: QueryTask, source: QuerySource): Promise<QueryOutcome> {
  const { sql, folder, format, limit, limits, signal } = task;
  signal.throwIfAborted();
  const { fork } = process.getBuiltinModule('node:child_process');
  const child = fork(processFile(), {
    cwd: folder,
    env: {},
    execArgv: ['--max-old-space-size=128', '--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'json',
  });
  const talk = conversation(child);
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const isTooLarge = watchFiles(folder, limits.diskBytes, kill);
  try {
    const needs = await talk.ask({ kind: 'ask', sql, folder, format, limit, limits }, 'needs');
    const tables = await source.find(needs);
    await talk.ask({ kind: 'bind', tables }, 'bound');
    const rows = await source.rows(tables, needs.rows ?? undefined);
    return await talk.ask({ kind: 'fill', tables: rows }, 'done');
  } catch (error) {
    signal.throwIfAborted();
    if (isTooLarge())
      throw new QueryError({
        code: 'storage.sql.tooLarge',
        message: 'The query or its result needs more disk than a query may use. Read fewer columns or rows.',
      });
    throw error;
  } finally {
    isTooLarge.stop();
    signal.removeEventListener('abort', kill);
    kill();
    await talk.isOver;
  }
}

interface Conversation {
  ask<Kind extends FromQuery['kind']>(
    message: Parameters<NonNullable<ChildProcess['send']>>[0],
    answer: Kind,
  ): Promise<Extract<FromQuery, { kind: Kind }>>;
  readonly isOver: Promise<void>;
}

function conversation(child: ChildProcess): Conversation {
  let trace = '';
  child.stderr?.on('data', (part: Buffer) => (trace = `${trace}${part.toString()}`.slice(-2000)));
  const isOver = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  return {
    isOver,
    ask: async (message, answer) =>
      await new Promise((resolve, reject) => {
        const onMessage = (said: FromQuery): void => {
          leave();
          if (said.kind === answer) resolve(said as Extract<FromQuery, { kind: typeof answer }>);
          else if (said.kind === 'problem') reject(new QueryError(said));
          else reject(new Error(`The process of a query said ${said.kind} in place of ${answer}.`));
        };
        const onClose = (code: number | null, by: NodeJS.Signals | null): void => {
          leave();
          reject(new Error(`The process of a query ended with ${code ?? by}: ${trace}`));
        };
        const onError = (error: Error): void => {
          leave();
          reject(error);
        };
        function leave(): void {
          child.off('message', onMessage).off('close', onClose).off('error', onError);
        }
        if (child.exitCode !== null || child.signalCode !== null) {
          onClose(child.exitCode, child.signalCode);
          return;
        }
        child.on('message', onMessage).on('close', onClose).on('error', onError);
        child.send(message, (error) => {
          // One that is gone says so when it closes, with its trace.
          if (error !== null && child.exitCode === null && child.signalCode === null) onError(error);
        });
      }),
  };
}

/** Ends a query whose files grow beyond what they may be. */
function watchFiles(folder: string, most: number, onTooLarge: () => void): { (): boolean; stop(): void } {
  let isOver = false;
  const files = ['query.duckdb', 'query.duckdb.wal', RESULT_FILE].map((name) => path.join(folder, name));
  const look = async (): Promise<void> => {
    const sizes = await Promise.all(
      files.map(
        async (file) =>
          await stat(file).then(
            ({ size }) => size,
            () => 0,
          ),
      ),
    );
    if (isOver || sizes.reduce((sum, size) => sum + size, 0) < most) return;
    isOver = true;
    onTooLarge();
  };
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return Object.assign(() => isOver, { stop: () => clearInterval(timer) });
}

/** Returns the file of the process: beside this one, or where the package has it when this one is a part of a bundle. */
function processFile(): string {
  const here = fileURLToPath(import.meta.url);
  if (here.endsWith('.ts')) return path.join(path.dirname(here), 'process/main.ts');
  const root = path.dirname(createRequire(import.meta.url).resolve('generic-extractor/package.json'));
  return path.join(root, 'dist/service/stores/query/process/main.js');
}
