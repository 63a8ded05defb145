import type { PushedFile } from '../nouns.ts';
import type { PlannedFile } from './planned.ts';
import type { Pushing } from './pushing.ts';
import { removeUpload, upload } from './upload.ts';

/** Stores one file; one that an interrupted push had begun is taken away and begun anew. */
export async function sendFile(push: Pushing, file: PlannedFile): Promise<PushedFile> {
  const { journal, log } = push;
  const { source, tags, isPublic, isPermanent, isEncrypted, notify } = file;
  const { fileId, done } = journal.document.files.get(source) ?? {};
  if (done === true && fileId !== undefined) return { source, fileId, wasDone: true };
  if (fileId !== undefined) await removeUpload(push, fileId);
  const options = { name: source, tags, isPublic, isPermanent, isEncrypted, notify };
  const { id } = await upload(push, file, {
    ...options,
    onPrepared: (prepared) => journal.updateFile(source, { fileId: prepared.id }),
  });
  journal.updateFile(source, { done: true });
  log.info(`Pushed “${source}” as the file ${id}`, { source, fileId: id, bytes: file.bytes });
  return { source, fileId: id, wasDone: false };
}
