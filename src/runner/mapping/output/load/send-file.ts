import type { PushedFile } from '../../mapping-types.ts';
import type { PlannedOutputFile } from '../plan/planned.ts';
import { stepKey, type Pushing } from '../pushing.ts';
import { trustFile } from './trust.ts';
import { removeUpload, upload } from './upload.ts';

/** Stores one file; one that an interrupted push had begun is taken away and begun anew. */
export async function sendFile(push: Pushing, file: PlannedOutputFile): Promise<PushedFile> {
  const { journal, log } = push;
  const { source, tags, isPublic, isPermanent, isEncrypted, notify } = file;
  await trustFile(push, source);
  const { fileId, done, round = 0 } = journal.document.files.get(source) ?? {};
  if (done === true && fileId !== undefined) return { source, fileId, wasDone: true };
  if (fileId !== undefined) {
    await removeUpload(push, fileId);
    // The next file is another one, and not the answer to the earlier request: it gets another key.
    journal.updateFile(source, { fileId: undefined, fileCreated: undefined, round: round + 1 });
  }
  const attempt = journal.document.files.get(source)?.round ?? 0;
  const options = { name: source, tags, isPublic, isPermanent, isEncrypted, notify };
  const { id } = await upload(push, file, {
    ...options,
    key: stepKey(push, '', 'file', source, String(attempt)),
    onPrepared: ({ id: prepared, created }) =>
      journal.updateFile(source, { fileId: prepared, fileCreated: created }),
  });
  journal.updateFile(source, { done: true });
  log.debug(`Pushed “${source}” as the file ${id}`, { source, fileId: id, bytes: file.bytes });
  return { source, fileId: id, wasDone: false };
}
