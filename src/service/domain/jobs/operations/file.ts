import { Type } from 'typebox';
import { removeFile } from '../../files/remove.ts';
import { findFileRow } from '../../../stores/metadata/files.ts';
import { defineOperation } from './operation.ts';

/** Deletes a file and its bytes. */
export const fileDelete = defineOperation({
  name: 'fileDelete',
  params: Type.Object({ id: Type.Integer() }),
  async run({ id }, _job, context) {
    const file = await findFileRow(context.meta, id);
    if (file !== undefined) await removeFile(context, file);
    return { results: null };
  },
});
