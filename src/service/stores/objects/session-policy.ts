import type { GrantScope } from './store.ts';

/**
 * The policy that limits a role to one file, for AssumeRole. At most 2,048 characters: the key is
 * written twice, and everything else is short.
 *
 * @param hasAcls false for a store without lists of rights (MinIO), which refuses a policy that names them. Elsewhere an
 * upload that says `x-amz-acl`, as clients are told to, needs the right to set one.
 */
export function sessionPolicy(
  bucket: string,
  scope: Omit<GrantScope, 'expiresAt'>,
  { hasAcls = true }: { readonly hasAcls?: boolean } = {},
): string {
  const pattern = literal(scope.key) + (scope.isPrefix ? '*' : '');
  const object = `arn:aws:s3:::${bucket}/${pattern}`;
  return JSON.stringify({
    Version: '2012-10-17',
    Statement:
      scope.access === 'upload'
        ? upload(object, scope.requiresEncryption, hasAcls)
        : download(bucket, object, pattern),
  });
}

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: readonly string[];
  readonly Resource: string;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

function upload(object: string, requiresEncryption: boolean, hasAcls: boolean): Statement[] {
  const Action = ['s3:PutObject', ...(hasAcls ? ['s3:PutObjectAcl'] : [])];
  const put: Statement = { Effect: 'Allow', Action, Resource: object };
  const Condition = { StringEquals: { 's3:x-amz-server-side-encryption': 'AES256' } };
  return [
    requiresEncryption ? { ...put, Condition } : put,
    { Effect: 'Allow', Action: ['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts'], Resource: object },
  ];
}

function download(bucket: string, object: string, pattern: string): Statement[] {
  return [
    { Effect: 'Allow', Action: ['s3:GetObject'], Resource: object },
    {
      Effect: 'Allow',
      Action: ['s3:ListBucket'],
      Resource: `arn:aws:s3:::${bucket}`,
      Condition: { StringLike: { 's3:prefix': pattern } },
    },
  ];
}

/** `*`, `?` and `$` of a key mean themselves; policy variables are the way to write them. */
function literal(key: string): string {
  return key.replaceAll(/[*?$]/g, (char) => `\${${char}}`);
}
