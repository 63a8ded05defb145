import path from 'node:path';
import type { Tried } from '../../service/domain/builder/builder-types.ts';
import { makeTrialFolder, removeTrialFolder } from '../../service/domain/builder/trial-folders.ts';
import { RunError } from '../../lib/errors.ts';

/** Trial of a configuration, with what it leaves for later questions. */
export interface KeptTrial {
  readonly id: string;
  /** The file with its requests and answers. */
  readonly recording: string;
  readonly tried: Tried;
}

const KEPT = 5;

/** The last trials of a session, with their folders. */
export class Trials {
  readonly #kept = new Map<string, KeptTrial>();
  readonly #folders = new Map<string, string>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  /** Makes an empty folder for a trial, and removes that of the oldest one where there are many. */
  async begin(): Promise<{ readonly id: string; readonly folder: string }> {
    const folder = await makeTrialFolder();
    const id = `trial-${++this.#count}`;
    this.#folders.set(id, folder);
    for (const [old, oldFolder] of [...this.#folders].slice(0, -KEPT)) {
      this.#kept.delete(old);
      this.#folders.delete(old);
      await removeTrialFolder(oldFolder);
    }
    return { id, folder };
  }

  keep(id: string, tried: Tried, isReplay: boolean): void {
    const folder = this.#folders.get(id);
    if (folder === undefined) return;
    const recording = path.join(folder, isReplay ? 'earlier.gexr' : 'trial.gexr');
    this.#kept.set(id, { id, recording, tried });
  }

  /** Returns a trial; the last one where none is named. */
  find(id: string | undefined): KeptTrial {
    const all = [...this.#kept.values()];
    const found = id === undefined ? all.at(-1) : this.#kept.get(id);
    if (found !== undefined) return found;
    const hint =
      all.length === 0
        ? 'Try a configuration first, with try_configuration.'
        : `There are ${all.map((each) => each.id).join(', ')}.`;
    throw new RunError(
      'command.invalid',
      id === undefined ? 'Nothing was tried yet.' : `There is no trial “${id}”.`,
      { hint },
    );
  }

  async removeAll(): Promise<void> {
    for (const folder of this.#folders.values()) await removeTrialFolder(folder);
  }
}
