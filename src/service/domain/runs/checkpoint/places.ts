import { RunError } from '../../../../lib/errors.ts';
import { explanationOf, recordingOf, recordingsOf } from '../../../../storage/protocol/recordings.ts';
import type { KeptStore } from './store.ts';

/**
 * Keys of a run, below `recordings/<run>/`:
 *
 * | | |
 * |---|---|
 * | `claims/000002` | there is an attempt 2; empty |
 * | `claims/by <run>` | another run continues this one; empty |
 * | `000002/index` | the checkpoint of attempt 2, see `index.ts`; replaced each time |
 * | `000002/000017` | bytes that an index names, never written twice |
 * | `recording.gexr` | the recording, when the run has ended |
 * | `explanation` | the explanation of it |
 */
export class Places {
  readonly root: string;
  readonly #run: string;

  /** @throws {RunError} `command.invalid` for an id that cannot be part of a key */
  constructor(run: string) {
    if (!/^[\w-]{1,100}$/.test(run))
      throw new RunError('command.invalid', `“${run}” is no id of a run.`, { audience: 'application' });
    this.root = recordingsOf(run);
    this.#run = run;
  }

  /** Prefix of the keys of all claims. */
  get allClaims(): string {
    return `${this.root}claims/`;
  }

  claim(attempt: number): string {
    return `${this.allClaims}${padded(attempt)}`;
  }

  continued(run: string): string {
    return `${this.allClaims}by ${run}`;
  }

  index(attempt: number): string {
    return `${this.root}${padded(attempt)}/index`;
  }

  object(attempt: number, count: number): string {
    return `${this.root}${padded(attempt)}/${padded(count)}`;
  }

  /** Tells whether a key is an artifact for users, of a run that has ended. */
  isRecord(key: string): boolean {
    return key === recordingOf(this.#run) || key === explanationOf(this.#run);
  }

  /** Returns the claims of the run. */
  async claims(store: KeptStore): Promise<Claims> {
    const prefix = this.allClaims;
    const attempts: number[] = [];
    let by: string | undefined;
    for await (const { key } of store.list(prefix)) {
      const name = key.slice(prefix.length);
      if (name.startsWith('by ')) by = name.slice(3);
      else attempts.push(Number(name));
    }
    return { attempts: attempts.toSorted((a, b) => a - b), by };
  }
}

export interface Claims {
  /** From the first one to the last. */
  readonly attempts: readonly number[];
  /** Id of the run that continues this one. */
  readonly by: string | undefined;
}

function padded(count: number): string {
  return String(count).padStart(6, '0');
}
