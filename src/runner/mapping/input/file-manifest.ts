import { encodeExact } from '../../../lib/json/index.ts';
import type { File } from '../../../storage/client/index.ts';

/** Returns the text of `in/files/<name>.manifest`. */
export function fileManifest(file: File): string {
  return encodeExact({
    id: file.id,
    created: file.created,
    is_public: file.isPublic,
    is_sliced: file.isSliced,
    is_encrypted: file.isEncrypted,
    name: file.name,
    size_bytes: file.sizeBytes,
    tags: file.tags,
    max_age_days: file.maxAgeDays,
  });
}
