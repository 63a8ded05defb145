import { join } from 'node:path';
import type { Env } from '../../../lib/env.ts';
import { META } from './backup/snapshot.ts';
import { openMeta } from '../../stores/metadata/database.ts';
import { localTokenId } from '../../stores/folder/local-token.ts';
import { keyOf, loadedSecret, MEMORY_MB } from './folder.ts';
import { encryptionKey } from '../storage-identity.ts';
import { moveStorage, refuseUsed, type MoveResult } from './move.ts';
import type { Moving, OpenedStorage } from './storage.ts';
import { unpack, withScratch } from './unpacked.ts';
import { extensionsFolder } from '../../stores/tables/kind.ts';

export interface RestoreOptions extends Pick<Moving, 'signal' | 'told'> {
  /** Backup of a folder or of a database. Beside it, metadata and tables are unpacked meanwhile. */
  readonly file: string;
  readonly to: OpenedStorage;
  readonly env: Env;
}

export interface RestoredStorage extends MoveResult {
  /** Id of the key of `#` values, which the service needs. */
  readonly encryptionKey: string | undefined;
  /** True when that key is in the backup. */
  readonly hasKey: boolean;
}

/**
 * Puts all of a backup into a storage that is empty or was left by an earlier call for the same backup, and compares
 * both. Work that was being done when the backup was made is done to its end by the service that starts over it.
 *
 * @throws {StorageError} `storage.differs` for a file that is cut, damaged or no backup: nothing is restored then
 */
export async function restoreInto({ file, to, env, signal, told }: RestoreOptions): Promise<RestoredStorage> {
  await refuseUsed(to);
  const { tablesOfFolder } = await import('../../stores/tables/open-engine.ts');
  return await withScratch(`${file}.parts`, env, async (dir) => {
    const objects = await unpack(file, dir);
    try {
      // It is brought up to date, as it would be by a service.
      const meta = await openMeta(join(dir, META));
      const limits = { memoryLimitMb: MEMORY_MB, threads: 1 };
      const lake = { extensions: extensionsFolder(process.env) };
      const engine = await tablesOfFolder(meta, dir, lake, limits);
      try {
        await engine.open();
        const secret = await loadedSecret(dir);
        const ownKey = keyOf(dir, {});
        const key = ownKey ?? (await encryptionKey(meta));
        const from = {
          name: file,
          meta,
          engine,
          objects,
          secret,
          localToken: secret === undefined ? undefined : await localTokenId(meta, secret),
          encryptionKey: key,
          close: () => Promise.resolve(),
        };
        const result = await moveStorage({ from, to, signal, told, mayHaveWork: true });
        return { ...result, encryptionKey: key, hasKey: ownKey !== undefined };
      } finally {
        await engine.close();
        await meta.destroy();
      }
    } finally {
      await objects.close();
    }
  });
}
