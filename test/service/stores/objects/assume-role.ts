import type { IncomingMessage } from 'node:http';
import type { FolderStore } from '../../../../src/service/stores/objects/folder-store.ts';
import { textOf } from './support.ts';

export const ROLE = 'arn:aws:iam:::role/files';

interface Policy {
  readonly Statement: readonly {
    readonly Action: readonly string[];
    readonly Resource: string;
    readonly Condition?: { readonly StringEquals?: Readonly<Record<string, string>> };
  }[];
}

/** An STS for tests: reads the session policy and lets the embedded store make keys for what it says. */
export async function answerAssumeRole(store: FolderStore, request: IncomingMessage): Promise<string> {
  return await assumeRole(store, await textOf(request));
}

/** The same for a body that has been read. */
export async function assumeRole(store: FolderStore, body: string): Promise<string> {
  const form = new URLSearchParams(body);
  if (form.get('Action') !== 'AssumeRole' || form.get('RoleArn') !== ROLE)
    throw new Error('Not what STS is asked.');
  // The policy is the one that the code under test writes; a wrong one fails the contract.
  const { Statement: statements } = JSON.parse(form.get('Policy') ?? '') as Policy;
  const [first] = statements;
  const isUpload = first?.Action.includes('s3:PutObject') === true;
  if (!isUpload && !statements.some((statement) => statement.Action.includes('s3:ListBucket')))
    throw new Error('No list.');
  const pattern = first?.Resource.slice(`arn:aws:s3:::${store.bucket}/`.length) ?? '';
  const credentials = await store.grant({
    key: pattern.replace(/\*$/, ''),
    isPrefix: pattern.endsWith('*'),
    access: isUpload ? 'upload' : 'download',
    requiresEncryption: first?.Condition?.StringEquals?.['s3:x-amz-server-side-encryption'] === 'AES256',
    expiresAt: new Date(Date.now() + Number(form.get('DurationSeconds')) * 1000),
  });
  const fields = Object.entries(credentials).map(([name, value]) => `<${name}>${String(value)}</${name}>`);
  return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>${fields.join('')}</Credentials></AssumeRoleResult></AssumeRoleResponse>`;
}
