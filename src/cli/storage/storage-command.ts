import { systemEnv } from '../../lib/env.ts';
import { RunError, StorageError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { StorageClient } from '../../storage/client/index.ts';
import type { OpenStorage } from '../../service/open/index.ts';
import { boundYoungMemory } from '../heap-tuning.ts';
import { flag, valued, type Args, type Command, type Io, type Option } from '../command.ts';
import { formatJson } from '../../lib/json/format-json.ts';
import { logOptions, openLog } from '../shared.ts';
import type { IdWord } from './id-word.ts';
import { explainMissing } from './near-id.ts';
import { createTransferLine, type TransferLine } from './transfer-line.ts';

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
  storage: valued('DIR|URL', 'A storage folder, or the address of a service (its token in KBC_TOKEN)', {
    default: 'storage',
  }),
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
