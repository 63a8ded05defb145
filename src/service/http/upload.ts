import { Readable } from 'node:stream';
import type { MultipartFile } from '@fastify/multipart';
import type { Json } from '../../lib/json/index.ts';
import { ApiError, badRequest, invalidField } from '../domain/api-error.ts';
import { authorOf } from '../domain/tokens/caller.ts';
import type { DataContext } from '../domain/data-context.ts';
import { AS_STREAMS, readField } from './parsing/bodies.ts';
import { MAX_BODY_BYTES } from '../domain/request-limits.ts';
import { nest } from './parsing/nest.ts';
import { updateFile, type TaggedFile } from '../stores/metadata/files.ts';
import { attachmentOf } from '../stores/objects/disposition.ts';
import { ObjectError } from '../stores/objects/errors.ts';
import type { Call } from './route.ts';
import { newFile } from '../domain/files/new-file.ts';
import { toServiceError } from '../domain/service-error.ts';
import { removeFile } from '../domain/files/remove.ts';

/** File whose bytes came with the request, and the other fields of that request. */
export interface ReceivedUpload {
  readonly file: TaggedFile;
  readonly fields: Json;
}

export type UploadCall = Call<unknown, unknown, unknown>;

/** Largest file of the importer, in bytes. */
const MAX_UPLOAD_BYTES = 2 * 1024 ** 3;

/**
 * Streams the file `data` of a multipart body into the object store; nothing of it is held in memory. Other kinds of
 * bodies, and forms without a file, may have the content as text in the field of that name.
 *
 * @throws {ApiError} 400 for a broken body or one without a file; nothing of the file is left then
 */
export async function receiveUpload(
  context: DataContext,
  call: UploadCall,
  textField: 'data' | 'dataString' = 'data',
): Promise<ReceivedUpload> {
  if (!call.request.isMultipart()) {
    const fields = call.body as Json; // the route gives bodies untouched
    const text = textOf(fields, textField);
    if (text === undefined) throw missing(textField);
    return { file: await storeText(context, call, text), fields };
  }
  const found: { file?: TaggedFile } = {};
  try {
    const pairs = await readParts(context, call, found);
    const fields = nest(pairs);
    const text = found.file === undefined ? (textOf(fields, textField) ?? textOf(fields, 'data')) : undefined;
    const file = found.file ?? (text === undefined ? undefined : await storeText(context, call, text));
    if (file === undefined) throw missing('data');
    return { file, fields };
  } catch (error) {
    if (found.file !== undefined) await removeFile(context, found.file);
    throw uploadError(error);
  }
}

/** Runs work that uses an uploaded file; when that fails, the file is removed. */
export async function orRemove<T>(
  context: DataContext,
  file: TaggedFile,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await removeFile(context, file);
    throw error;
  }
}

async function readParts(
  context: DataContext,
  call: UploadCall,
  found: { file?: TaggedFile },
): Promise<[string, string][]> {
  const pairs: [string, string][] = [];
  let left = MAX_BODY_BYTES;
  const parts = call.request.parts({ ...AS_STREAMS, limits: { fileSize: MAX_UPLOAD_BYTES } });
  for await (const part of parts as AsyncIterable<MultipartFile>) {
    if (!isFile(part)) {
      const text = await readField(call.request, part.file, left);
      left -= text.length;
      pairs.push([part.fieldname, text]);
    } else if (part.fieldname !== 'data' || found.file !== undefined) {
      part.file.resume();
    } else {
      // The other fields may still come: the file is made with the known ones, and changed when all are read.
      const given = textOf(nest(pairs), 'name') ?? '';
      const name = given === '' ? part.filename || 'upload' : given;
      found.file = await newFile(context, ownerOf(call), { name, contentType: part.mimetype });
      try {
        await store(context, found.file, part.file);
      } catch (error) {
        if (part.file.truncated) throw tooLarge();
        throw error;
      }
      if (part.file.truncated) throw tooLarge();
    }
  }
  return pairs;
}

/** Tells whether a part is a file by the standard of multipart bodies. */
function isFile({ filename, mimetype }: MultipartFile): boolean {
  // The types of the parser don't know a part without a file name.
  return (filename as string | undefined) !== undefined || mimetype === 'application/octet-stream';
}

async function storeText(context: DataContext, call: UploadCall, text: string): Promise<TaggedFile> {
  const file = await newFile(context, ownerOf(call), { name: 'upload.csv', contentType: 'text/csv' });
  return await orRemove(context, file, async () => {
    await store(context, file, Readable.from([Buffer.from(text)]));
    return file;
  });
}

async function store({ objects, meta }: DataContext, file: TaggedFile, body: Readable): Promise<void> {
  const { bytes } = await objects.write(file.object_key, body, {
    contentType: file.content_type ?? 'application/octet-stream',
    disposition: attachmentOf(file.name),
    encrypted: true,
  });
  await updateFile(meta, file.id, { size_bytes: bytes });
}

function ownerOf(call: UploadCall): Parameters<typeof newFile>[1] {
  const { branch, caller, runId, transact, madeFile } = call;
  return { branchId: branch.id, author: authorOf(caller), runId, transact, madeFile };
}

function textOf(fields: Json, name: string): string | undefined {
  const value =
    typeof fields === 'object' && fields !== null && name in fields
      ? (fields as Readonly<Record<string, Json>>)[name]
      : undefined;
  return typeof value === 'string' ? value : undefined;
}

const missing = (field: string): ApiError =>
  invalidField('storage.validation', field, 'This field is missing.');

const tooLarge = (): ApiError =>
  new ApiError(
    413,
    'requestTooLarge',
    'The file is larger than 2 GB. Upload it to the object store instead.',
  );

function uploadError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  if (toServiceError(error) !== undefined) return error;
  const cause: unknown = error instanceof ObjectError ? error.cause : error;
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge();
  const isOfTheBody =
    typeof code === 'string'
      ? /^(FST_|ERR_STREAM_PREMATURE_CLOSE|ECONNRESET)/.test(code)
      : isBusboyError(cause);
  return isOfTheBody ? badRequest('malformedRequest', 'The multipart body of the request is broken.') : error;
}

/** Tells whether an error is one of the parser of multipart bodies, which throws plain errors with these texts. */
function isBusboyError(error: unknown): boolean {
  return (
    error instanceof Error &&
    /unexpected end|malformed|multipart|boundary|premature close|aborted/i.test(error.message)
  );
}
