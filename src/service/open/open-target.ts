import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Keys } from '../../lib/encryption/keys.ts';
import { systemEnv, type Env } from '../../lib/env.ts';
import { RunError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { BeforeChange } from '../../storage/client/client-options.ts';
import type { OnProgress } from '../../storage/client/transfer/progress.ts';
import type { OpenStorage } from './index.ts';
import { folderIn } from './place.ts';
import type { DecryptOptions } from '../../runner/decrypt.ts';
import type { RowOptions } from '../../runner/run-row.ts';
import type { ConfigurationPlace } from '../../runner/stored-configuration.ts';

/** Id of this program in the catalogue of a storage service. */
export const KNOWN_COMPONENT = 'ex-generic-v2';

/** Place of a configuration in a storage, with its branch. */
export interface BranchPlace extends ConfigurationPlace {
  /** Id of a development branch; the default branch when undefined. */
  readonly branch?: string | undefined;
}

export interface TargetOptions {
  /** Default: the current folder; for a stored configuration `runs/<component>/<configuration>`. */
  readonly dataFolder?: string | undefined;
  /**
   * A folder, the address of a service or of a PostgreSQL database, or `none`. Default: `storage` in the data folder; for a stored configuration
   * `./storage`.
   */
  readonly storage?: string | undefined;
  /** The configuration, when a storage keeps it. */
  readonly stored?: BranchPlace | undefined;
  /** False when nothing is read from a storage or pushed to it, unless the configuration is there. Default: true. */
  readonly needsStorage?: boolean;
  /**
   * Further keys for the encrypted values of a stored configuration, beside those of the environment and of a folder.
   */
  readonly encryptionKeys?: Keys | undefined;
  /** `KBC_TOKEN`, `KBC_COMPONENTID`, `KBC_RUNID`. Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Receives the token. */
  readonly secrets?: Secrets | undefined;
  readonly env?: Env | undefined;
  readonly onProgress?: OnProgress | undefined;
  /**
   * Called before each request that may change something in the storage; only the storing of logins does not wait for
   * it.
   */
  readonly beforeChange?: BeforeChange | undefined;
}

/** Subject of a run: a data folder, or a configuration that a storage holds. */
export interface RunTarget {
  /** Options for {@link run}. */
  readonly options: DecryptOptions &
    Pick<RowOptions, 'dataFolder' | 'document' | 'logins' | 'states' | 'storage'>;
  /** True when the stored configuration is disabled, so that nothing runs unless a row is named. */
  readonly isDisabled: boolean;
  /** Returns the version that the stored configuration has got since; undefined when it is still the same. */
  readonly newerVersion: () => Promise<number | undefined>;
  /** Must be called once, whatever happened. */
  close(): Promise<void>;
}

/**
 * Connects a run with its storage. The storage of a data folder is opened when the run is sure to begin, one that
 * holds the configuration at once.
 *
 * ```ts
 * const target = await openTarget({ dataFolder: 'my-api', log, signal });
 * try {
 *   await run({ ...target.options, log, signal });
 * } finally {
 *   await target.close();
 * }
 * ```
 *
 * @throws {StorageError} when the storage cannot be reached; {@link RunError} `command.invalid` when it is none
 */
export async function openTarget(options: TargetOptions): Promise<RunTarget> {
  const { stored } = options;
  return stored === undefined ? await overFolder(options) : await overStored(stored, options);
}

async function overFolder(options: TargetOptions): Promise<RunTarget> {
  const { dataFolder = '.', needsStorage = true, environment = process.env, onProgress } = options;
  const storage = options.storage ?? path.join(dataFolder, 'storage');
  const target = { isDisabled: false, newerVersion: async () => await Promise.resolve(undefined) };
  if (storage === 'none') return { ...target, options: { dataFolder }, close: async () => {} };
  const encryptionKeys = await keysBeside(storage);
  if (!needsStorage) return { ...target, options: { dataFolder, encryptionKeys }, close: async () => {} };
  const { clientStorage } = await import('../../runner/client-storage.ts');
  let opened: OpenStorage | undefined;
  return {
    ...target,
    options: {
      dataFolder,
      encryptionKeys,
      storage: clientStorage({
        connect: async () => (opened = await open(storage, options)),
        origin: { component: environment['KBC_COMPONENTID'] ?? KNOWN_COMPONENT, isStored: false },
        runId: environment['KBC_RUNID'],
        env: options.env ?? systemEnv,
        onProgress,
      }),
    },
    close: async () => await opened?.close(),
  };
}

async function overStored(place: BranchPlace, options: TargetOptions): Promise<RunTarget> {
  const { storage = 'storage', environment = process.env, log, onProgress } = options;
  if (storage === 'none')
    throw new RunError('command.invalid', '--storage none has no configurations to run.', {
      hint: 'Give the folder or the address of the storage that has it.',
    });
  const opened = await open(storage, { ...options, branch: place.branch, mustExist: true });
  try {
    const { clientStorage } = await import('../../runner/client-storage.ts');
    const { fetchConfiguration } = await import('../../runner/stored-configuration.ts');
    const { storedStates } = await import('../../runner/stored-states.ts');
    const { storedLogins } = await import('../../runner/logins/stored-logins.ts');
    const { joinKeys, keysFrom } = await import('../../lib/encryption/keys.ts');
    const stored = await fetchConfiguration(opened.client, place);
    log.info(`Configuration “${stored.name}” (${place.configuration}), version ${stored.version}`);
    const { component, configuration, branch } = place;
    const encryptionKeys = joinKeys(options.encryptionKeys ?? [], opened.encryptionKeys ?? []);
    return {
      options: {
        dataFolder: options.dataFolder ?? folderOf(place),
        encryptionKeys,
        encryptionScope: { project: opened.token.projectId, component, configuration },
        document: stored.document,
        storage: clientStorage({
          connect: async () => await Promise.resolve(opened),
          origin: { component, configuration, branch, isStored: true },
          runId: environment['KBC_RUNID'],
          env: options.env ?? systemEnv,
          onProgress,
        }),
        states: storedStates(opened.client, place),
        logins: storedLogins({
          client: opened.steady,
          place,
          keys: () => joinKeys(keysFrom(environment), encryptionKeys),
          scope: { project: opened.token.projectId, component },
          env: options.env ?? systemEnv,
        }),
      },
      isDisabled: stored.isDisabled,
      newerVersion: async () => {
        // the run has succeeded: a version that cannot be found out now does not make it fail
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
  options: TargetOptions & { readonly branch?: string | undefined; readonly mustExist?: boolean },
): Promise<OpenStorage> {
  const { openStorage } = await import('./index.ts');
  const { environment = process.env, log, signal, secrets, env, branch, mustExist, beforeChange } = options;
  const given = { environment, branch, log, signal, secrets, env, mustExist, beforeChange };
  return await openStorage({ storage, purpose: 'run a configuration', ...given });
}

/** Reads the keys of a storage folder for its `#` values; they serve for those in the data folder, too. */
async function keysBeside(storage: string): Promise<Keys | undefined> {
  const dir = folderIn(storage);
  if (dir === undefined) return undefined;
  const file = path.join(dir, 'encryption.key');
  if (!existsSync(file)) return undefined;
  const { readKeyFile } = await import('../../lib/encryption/keys.ts');
  return readKeyFile(file);
}

/** Returns the folder on this machine for the outputs of a stored configuration. */
function folderOf({ component, configuration, branch }: BranchPlace): string {
  const name = branch === undefined ? configuration : `${configuration}@${branch}`;
  return path.join('runs', folderName(component), folderName(name));
}

function folderName(id: string): string {
  const name = encodeURIComponent(id).replaceAll('%40', '@');
  return /^\.*$/.test(name) ? `_${name}` : name;
}
