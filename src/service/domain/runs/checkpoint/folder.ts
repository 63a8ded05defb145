import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { rowFolder, type RowFolder } from '../../../../runner/row-folder.ts';
import { look, type Seen } from './identity.ts';
import type { Kept, KeptFile, KeptRecording } from './kept.ts';
import { keepOutput } from './output.ts';
import { keepRecording, type Put } from './segments.ts';

export interface KeepOptions {
  readonly put: Put;
  readonly segmentBytes: number;
}

interface Known {
  readonly file: KeptFile;
  readonly seen: Seen;
}

/** Largest text in the index. A larger one has an object of its own, which is not written again with each index. */
const INLINE_BYTES = 2048;

const JOURNAL = 'push.json';

/** Data folder of a run, with its checkpoint. */
export class KeptFolder {
  readonly folder: string;
  #known = new Map<string, Known>();
  /** Bytes that could not be stored the last time, as their record is not complete yet. */
  #leftBytes = 0;

  constructor(folder: string) {
    this.folder = path.resolve(folder);
  }

  /** Sets the files that are in the folder as they are stored. */
  know(files: Kept['files']): void {
    for (const [name, file] of Object.entries(files)) {
      const seen = look(this.#pathOf(name));
      if (seen !== undefined) this.#known.set(name, { file, seen });
    }
  }

  /** Returns the bytes by which recordings have grown since they were stored. */
  get newBytes(): number {
    return Math.max(0, this.#unkeptBytes() - this.#leftBytes);
  }

  #unkeptBytes(): number {
    let bytes = 0;
    for (const name of this.#recordings()) {
      const seen = look(this.#pathOf(name));
      if (seen === undefined) continue;
      const known = this.#recordingOf(name, seen);
      if (known?.seen.state !== seen.state)
        bytes += Math.max(0, sizeOf(seen) - (known?.file?.segments.at(-1)?.to ?? 0));
    }
    return bytes;
  }

  /**
   * Stores the changes. The order is that in which a run writes, reversed: each stored file can then rely on those
   * that were written before it.
   *
   * @returns the stored files; those that have not changed are the same objects as before
   */
  async keep(options: KeepOptions): Promise<Kept['files']> {
    const found = new Map<string, Known>();
    for (const row of this.#rows()) await this.#keepOutput(row, found, options);
    for (const { ended } of this.#rows()) await this.#keepText(this.#nameOf(ended), found, options);
    await this.#keepText('.gex/rows.json', found, options);
    for (const name of this.#recordings()) await this.#keepRecording(name, found, options);
    this.#known = found;
    this.#leftBytes = this.#unkeptBytes();
    return Object.fromEntries(Array.from(found, ([name, { file }]) => [name, file]));
  }

  async #keepOutput(row: RowFolder, found: Map<string, Known>, options: KeepOptions): Promise<void> {
    const name = this.#nameOf(row.out);
    const journal = `${name}/${JOURNAL}`;
    for (let seen = look(row.out); seen !== undefined;) {
      await this.#keepText(journal, found, options);
      if (this.#isPushed(name, found)) {
        // only its state is checked again
        await this.#keepText(`${name}/state.json`, found, options);
        return;
      }
      const known = this.#known.get(name);
      const isKnown = known?.seen.identity === seen.identity && known.file.kind === 'output';
      const file = isKnown ? known.file : await keepOutput(row.out, { ...options, journal: JOURNAL });
      const now = look(row.out);
      if (now?.identity === seen.identity) {
        // the journal is that of this output
        found.set(name, { file, seen });
        return;
      }
      found.delete(journal);
      seen = now;
    }
  }

  #isPushed(name: string, found: ReadonlyMap<string, Known>): boolean {
    const journal = `${name}/${JOURNAL}`;
    const now = found.get(journal);
    if (now === undefined) return false;
    if (now === this.#known.get(journal)) return this.#known.has(`${name}/state.json`);
    return isDone(this.#pathOf(journal));
  }

  async #keepText(name: string, found: Map<string, Known>, { put }: KeepOptions): Promise<void> {
    const file = this.#pathOf(name);
    const seen = look(file);
    if (seen === undefined) return;
    const known = this.#known.get(name);
    if (known?.seen.identity === seen.identity && known.seen.state === seen.state) {
      found.set(name, known);
      return;
    }
    const bytes = readIfThere(file);
    if (bytes === undefined) return;
    const kept: KeptFile =
      bytes.length <= INLINE_BYTES
        ? { kind: 'text', text: bytes.toString() }
        : { kind: 'whole', key: await put(bytes) };
    found.set(name, { file: kept, seen });
  }

  async #keepRecording(name: string, found: Map<string, Known>, options: KeepOptions): Promise<void> {
    const file = this.#pathOf(name);
    const now = look(file);
    if (now === undefined) return;
    const known = this.#recordingOf(name, now);
    if (known !== undefined && known.seen.state === now.state) {
      found.set(name, known);
      return;
    }
    const kept = await keepRecording(file, known?.file, options);
    if (kept !== undefined) found.set(name, kept);
  }

  /** A recording gets another name when its row has ended. */
  #recordingOf(name: string, { identity }: Seen): { file: KeptRecording; seen: Seen } | undefined {
    for (const each of [name, name.replace(/last\.recording$/, 'unfinished.recording')]) {
      const known = this.#known.get(each);
      if (known?.seen.identity === identity && known.file.kind === 'recording')
        return { file: known.file, seen: known.seen };
    }
    return undefined;
  }

  #recordings(): string[] {
    return this.#rows().flatMap(({ unfinished, lastRecording }) =>
      [unfinished, lastRecording].map((file) => this.#nameOf(file)),
    );
  }

  #rows(): readonly RowFolder[] {
    const rows = path.join(this.folder, 'rows');
    const ids = existsSync(rows) ? readdirSync(rows).toSorted() : [];
    return [undefined, ...ids].map((id) => rowFolder(this.folder, id));
  }

  #nameOf(file: string): string {
    return path.relative(this.folder, file).split(path.sep).join('/');
  }

  #pathOf(name: string): string {
    return path.join(this.folder, name);
  }
}

function sizeOf({ state }: Seen): number {
  return Number(state.split('/')[0]);
}

function isDone(journal: string): boolean {
  const text = readIfThere(journal)?.toString() ?? '{}';
  const { status } = JSON.parse(text) as { readonly status?: unknown }; // it is replaced as a whole
  return status === 'done';
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
