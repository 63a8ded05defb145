import { Type, type Static } from 'typebox';
import { File } from '../../../storage/protocol/file.ts';
import { Job } from '../../../storage/protocol/job.ts';
import { TableImport } from '../../../storage/protocol/table.ts';
import { enqueueJob } from '../enqueue-job.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { distinct } from '../../domain/files/new-file.ts';
import { orRemove, receiveUpload, type UploadCall } from '../upload.ts';
import { readFields } from '../parsing/fields.ts';
import { findFile, updateFile } from '../../stores/metadata/files.ts';
import { refuseAlias } from '../../domain/jobs/operations/alias.ts';
import { requireTableRow, splitTableId } from '../../domain/jobs/operations/table-place.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { route, type Route } from '../route.ts';
import { fileReply } from '../../domain/presenters/file.ts';
import { importWork } from '../parsing/table.ts';

const UploadFields = Type.Object({
  name: Type.Optional(Type.String()),
  isPublic: Type.Optional(Type.Boolean()),
  isPermanent: Type.Optional(Type.Boolean()),
  isEncrypted: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Type.Array(Type.String())),
});

const WriteFields = Type.Object({ tableId: Type.String({ minLength: 1 }), ...TableImport.properties });

/** Makes the routes of the importer: files and rows in a multipart body, without a client of the object store. */
export function importerRoutes(context: DataContext): Route[] {
  const shared = {
    method: 'POST',
    tag: 'Importer',
    scope: 'plain',
    isOutside: true,
    isRaw: true,
    takesFile: true,
  } as const;
  return [
    route({
      ...shared,
      path: '/upload-file',
      isForRuns: true,
      summary: 'Stores the file `data`',
      response: File,
      handle: async (call) => await uploadFile(context, call),
    }),
    route({
      ...shared,
      path: '/write-table',
      summary: 'Loads the file `data` into the table `tableId`',
      status: 202,
      response: Job,
      enqueues: ['tableImport'],
      handle: async (call) => await writeTable(context, call),
    }),
  ];
}

async function uploadFile(context: DataContext, call: UploadCall) {
  const { meta, objects } = context;
  const { file, fields } = await receiveUpload(context, call);
  return await orRemove(context, file, async () => {
    // The schema defines the fields.
    const given = readFields(UploadFields, fields) as Static<typeof UploadFields>;
    await updateFile(
      meta,
      file.id,
      {
        ...(given.name === undefined || given.name === '' ? {} : { name: given.name }),
        is_public: given.isPublic === true ? 1 : 0,
        is_encrypted: given.isEncrypted === true && objects.hasEncryption ? 1 : 0,
        ...(given.isPermanent === true ? { max_age_days: null, expires: null } : {}),
      },
      distinct(given.tags ?? []),
    );
    const stored = await findFile(meta, file.id);
    if (stored === undefined) throw new Error(`The file ${file.id} is gone.`);
    return await fileReply(objects, stored);
  });
}

async function writeTable(context: DataContext, call: UploadCall) {
  const { file, fields } = await receiveUpload(context, call);
  return await orRemove(context, file, async () => {
    const given = readFields(WriteFields, fields) as Static<typeof WriteFields>;
    const { tableId } = given;
    requireBucket(call.caller, call.branch.id, splitTableId(tableId).bucket, 'write');
    refuseAlias(
      await requireTableRow(context.meta, context, call.branch.id, tableId),
      'aliasImportNotAllowed',
    );
    return await enqueueJob(
      context,
      call,
      importWork(call.branch.id, tableId, { ...given, dataFileId: file.id, caller: call.caller }),
    );
  });
}
