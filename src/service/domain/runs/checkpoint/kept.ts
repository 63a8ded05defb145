import { RunError } from '../../../../lib/errors.ts';
import { getObject, MissingError, putObject, type KeptStore } from './store.ts';

/**
 * Checkpoint of an attempt: the paths of its data folder, with `/`, and the places of their bytes. Written as a
 * whole.
 */
export interface Kept {
  readonly version: typeof VERSION;
  readonly files: Readonly<Record<string, KeptFile>>;
}

export type KeptFile = KeptOutput | KeptRecording | KeptText | KeptWhole;

/** File that is replaced as a whole, in the index itself where it is small. */
export interface KeptText {
  readonly kind: 'text';
  readonly text: string;
}

export interface KeptWhole {
  readonly kind: 'whole';
  readonly key: string;
}

/** A file that grows. */
export interface KeptRecording {
  readonly kind: 'recording';
  /** The first bytes of the file: hexadecimal. A recording that takes its place has others. */
  readonly head: string;
  /** Without a gap, from 0. */
  readonly segments: readonly Segment[];
}

export interface Segment {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  /** The last record that ends here; absent where none does. */
  readonly last?: LastRecord;
}

/** By its first bytes, which have the check sums of the rest, a record can be told from one that took its place. */
export interface LastRecord {
  readonly at: number;
  /** Hexadecimal. */
  readonly head: string;
}

/** A folder that does not change any more. */
export interface KeptOutput {
  readonly kind: 'output';
  /** The bytes of all its files, one behind the other, cut in pieces. */
  readonly pieces: readonly string[];
  readonly files: readonly OutputFile[];
}

export interface OutputFile {
  /** Below the folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

/** Version of the format; it changes with the meaning of the data. */
const VERSION = 1;

export async function writeKept(store: KeptStore, key: string, files: Kept['files']): Promise<void> {
  const kept: Kept = { version: VERSION, files };
  await putObject(store, key, Buffer.from(JSON.stringify(kept)));
}

/**
 * Reads a checkpoint; undefined when there is none.
 *
 * @throws {RunError} `recording.invalid` for one that a newer version wrote
 * @throws {DamagedError}
 */
export async function readKept(store: KeptStore, key: string): Promise<Kept['files'] | undefined> {
  let bytes: Buffer;
  try {
    bytes = await getObject(store, key);
  } catch (error) {
    if (error instanceof MissingError) return undefined;
    throw error;
  }
  const { version, files } = JSON.parse(bytes.toString()) as Kept; // its check sum is that of what the writer made
  if (version === VERSION) return files;
  throw new RunError('recording.invalid', 'What is kept of this run was kept by a newer version.', {
    audience: 'application',
    where: { file: key },
    hint: 'Let a runner of that version, or a newer one, take it over.',
  });
}

/** The keys that a file is made of. */
export function keysOf(file: KeptFile): readonly string[] {
  if (file.kind === 'text') return [];
  if (file.kind === 'whole') return [file.key];
  return file.kind === 'output' ? file.pieces : file.segments.map(({ key }) => key);
}
