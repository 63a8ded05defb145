import { systemEnv, type Env } from '../../lib/env.ts';
import { RunError, StorageError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { StorageClient, Job, OnProgress, WaitOptions } from '../../storage/client/index.ts';
import type { OpenStorage } from '../../service/open/index.ts';
import { boundYoungMemory } from '../heap-tuning.ts';
import { flag, valued, type Args, type Command, type Io, type Option } from '../command.ts';
import { formatJson } from '../../lib/json/format-json.ts';
import { logOptions, openLog } from '../shared.ts';
import type { IdWord } from './id-word.ts';
import { nearest } from '../../lib/suggest.ts';
import { formatBytes } from '../format.ts';

const LIVE_MS = 100;

/** One line on a terminal that shows how far a transfer or a job is. */
interface TransferLine {
  readonly progress: OnProgress;
  /** For whatever waits for a job: it is shown, and ends with the command. */
  readonly wait: Pick<WaitOptions, 'onPoll' | 'signal'>;
  readonly end: () => void;
}

export function createTransferLine(io: Io, env: Env): TransferLine {
  let startedMs = env.now();
  let saidMs = 0;
  let what = '';
  const say = (about: string, text: (seconds: number) => string): void => {
    if (!io.isTerminal) return;
    const nowMs = env.now();
    if (about !== what) [what, startedMs] = [about, nowMs];
    if (nowMs - saidMs < LIVE_MS) return;
    saidMs = nowMs;
    io.live(`${about}: ${text(Math.max(nowMs - startedMs, 1) / 1000)}`);
  };
  return {
    progress: ({ direction, name, bytes, totalBytes }) =>
      say(`${direction}ing ${name}`, (seconds) => {
        const of = totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)}`;
        return `${formatBytes(bytes)}${of}, ${formatBytes(bytes / seconds)}/s`;
      }),
    wait: {
      signal: io.signal,
      onPoll: (job: Job) =>
        say(`job ${job.id} (${job.operationName})`, (seconds) => `${job.status}, ${Math.round(seconds)} s`),
    },
    end() {
      if (io.isTerminal) io.live('');
    },
  };
}

interface Asked {
  readonly words: readonly IdWord[];
  readonly args: Args;
  readonly client: StorageClient;
}

const FEW = 8;

/** Adds the id that was probably meant to an error, or the existing ids. */
async function explainMissing(error: StorageError, { words, args, client }: Asked): Promise<StorageError> {
  for (const { name, ids, made } of words) {
    const [given] = args.words(name);
    if (ids === undefined || given === undefined) continue;
    const known = await ids(client, args).catch(() => undefined); // the first error is the one to tell
    if (known === undefined) return error;
    if (known.includes(given)) continue;
    const { code, message, audience, where, details } = error;
    const hint = [hintOf(name, given, known), ...(made ? [`${made(given)} makes a new one.`] : [])];
    return new StorageError(code, message, { audience, where, details, hint, cause: error });
  }
  return error;
}

function hintOf(name: string, given: string, known: readonly string[]): string {
  const near = nearest(given, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  if (known.length === 0) return `There is no ${name} here at all. Check --storage and --branch.`;
  const ending = known.filter((id) => id.endsWith(`.${given}`));
  const listed = ending.length === 0 ? known : ending;
  const shown = listed.slice(0, FEW).join(', ');
  return `There is: ${shown}${listed.length > FEW ? ` and ${listed.length - FEW} more` : ''}.`;
}

export interface StorageCommand extends Pick<Command, 'describe' | 'examples' | 'name'> {
  readonly words?: readonly IdWord[];
  readonly options?: Readonly<Record<string, Option>>;
  /** A folder that is no storage yet becomes one. Default: it is refused. */
  readonly makesStorage?: boolean;
  readonly run: (context: StorageContext) => Promise<void>;
}

export interface StorageContext {
  readonly args: Args;
  readonly io: Io;
  readonly log: Log;
  readonly client: StorageClient;
  /** True when what is uploaded should be compressed. */
  readonly gzip: boolean;
  readonly line: TransferLine;
  /** Prints what the service answered: as JSON when that is asked for, else as the text. */
  readonly show: (answer: unknown, text: () => string) => void;
}

/** Options of every command over a storage. */
export const storageOptions = {
  storage: valued(
    'DIR|URL',
    'A storage folder, postgres://… for a database, or the address of a service (its token in KBC_TOKEN)',
    {
      default: 'storage',
    },
  ),
  branch: valued('ID', 'A development branch; the default branch otherwise'),
  json: flag('Print what the service answered as JSON'),
  ...logOptions,
} as const satisfies Record<string, Option>;

/** Creates a command that opens the storage, does one thing, and closes it again. */
export function storageCommand(definition: StorageCommand): Command {
  const { name, describe, examples, words = [], options = {}, makesStorage, run } = definition;
  return {
    name,
    describe,
    words,
    examples,
    options: { ...options, ...storageOptions },
    async run(args, io) {
      boundYoungMemory();
      const log = await openLog(args, io);
      const { openStorage } = await import('../../service/open/index.ts');
      const line = createTransferLine(io, systemEnv);
      const show = (answer: unknown, text: () => string): void => {
        line.end();
        io.print(args.isSet('json') ? formatJson(answer) : text());
      };
      let opened: OpenStorage | undefined;
      try {
        opened = await openStorage({
          storage: args.text('storage') ?? 'storage',
          environment: process.env,
          branch: args.text('branch'),
          log,
          signal: io.signal,
          secrets: io.secrets,
          onProgress: line.progress,
          purpose: 'work with the storage',
          mustExist: makesStorage !== true,
        });
        const { client, isLocal } = opened;
        await run({ args, io, log, client, gzip: !isLocal, line, show });
      } catch (error) {
        if (io.signal.aborted) throw interrupted(error);
        if (!(error instanceof StorageError) || error.code !== 'storage.notFound') throw error;
        throw opened === undefined
          ? error
          : await explainMissing(error, { words, args, client: opened.client });
      } finally {
        line.end();
        await opened?.close();
      }
      return 0;
    },
  };
}

function interrupted(cause: unknown): RunError {
  return new RunError('run.interrupted', 'The command was interrupted.', {
    hint: 'What the service had taken goes on there: see gex storage jobs list.',
    cause,
  });
}
