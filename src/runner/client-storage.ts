import type { Env } from '../lib/env.ts';
import { RunError, StorageError } from '../lib/errors.ts';
import { digKeys, isObject, type AnyObject } from '../lib/json/index.ts';
import { heldInputs, holdInputs } from './mapping/held-inputs.ts';
import { pullInputs } from './mapping/input/pull.ts';
import { beginJournal, openJournal, type Journal } from './mapping/journal.ts';
import type { Inputs, MappingContext, Origin, ProcessedFile } from './mapping/mapping-types.ts';
import type { Connection } from '../storage/client/connection.ts';
import { pushOutputs } from './mapping/output/push.ts';
import { stepKey } from './mapping/output/pushing.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { OnProgress } from '../storage/client/transfer/progress.ts';
import type { RowFolder } from './row-folder.ts';
import type { RowPlace } from './row-place.ts';
import type { Storage } from './storage.ts';

export interface ClientStorageOptions {
  /** Called once, when the run is sure to begin. Who gives it closes the connection. */
  readonly connect: () => Promise<Connection>;
  /** Component and branch; a configuration kept by the service has its id here, too. */
  readonly origin: Omit<Origin, 'configuration' | 'row'> & { readonly configuration?: string | undefined };
  readonly runId?: string | undefined;
  readonly env: Env;
  readonly onProgress?: OnProgress | undefined;
}

/** Creates a storage behind its API: tables and files are mapped in and out, pushes are journalled. */
export function clientStorage(options: ClientStorageOptions): Storage {
  const { origin } = options;
  let connected: Connection | undefined;
  const connection = (): Connection => {
    if (connected === undefined) throw new Error('The storage was not begun.');
    return connected;
  };
  const pulled = new Map<string | undefined, Inputs>();
  const contextOf = (at: RowPlace, side: 'input' | 'output', of = originOf(at, origin)): MappingContext => ({
    connection: connection(),
    origin: of,
    mapping: mappingOf(at, side),
    env: options.env,
    log: at.log,
    signal: at.signal,
    onProgress: options.onProgress,
  });
  return {
    name: () => JSON.stringify([connection().project, origin.branch ?? null]),
    async begin() {
      connected = await options.connect();
    },
    isPending: async (at) => {
      const journal = openJournal(at.folder.out);
      if (journal?.document.status !== 'pending') return false;
      refuseOtherStorage(journal, connection(), at);
      refuseOtherConfiguration(journal, originOf(at, origin), at);
      return true;
    },
    async pull(at, remembered) {
      const context = contextOf(at, 'input');
      const state = remembered;
      pulled.set(
        at.row.id,
        await pullInputs({ ...context, folder: at.folder.root, state, runId: options.runId }),
      );
    },
    async hold(at, finished) {
      const inputs = pulled.get(at.row.id);
      if (inputs !== undefined) holdInputs(finished, inputs, connection().project);
    },
    async seal(at, finished, movesState) {
      const { project, address } = connection();
      const inputs = pulled.get(at.row.id) ?? heldInputs(finished, project);
      beginJournal(finished, {
        id: Buffer.from(options.env.randomBytes(16)).toString('hex'),
        target: { project, address },
        origin: originOf(at, origin),
        inputState: inputs?.state ?? null,
        processedTags: inputs?.processed ?? [],
        movesState,
        outputBucket: outputBucketOf(at.row.configuration),
      });
    },
    async push(at) {
      const journal = journalOf(at.folder);
      const { inputState, movesState, origin: begun, outputBucket } = journal.document;
      const now = outputBucketOf(at.row.configuration);
      // what is cut short goes on under the names that it began with
      const pushed = await pushOutputs({
        ...contextOf(at, 'output', begun),
        out: at.folder.out,
        journal,
        movedBucket:
          outputBucket === undefined || now === undefined ? undefined : { from: outputBucket, to: now },
      });
      const stateKey = stepKey({ journal }, '', 'state');
      return { pushed, remembered: inputState ?? undefined, movesState, stateKey };
    },
    async end(at) {
      const journal = journalOf(at.folder);
      await addTags(contextOf(at, 'input'), journal.document.processedTags, (fileId, tag) =>
        stepKey({ journal }, '', 'tag', String(fileId), tag),
      );
      journal.finish();
    },
  };
}

function journalOf({ out }: RowFolder): Journal {
  const journal = openJournal(out);
  if (journal === undefined) throw new Error('An output without a journal was to be pushed.');
  return journal;
}

function originOf({ row, folder, configuration }: RowPlace, origin: ClientStorageOptions['origin']): Origin {
  return {
    ...origin,
    configuration: origin.configuration ?? configuration ?? folder.name,
    ...(row.id === undefined ? {} : { row: row.id }),
  };
}

/**
 * Returns the `outputBucket` of the configuration, which the manifests were made with; undefined if it sets none for
 * all jobs.
 */
function outputBucketOf(configuration: AnyObject): string | undefined {
  const bucket = digKeys(['parameters', 'config', 'outputBucket'], configuration);
  return typeof bucket === 'string' && bucket !== '' ? bucket : undefined;
}

function mappingOf({ row }: RowPlace, side: 'input' | 'output'): AnyObject {
  const mapping = digKeys(['storage', side], row.configuration);
  return isObject(mapping) ? mapping : {};
}

function refuseOtherStorage({ document }: Journal, { project, address }: Connection, at: RowPlace): void {
  const { target } = document;
  if (target.project === project) return;
  throw target.address === address
    ? pending(`the storage in ${address} is not the one that it was begun for`, at, false)
    : pending(`it goes to ${target.address}, not to ${address}`, at);
}

/** Refuses to push for another configuration: the state would go to the wrong one, and the output by its mapping. */
function refuseOtherConfiguration({ document }: Journal, now: Origin, at: RowPlace): void {
  const { origin } = document;
  if (!origin.isStored && !now.isStored) return;
  const [before, after] = [nameOf(origin), nameOf(now)];
  if (before !== after) throw pending(`it is of ${before}, not of ${after}`, at);
}

function nameOf({ component, configuration, branch, isStored }: Origin): string {
  if (!isStored) return 'the configuration in the data folder';
  const inBranch = branch === undefined ? '' : `, branch ${branch}`;
  return `the stored configuration ${configuration} of ${component}${inBranch}`;
}

function pending(why: string, { row, folder: { out, dataFolder } }: RowPlace, mayGoOn = true): RunError {
  const command = `gex storage push ${shellWord(dataFolder)}${row.id === undefined ? '' : ` --row ${shellWord(row.id)}`}`;
  const rest = mayGoOn ? `Push the rest with: ${command}. ` : '';
  return new RunError('push.pending', `The last output was not pushed to its end, and ${why}.`, {
    where: { file: out },
    hint: `${rest}To give it up: ${command} --discard`,
  });
}

/**
 * Adds the `processed_tags` to the files of a run that has succeeded. May be called again: a tag that is there is no
 * error, nor is a file that has been deleted meanwhile.
 *
 * @param keyOf `Idempotency-Key` of one tag
 * @throws {StorageError}
 */
export async function addTags(
  { connection, log, signal }: Pick<MappingContext, 'connection' | 'log' | 'signal'>,
  files: readonly ProcessedFile[],
  keyOf: (fileId: number, tag: string) => string | undefined,
): Promise<void> {
  for (const { fileId, tags } of files) {
    try {
      for (const tag of tags) {
        signal.throwIfAborted();
        await connection.client.files.addTag(fileId, tag, { key: keyOf(fileId, tag) });
      }
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'storage.notFound') throw error;
      log.info(`The file ${fileId} is gone: it gets no tags`);
    }
  }
}
