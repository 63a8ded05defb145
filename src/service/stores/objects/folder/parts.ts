import { createHash } from 'node:crypto';
import { createDigest, type Checksums } from '../checksums.ts';
import { ObjectError } from '../errors.ts';
import { readBlocks } from './blocks.ts';
import type { PartMeta } from './meta.ts';
import { openObjectFile, readObjectFile } from './object-file.ts';
import type { FolderUpload } from './folder-store-options.ts';

/** A part as the client names it when it completes an upload. */
export interface ChosenPart {
  readonly part: number;
  readonly etag: string;
  readonly checksums: Checksums;
}

export interface KnownPart extends PartMeta {
  readonly file: string;
}

/** Smallest part but the last, as in S3. */
export const MIN_PART_BYTES = 5 * 1024 * 1024;

/** Returns the parts to join, each found and equal to what the client says of it. */
export async function checkParts<Part extends PartMeta>(
  chosen: readonly ChosenPart[],
  upload: FolderUpload,
  find: (part: number) => Promise<Part | undefined>,
  minBytes: number,
): Promise<readonly Part[]> {
  if (chosen.some(({ part }, index) => index > 0 && part <= (chosen[index - 1]?.part ?? 0)))
    throw new ObjectError('InvalidPartOrder', 'The parts must be named in ascending order.');
  const parts: Part[] = [];
  for (const [index, { part, etag, checksums }] of chosen.entries()) {
    const meta = await find(part);
    const sum = upload.checksum === undefined ? undefined : checksums[upload.checksum.name];
    const isSame =
      sum === undefined || upload.checksum === undefined || sum === meta?.checksums[upload.checksum.name];
    if (meta === undefined || meta.etag !== etag || !isSame)
      throw new ObjectError(
        'InvalidPart',
        `Part ${part} was not uploaded, or is another than the one named.`,
        {
          facts: { PartNumber: part },
        },
      );
    if (meta.bytes < minBytes && index < chosen.length - 1)
      throw new ObjectError(
        'EntityTooSmall',
        `Part ${part} is smaller than ${minBytes} bytes and not the last one.`,
        {
          facts: { PartNumber: part, ProposedSize: meta.bytes, MinSizeAllowed: minBytes },
        },
      );
    parts.push(meta);
  }
  return parts;
}

/** Returns the part that a file has; undefined when it is none, or not whole. */
export async function readPart(file: string): Promise<KnownPart | undefined> {
  const meta = await readObjectFile<PartMeta>(file).catch(() => undefined);
  return meta === undefined ? undefined : { ...meta, file };
}

export async function* joinParts(parts: readonly KnownPart[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    const opened = await openObjectFile<PartMeta>(part.file);
    if (opened === undefined || opened.meta.etag !== part.etag) {
      await opened?.handle.close();
      throw new ObjectError('InvalidPart', 'A part was replaced while the upload was completed.');
    }
    const { handle, meta } = opened;
    const blocks = {
      handle,
      start: 0,
      bytes: meta.bytes,
      sums: meta.blocks,
      name: part.file,
      isClosed: true,
    };
    // Without an encoding a stream gives buffers.
    for await (const chunk of readBlocks(blocks)) yield chunk as Buffer;
  }
}

export function multipartEtag(parts: readonly PartMeta[]): string {
  const hash = createHash('md5');
  for (const part of parts) hash.update(Buffer.from(part.etag, 'hex'));
  return `${hash.digest('hex')}-${parts.length}`;
}

/** A composite checksum is the checksum of the parts' checksums, with the number of parts. */
export function composeChecksums(checksum: FolderUpload['checksum'], parts: readonly PartMeta[]): Checksums {
  if (checksum?.isComposite !== true) return {};
  const digest = createDigest(checksum.name);
  for (const part of parts) digest.update(Buffer.from(part.checksums[checksum.name] ?? '', 'base64'));
  return { [checksum.name]: `${digest.digest().toString('base64')}-${parts.length}` };
}
