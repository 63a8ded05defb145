import type { FileOptions } from './plan-options.ts';
import type { PlannedOutputFile } from './planned.ts';
import type { OutputSource } from './sources.ts';

/** Plans a file by its manifest and its mappings: the later ones win, tags are combined. */
export function planFile(source: OutputSource, options: readonly FileOptions[]): PlannedOutputFile {
  const merged = options.reduce<FileOptions>((all, each) => ({ ...all, ...each }), {});
  const { is_public: isPublic = false, is_permanent: isPermanent = false } = merged;
  const { is_encrypted: isEncrypted = true, notify = false } = merged;
  const { name, path, slices, bytes, content } = source;
  const tags = [...new Set(options.flatMap((each) => (each.tags ?? []).map(String)))];
  return { source: name, path, slices, bytes, content, tags, isPublic, isPermanent, isEncrypted, notify };
}
