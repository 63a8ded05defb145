import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Keys } from '../encryption/keys.ts';
import { systemEnv } from '../env.ts';
import { RunError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { DecryptOptions } from '../runner/decrypt.ts';
import type { RunOptions } from '../runner.ts';
import type { ConfigurationPlace } from '../runner/stored-configuration.ts';
import type { OnProgress } from '../storage/client/transfer/progress.ts';
import type { Args, Io } from './command.ts';
import type { OpenStorage } from './open-storage.ts';
import { KNOWN_COMPONENT } from './shared.ts';

/** What a run is over: a data folder, or a configuration that a storage keeps. */
export interface RunTarget extends DecryptOptions {
  readonly dataFolder: string;
  readonly options: Pick<RunOptions, 'document' | 'states' | 'storage'>;
  /** True when the stored configuration is disabled, so that nothing runs unless a row is named. */
  readonly isDisabled: boolean;
  /** The version that the stored configuration has got since; undefined when it is still the same. */
  readonly newerVersion: () => Promise<number | undefined>;
  close(): Promise<void>;
}

export interface TargetOptions {
  readonly log: Log;
  readonly io: Io;
  /** False where nothing is read from a storage or pushed to it, unless the configuration is there. */
  readonly needsStorage: boolean;
  readonly onProgress: OnProgress;
}

/** A configuration that a storage keeps, in a branch of it. */
export interface BranchPlace extends ConfigurationPlace {
  readonly branch: string | undefined;
}

/** The configuration that the options name; undefined for a run over a data folder. */
function placeArg(args: Args): BranchPlace | undefined {
  const [component, configuration] = [args.text('component'), args.text('config')];
  const branch = args.text('branch');
  if (component !== undefined && configuration !== undefined) return { component, configuration, branch };
  if (component === undefined && configuration === undefined && branch === undefined) return undefined;
  throw new RunError('command.invalid', 'A stored configuration is named by its component and its id.', {
    hint: `Write both, such as --component ${KNOWN_COMPONENT} --config 42.`,
  });
}

/** What the command is to run. A storage is opened only when that is sure to be needed. */
export async function openTarget(args: Args, options: TargetOptions): Promise<RunTarget> {
  const place = placeArg(args);
  return place === undefined ? await overFolder(args, options) : await overStored(place, args, options);
}

async function overFolder(args: Args, options: TargetOptions): Promise<RunTarget> {
  const dataFolder = args.text('data') ?? '.';
  const storage = args.text('storage') ?? path.join(dataFolder, 'storage');
  const target: RunTarget = {
    dataFolder,
    options: {},
    isDisabled: false,
    newerVersion: async () => undefined,
    close: async () => {},
  };
  if (storage === 'none') return target;
  const encryptionKeys = await keysBeside(storage);
  if (!options.needsStorage) return { ...target, encryptionKeys };
  const { clientStorage } = await import('../runner/client-storage.ts');
  let opened: OpenStorage | undefined;
  const component = process.env['KBC_COMPONENTID'] ?? KNOWN_COMPONENT;
  return {
    ...target,
    encryptionKeys,
    options: {
      storage: clientStorage({
        connect: async () => (opened = await open(storage, undefined, options)),
        origin: { component, isStored: false },
        runId: process.env['KBC_RUNID'],
        env: systemEnv,
        onProgress: options.onProgress,
      }),
    },
    close: async () => await opened?.close(),
  };
}

async function overStored(place: BranchPlace, args: Args, options: TargetOptions): Promise<RunTarget> {
  const storage = args.text('storage') ?? 'storage';
  if (storage === 'none') {
    throw new RunError('command.invalid', '--storage none has no configurations to run.', {
      hint: 'Give the folder or the address of the storage that has it.',
    });
  }
  const { log, onProgress } = options;
  const opened = await open(storage, place.branch, { ...options, mustExist: true });
  try {
    const { clientStorage } = await import('../runner/client-storage.ts');
    const { fetchConfiguration } = await import('../runner/stored-configuration.ts');
    const { storedStates } = await import('../runner/stored-states.ts');
    const stored = await fetchConfiguration(opened.client, place);
    log.info(`Configuration “${stored.name}” (${place.configuration}), version ${stored.version}`);
    const { component, configuration } = place;
    const encryptionScope = { project: opened.token.projectId, component, configuration };
    const keys = { encryptionKeys: opened.encryptionKeys, encryptionScope };
    return {
      dataFolder: args.text('data') ?? folderOf(place),
      ...keys,
      options: {
        document: stored.document,
        storage: clientStorage({
          connect: async () => await Promise.resolve(opened),
          origin: { ...place, isStored: true },
          runId: process.env['KBC_RUNID'],
          env: systemEnv,
          onProgress,
        }),
        states: storedStates(opened.client, place),
      },
      isDisabled: stored.isDisabled,
      newerVersion: async () => {
        // the run has succeeded: what can't be found out now is no failure of it
        const found = opened.client.configurations(component).find(configuration);
        const now = await found.catch(() => undefined);
        return now === undefined || now.version === stored.version ? undefined : now.version;
      },
      close: async () => await opened.close(),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function open(
  storage: string,
  branch: string | undefined,
  { log, io, mustExist }: Pick<TargetOptions, 'io' | 'log'> & { readonly mustExist?: boolean },
): Promise<OpenStorage> {
  const { openStorage } = await import('./open-storage.ts');
  const { signal, secrets } = io;
  const purpose = 'run a configuration';
  return await openStorage({
    storage,
    environment: process.env,
    branch,
    log,
    signal,
    secrets,
    purpose,
    mustExist,
  });
}

/** The keys that a storage folder has for its `#` values serve for those in the data folder, too. */
async function keysBeside(storage: string): Promise<Keys | undefined> {
  const file = path.join(storage, 'encryption.key');
  if (/^https?:/i.test(storage) || !existsSync(file)) return undefined;
  const { readKeyFile } = await import('../encryption/keys.ts');
  return readKeyFile(file);
}

/** Where the outputs of a stored configuration are kept on this machine. */
function folderOf({ component, configuration, branch }: BranchPlace): string {
  const name = branch === undefined ? configuration : `${configuration}@${branch}`;
  return path.join('runs', folderName(component), folderName(name));
}

function folderName(id: string): string {
  const name = encodeURIComponent(id).replaceAll('%40', '@');
  return /^\.*$/.test(name) ? `_${name}` : name;
}
