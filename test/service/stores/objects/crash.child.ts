import { systemEnv } from '../../../../src/lib/env.ts';
import { createObjectFolder } from '../../../../src/service/stores/objects/folder/folder.ts';
import { noAttributes } from '../../../../src/service/stores/objects/folder/meta.ts';

// Writes objects of one letter each, over and over, several at a time, and prints `key letter` for each that is done.
// Started and killed by crash.test.ts.
const folder = createObjectFolder(process.argv[2] ?? '', systemEnv);
await folder.open();
console.log('ready');
await Promise.all(['a', 'b', 'c'].map((worker) => write(worker)));

async function write(worker: string): Promise<void> {
  for (let round = 0; ; round++) {
    const letter = 'abcdefghij'[round % 10] ?? 'a';
    const key = `${worker}/${round % 7}`;
    await folder.put(key, slowly(letter), { attributes: noAttributes, checksums: [] });
    console.log(`${key} ${letter}`);
  }
}

async function* slowly(letter: string): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 8; i++) {
    yield Buffer.alloc(64 * 1024, letter);
    await systemEnv.sleep(1);
  }
}
