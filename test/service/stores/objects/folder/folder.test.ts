import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemEnv } from '../../../../../src/lib/env.ts';
import {
  createObjectFolder,
  type ObjectFolder,
} from '../../../../../src/service/stores/objects/folder/folder.ts';
import { noAttributes } from '../../../../../src/service/stores/objects/folder/meta.ts';

let directory: string;
let folder: ObjectFolder;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'folder-'));
  folder = createObjectFolder(directory, systemEnv);
  await folder.open();
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test('writes are done while deletes beside them take away the directories that become empty', async () => {
  const writers = Array.from({ length: 8 }, (_, writer) => `a/b/c/d/e/${writer}`);
  await Promise.all(
    writers.map(async (key) => {
      for (let round = 0; round < 40; round++) {
        await folder.put(key, [Buffer.from('x')], { attributes: noAttributes, checksums: [] });
        expect((await folder.head(key))?.bytes).toBe(1);
        await folder.delete(key);
      }
    }),
  );
});
