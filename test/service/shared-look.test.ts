import { expect, test } from 'vitest';
import type { Meta } from '../../src/service/stores/metadata/database.ts';
import { sharedLook } from '../../src/service/stores/metadata/shared-look.ts';

// A key of what is known, and nothing else, to what is tried here.
const meta = {} as Meta;

/** Looks that are let go one by one. */
function slowLooks() {
  const begun: { readonly key: string; readonly end: (found: string | Error) => void }[] = [];
  const look = sharedLook(
    async (_meta, key: string) =>
      await new Promise<string>((resolve, reject) => {
        const end = (found: string | Error): void =>
          found instanceof Error ? reject(found) : resolve(found);
        begun.push({ key, end });
      }),
  );
  return { begun, ask: async (key: string) => await look(meta, key) };
}

test('who comes while a look is under way gets what the next one sees, with all others', async () => {
  const { begun, ask } = slowLooks();
  const first = ask('a');
  const [second, third, other] = [ask('a'), ask('a'), ask('b')];
  expect(begun.map(({ key }) => key)).toEqual(['a', 'b']);
  begun[0]?.end('old');
  expect(await first).toBe('old');
  await expect.poll(() => begun.length).toBe(3);
  const fourth = ask('a');
  begun[2]?.end('new');
  expect(await Promise.all([second, third])).toEqual(['new', 'new']);
  await expect.poll(() => begun.length).toBe(4);
  begun[3]?.end('newest');
  expect(await fourth).toBe('newest');
  begun[1]?.end('b');
  expect(await other).toBe('b');
  // Nothing is kept: the next one looks for itself.
  const last = ask('a');
  expect(begun.length).toBe(5);
  begun[4]?.end('last');
  expect(await last).toBe('last');
});

test('a look that fails fails for those who shared it, and for nobody after them', async () => {
  const { begun, ask } = slowLooks();
  const first = ask('a');
  const second = ask('a');
  begun[0]?.end(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.end('there');
  expect(await second).toBe('there');
});
