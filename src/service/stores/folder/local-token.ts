import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { systemEnv, type Env } from '../../../lib/env.ts';
import { openMeta, type Meta } from '../metadata/database.ts';
import { LOCAL_DESCRIPTION } from '../metadata/projects.ts';
import { createToken, findTokenBySecret, listTokens, tokenText } from '../metadata/tokens.ts';
import { loadSecret } from '../objects/secret.ts';
import { withLocks, TOKENS } from '../metadata/transaction.ts';

/**
 * A master token for commands on the machine of the folder, which need none to be given: whoever may read the folder
 * may use it. It follows from the folder's secret, so it is stored nowhere, and is the same every time. The service must
 * have been started over the folder once; it may be running.
 */
export async function localToken(dir: string, env: Env = systemEnv): Promise<string> {
  const secret = await loadSecret(join(dir, 'objects.secret'), env);
  const meta = await openMeta(join(dir, 'meta.sqlite'));
  try {
    return await tokenOfCommands(meta, env, secret);
  } finally {
    await meta.destroy();
  }
}

/** Returns that token, or makes it; for a storage without a folder as well. */
export async function tokenOfCommands(meta: Meta, env: Env, storageSecret: Uint8Array): Promise<string> {
  const secret = secretOf(storageSecret);
  return await withLocks(
    meta,
    [TOKENS],
    async (tx) => (await findLocal(tx, secret)) ?? (await createLocal(tx, env, secret)),
  );
}

/** Its id, when it was made already. */
export async function localTokenId(meta: Meta, folderSecret: Uint8Array): Promise<number | undefined> {
  const text = await findLocal(meta, secretOf(folderSecret));
  return text === undefined ? undefined : (await findTokenBySecret(meta, text))?.id;
}

function secretOf(folderSecret: Uint8Array): string {
  return createHmac('sha256', folderSecret).update('local commands').digest('hex');
}

/** By its secret, not by its description: that may be changed, or given to another. */
async function findLocal(meta: Meta, secret: string): Promise<string | undefined> {
  for (const { id, is_master } of await listTokens(meta)) {
    if (is_master === 0) continue;
    const token = await tokenText(meta, id, secret);
    if ((await findTokenBySecret(meta, token)) !== undefined) return token;
  }
  return undefined;
}

async function createLocal(meta: Meta, env: Env, secret: string): Promise<string> {
  const rights = { description: LOCAL_DESCRIPTION, isMaster: true, secret };
  return (await createToken(meta, env, rights, undefined)).token;
}
