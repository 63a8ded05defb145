import type { ChecksumName, DigestName } from '../checksums.ts';
import type { ObjectAttributes, ObjectMeta } from './meta.ts';
import type { StagedBody } from './stage.ts';

export interface BodyOptions {
  /** Checksums to work out and keep. */
  readonly checksums: readonly ChecksumName[];
  /** Further digests that `verify` needs. */
  readonly digests?: readonly DigestName[];
  /** Called with the whole body's size and digests; an error refuses it. */
  readonly verify?: ((staged: StagedBody) => void) | undefined;
}

export interface PutOptions extends BodyOptions {
  readonly attributes: ObjectAttributes;
  /** Called with the object that would be replaced, when no other write can come between; an error refuses it. */
  readonly condition?: ((current: ObjectMeta | undefined) => void) | undefined;
}

export interface FolderUploadOptions {
  readonly attributes: ObjectAttributes;
  /** The checksum that every part has, and whether the object's is made of theirs. */
  readonly checksum?: { readonly name: ChecksumName; readonly isComposite: boolean } | undefined;
}

export interface FolderUpload extends FolderUploadOptions {
  readonly id: string;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly created: number;
}
