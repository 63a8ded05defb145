import type { Env } from '../env.ts';
import { RunError } from '../errors.ts';
import { digKeys, isObject, type AnyObject } from '../json/index.ts';
import { addTags } from '../mapping/input/processed.ts';
import { pullInputs } from '../mapping/input/pull.ts';
import { beginJournal, openJournal, type Journal } from '../mapping/journal.ts';
import type { Connection, Inputs, MappingContext, Origin } from '../mapping/nouns.ts';
import { pushOutputs } from '../mapping/output/push.ts';
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

/** A storage behind its API: tables and files are mapped in and out (storage 8.5, 8.6), pushes are journalled (design 3). */
export function clientStorage(options: ClientStorageOptions): Storage {
  const { origin } = options;
  let connected: Connection | undefined;
  const connection = (): Connection => {
    if (connected === undefined) throw new Error('The storage was not begun.');
    return connected;
  };
  const pulled = new Map<string | undefined, Inputs>();
  const contextOf = (at: RowPlace, side: 'input' | 'output'): MappingContext => ({
    connection: connection(),
    origin: originOf(at, origin),
    mapping: mappingOf(at, side),
    env: options.env,
    log: at.log,
    signal: at.signal,
    onProgress: options.onProgress,
  });
  return {
    async begin() {
      connected = await options.connect();
    },
    isPending: async ({ folder }) => {
      const journal = openJournal(folder.out);
      if (journal?.document.status !== 'pending') return false;
      refuseOther(journal, connection(), folder);
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
    async seal(at, finished, movesState) {
      const inputs = pulled.get(at.row.id);
      const { project, address } = connection();
      beginJournal(finished, {
        target: { project, address },
        origin: originOf(at, origin),
        inputState: inputs?.state ?? null,
        processedTags: inputs?.processed ?? [],
        movesState,
      });
    },
    async push(at) {
      const journal = journalOf(at.folder);
      const pushed = await pushOutputs({ ...contextOf(at, 'output'), out: at.folder.out, journal });
      const { inputState, movesState } = journal.document;
      return { pushed, remembered: inputState ?? undefined, movesState };
    },
    async end(at) {
      const journal = journalOf(at.folder);
      await addTags(contextOf(at, 'input'), journal.document.processedTags);
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

function mappingOf({ row }: RowPlace, side: 'input' | 'output'): AnyObject {
  const mapping = digKeys(['storage', side], row.configuration);
  return isObject(mapping) ? mapping : {};
}

function refuseOther(
  { document }: Journal,
  { project, address }: Connection,
  { out, dataFolder }: RowFolder,
): void {
  const { target } = document;
  if (target.project === project) return;
  throw new RunError(
    'push.pending',
    `The last output was not pushed to its end, and it goes to ${target.address}, not to ${address}.`,
    {
      where: { file: out },
      hint: `Push the rest with: gex storage push ${dataFolder}. To give it up, delete push.json there.`,
    },
  );
}
