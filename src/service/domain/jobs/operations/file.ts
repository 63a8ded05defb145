import { removeFile } from '../../files/remove.ts';
import { findFile } from '../../../stores/metadata/files.ts';
import { paramsOf, type Operation } from './operation.ts';

/** Deletes a file and its bytes. */
export const fileDelete: Operation = async (job, context) => {
  const { id } = paramsOf(job) as { id: number };
  const file = await findFile(context.meta, id);
  if (file !== undefined) await removeFile(context, file);
  return { results: null };
};
