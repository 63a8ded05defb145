import { ObjectError } from '../errors.ts';
import type { SignerIdentity } from '../key-ring.ts';

/** Permission that an operation needs. `manage` is for the service itself. */
export type ObjectPermission = 'read' | 'write' | 'list' | 'manage' | 'none';

/**
 * Temporary credentials do what they were made for and nothing else: uploads write their key or
 * prefix, downloads read it, and list exactly it (`target` is the prefix that is listed).
 */
export function authorize({ scope }: SignerIdentity, action: ObjectPermission, target: string): void {
  if (scope === undefined || action === 'none') return;
  const isCovered = scope.isPrefix ? target.startsWith(scope.key) : target === scope.key;
  const isAllowed = scope.access === 'upload' ? action === 'write' : action === 'read' || action === 'list';
  if (isCovered && isAllowed) return;
  throw new ObjectError(
    'AccessDenied',
    'These temporary credentials are for another object or another operation.',
  );
}

/** Throws when the credentials demand `x-amz-server-side-encryption: AES256` of an upload that lacks it. */
export function checkEncryption({ scope }: SignerIdentity, isEncrypted: boolean): void {
  if (scope?.requiresEncryption === true && !isEncrypted)
    throw new ObjectError(
      'AccessDenied',
      'This upload must carry the header x-amz-server-side-encryption: AES256.',
    );
}
