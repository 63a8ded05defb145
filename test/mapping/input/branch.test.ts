import { describe, expect, test } from 'vitest';
import { failureOf, pull, textIn, useStorage } from './support.ts';

const storage = useStorage();

describe('in a development branch', () => {
  test('the branch bucket comes first, then the branch, then production', async () => {
    const production = storage.client();
    const { id: branchId } = await production.branches.create({ name: storage.unique('branch') });
    const branch = storage.client({ branch: branchId });
    const name = storage.unique('main');
    const id = await storage.table('where\nproduction\n', { bucket: name });
    const folder = await storage.folder();
    const fetched = async (): Promise<string | undefined> => {
      const mapping = { tables: [{ source: id, destination: 'where' }] };
      await pull(branch, folder, mapping, { branch: String(branchId), production });
      return textIn(folder, 'tables/where').split('\n')[1];
    };
    expect(await fetched()).toBe('"production"');
    await storage.table('where\nbranch\n', { client: branch, bucket: name });
    expect(await fetched()).toBe('"branch"');
    await storage.table('where\nbranch bucket\n', { client: production, bucket: `${branchId}-${name}` });
    expect(await fetched()).toBe('"branch bucket"');
    const error = await failureOf(
      pull(branch, folder, { tables: [{ source: `${id}x` }] }, { branch: String(branchId), production }),
    );
    expect(error.hint).toBe(`Did you mean “${id}”?`);
  });
});
