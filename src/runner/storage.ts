import { existsSync } from 'node:fs';
import path from 'node:path';
import { RunError } from '../lib/errors.ts';
import type { Json } from '../lib/json/index.ts';
import type { Pushed } from './mapping/mapping-types.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { RowFolder } from './row-folder.ts';
import type { RowPlace } from './row-place.ts';

/** Result of a push. */
export interface Delivery {
  readonly pushed: Pushed;
  /** The `storage` part of the state to keep; undefined leaves what is there. */
  readonly remembered: Json | undefined;
  /** False for an output whose state has moved on before. */
  readonly movesState: boolean;
  /** `Idempotency-Key` of that state, so that a write that comes late changes nothing. */
  readonly stateKey?: string | undefined;
}

/**
 * Storage that the inputs of a run come from and its outputs go to. After `begin`, it is called for each row in this
 * order: `pull` before the row runs, `seal` and `push` after it, `end` when its state is stored. Where rows run beside
 * each other, all but `pull` is done for one row at a time, in their order.
 */
export interface Storage {
  /** Returns a name that identifies the storage, once it has begun. */
  name(): string;
  /** Begins the work; called once, before anything else, when the configuration is valid. */
  begin(): Promise<void>;
  /**
   * Tells whether the output that lies there was not pushed to its end.
   *
   * @throws {RunError} `push.pending` when it was meant for another storage
   */
  isPending(at: RowPlace): Promise<boolean>;
  /** Fills the row's `in/`. `remembered` is the `storage` part of its state. */
  pull(at: RowPlace, remembered: Json | undefined): Promise<void>;
  /** Writes into a finished output that is held back what its push needs to know of the inputs. */
  hold?(at: RowPlace, finished: string): Promise<void>;
  /**
   * Writes into a finished output, before it gets its name, that it is to be pushed. `movesState` tells whether the
   * row's state is to follow, or has moved on before.
   */
  seal(at: RowPlace, finished: string, movesState: boolean): Promise<void>;
  /** Takes the row's `out/`, or what an earlier attempt left of it. */
  push(at: RowPlace): Promise<Delivery>;
  /** Ends the work on a row, whose state is stored. */
  end(at: RowPlace): Promise<void>;
}

/** `--storage none`: the tables stay in the data folder. */
export const noStorage: Storage = {
  name: () => 'none',
  begin: async () => {},
  isPending: async ({ folder }) => await refusePending(folder),
  pull: async () => {},
  seal: async () => {},
  push: async () => ({ pushed: { tables: [], files: [] }, remembered: undefined, movesState: true }),
  end: async () => {},
};

/** Refuses a run while an output is half pushed: a new one would replace it, and its pushed part would come again. */
async function refusePending({ out, dataFolder }: RowFolder): Promise<false> {
  if (!existsSync(path.join(out, 'push.json'))) return false;
  const { openJournal } = await import('./mapping/journal.ts');
  if (openJournal(out)?.document.status !== 'pending') return false;
  throw new RunError('push.pending', 'The last output was not pushed to its end.', {
    where: { file: path.join(out, 'push.json') },
    hint: `Push the rest with: gex storage push ${shellWord(dataFolder)}. To give it up: gex storage push ${shellWord(dataFolder)} --discard`,
  });
}
