import type { Token } from '../../data/client.ts';

export type Grant = 'manage' | 'read' | 'write';

/** Returns the bucket permissions; the API gives an empty list for a token without any. */
export function bucketsOf({ bucketPermissions }: Token): Readonly<Record<string, Grant>> {
  return Array.isArray(bucketPermissions) ? {} : bucketPermissions;
}

/** Describes the permissions of a token, each as a sentence without its subject: `reads 2 buckets`. */
export function rightsOf(token: Token): string[] {
  if (token.isMasterToken) return ['everything, and manages tokens'];
  const rights: string[] = [];
  const grants = Object.values(bucketsOf(token));
  const { isReadOnly = false, canReadAllFileUploads: readsFiles } = token;
  if (isReadOnly) rights.push('changes nothing');
  const seesAll = isReadOnly && token.canManageBuckets;
  if (seesAll)
    rights.push(readsFiles ? 'sees all buckets, sources and files' : 'sees all buckets and sources');
  else if (token.canManageBuckets) rights.push('manages all buckets and sources');
  else {
    const count = (grant: Grant): number => grants.filter((each) => each === grant).length;
    if (count('read') > 0) rights.push(`reads ${bucketCount(count('read'))}`);
    if (count('write') > 0) rights.push(`reads and writes ${bucketCount(count('write'))}`);
    const { componentAccess = [] } = token;
    if (componentAccess.length > 0) rights.push(`sources of ${componentAccess.join(', ')}`);
  }
  if (readsFiles && !seesAll) rights.push('reads all files');
  if (token.canPurgeTrash) rights.push('empties the trash');
  return rights.length === 0 ? ['its own files and jobs only'] : rights;
}

const bucketCount = (count: number): string => (count === 1 ? '1 bucket' : `${count} buckets`);
