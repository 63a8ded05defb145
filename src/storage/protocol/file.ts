import { Type, type Static } from 'typebox';
import { Creator, Time } from './common.ts';

/** Body of `POST files/prepare`. */
export const FilePrepare = Type.Object({
  name: Type.String({ minLength: 1 }),
  sizeBytes: Type.Optional(Type.Integer({ minimum: 0, description: 'Kept as given, not checked.' })),
  contentType: Type.Optional(Type.String()),
  federationToken: Type.Optional(Type.Boolean({ description: 'Asks for temporary credentials.' })),
  isSliced: Type.Optional(
    Type.Boolean({ description: 'The key is a prefix, and a manifest lists the slices.' }),
  ),
  isEncrypted: Type.Optional(Type.Boolean({ default: false })),
  isPublic: Type.Optional(Type.Boolean()),
  isPermanent: Type.Optional(Type.Boolean({ description: 'Never swept.' })),
  notify: Type.Optional(Type.Boolean()),
  tags: Type.Optional(Type.Array(Type.String())),
});
export type FilePrepare = Static<typeof FilePrepare>;

/** Limited to the file's key, or to its slices, and to the time given. */
export const TemporaryCredentials = Type.Object({
  AccessKeyId: Type.String(),
  SecretAccessKey: Type.String(),
  SessionToken: Type.String(),
  Expiration: Type.String({ examples: ['2017-02-14T21:34:46+00:00'] }),
});
export type TemporaryCredentials = Static<typeof TemporaryCredentials>;

export const UploadParams = Type.Object({
  key: Type.String(),
  bucket: Type.String(),
  endpoint: Type.Optional(
    Type.String({ description: 'Where the S3 protocol is spoken; that of Amazon when it is left out.' }),
  ),
  acl: Type.String(),
  'x-amz-server-side-encryption': Type.Optional(Type.String()),
  credentials: TemporaryCredentials,
});

export const File = Type.Object(
  {
    id: Type.Integer(),
    created: Time,
    isPublic: Type.Boolean(),
    isSliced: Type.Boolean(),
    isEncrypted: Type.Boolean(),
    name: Type.String(),
    fileType: Type.Optional(Type.String()),
    url: Type.String({ description: 'Signed; of the manifest when the file is sliced.' }),
    provider: Type.Literal('aws'),
    region: Type.String(),
    sizeBytes: Type.Union([Type.Integer(), Type.Null()]),
    tags: Type.Array(Type.String()),
    maxAgeDays: Type.Union([Type.Integer(), Type.Null()]),
    runId: Type.Union([Type.String(), Type.Null()]),
    runIds: Type.Array(Type.String()),
    creatorToken: Creator,
    uploadParams: Type.Optional(UploadParams),
    s3Path: Type.Optional(Type.Object({ bucket: Type.String(), key: Type.String() })),
    credentials: Type.Optional(TemporaryCredentials),
  },
  { title: 'File' },
);
export type File = Static<typeof File>;

/** Content of the manifest of a sliced file. */
export const Manifest = Type.Object({
  entries: Type.Array(Type.Object({ url: Type.String(), mandatory: Type.Optional(Type.Boolean()) })),
});
export type Manifest = Static<typeof Manifest>;

/** Query of `GET files`. */
export const FilesQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  tags: Type.Optional(Type.Array(Type.String(), { description: 'Files with any of them.' })),
  q: Type.Optional(
    Type.String({
      description:
        'Words, `id:`, `name:`, `tags:`, joined by AND, OR, NOT and brackets: `tags:(a AND NOT b)`.',
    }),
  ),
  sinceId: Type.Optional(Type.Integer({ description: 'Only files after that one.' })),
  maxId: Type.Optional(Type.Integer({ description: 'Only files before that one.' })),
  runId: Type.Optional(Type.String()),
  isPublic: Type.Optional(Type.Boolean({ description: 'Only those that are, or are not, public.' })),
  showExpired: Type.Optional(Type.Boolean()),
});

export const FileQuery = Type.Object({
  federationToken: Type.Optional(Type.Boolean({ description: 'Asks for credentials to read the file.' })),
});

export const FileTag = Type.Object({ tag: Type.String({ minLength: 1 }) });
