import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  lstatSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  keysFrom,
  makeKeyFile,
  openServiceKeys,
  parseKeys,
  readKeyFile,
  replaceFile,
} from '../../../src/lib/encryption/index.ts';
import { keyFrom, keyText, RANDOM } from './support.ts';

const root = mkdtempSync(path.join(tmpdir(), 'gex-keys-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('keys', () => {
  test('stand on lines, behind comments, between commas; the first one encrypts', () => {
    const [a, b] = [keyText('a'), keyText('b')];
    const ids = [keyFrom('a').id, keyFrom('b').id];
    for (const text of [
      `${a}\n${b}\n`,
      `# new\n${a} # of May\r\n\n${b}`,
      `${a}, ${b}, ${a}`,
      `\uFEFF${a} ${b}`,
    ])
      expect(parseKeys(text, 'x').map(({ id }) => id)).toEqual(ids);
  });

  test('of another length or alphabet are refused, without showing them', () => {
    for (const word of ['c2hvcnQ=', 'not base64 at all!', `${keyText('a')}AAAA`]) {
      try {
        parseKeys(word, 'GEX_ENCRYPTION_KEY');
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ code: 'encryption.noKey' });
        expect(String(error)).toContain('of GEX_ENCRYPTION_KEY is not 32 bytes in base64');
        expect(String(error)).not.toContain(word);
      }
    }
    expect(() => parseKeys('# nothing\n', 'the file')).toThrow('the file holds no key');
  });

  test('come from the environment: the variable first, then the file that is named', () => {
    const file = path.join(root, 'some.key');
    writeFileSync(file, keyText('b'));
    const environment = { GEX_ENCRYPTION_KEY: keyText('a'), GEX_ENCRYPTION_KEY_FILE: file };
    expect(keysFrom(environment).map(({ id }) => id)).toEqual([keyFrom('a').id, keyFrom('b').id]);
    expect(keysFrom({ GEX_ENCRYPTION_KEY: '' })).toEqual([]);
    expect(() => keysFrom({ GEX_ENCRYPTION_KEY_FILE: path.join(root, 'none') })).toThrow(
      'cannot be read (ENOENT)',
    );
  });
});

describe('a key file', () => {
  test('is for its owner alone, and gets each new key in front of the older ones', () => {
    const file = path.join(root, 'deep', 'ring.key');
    const first = makeKeyFile(file, RANDOM);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    const second = makeKeyFile(file, RANDOM);
    expect(readKeyFile(file).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(path.dirname(file))).toEqual(['ring.key']);
  });

  test('is never written over something else', () => {
    const file = path.join(root, 'notes.txt');
    writeFileSync(file, 'my notes');
    expect(() => makeKeyFile(file, RANDOM)).toThrow('is not 32 bytes in base64');
    expect(readFileSync(file, 'utf8')).toBe('my notes');
  });
});

describe('the keys of a service', () => {
  test('are made at its first start, and are the same at the next', () => {
    const folder = mkdtempSync(path.join(root, 'service-'));
    const first = openServiceKeys(folder, {}, RANDOM);
    expect(first.isNew).toBe(true);
    expect(statSync(path.join(folder, 'encryption.key')).mode & 0o777).toBe(0o600);
    const second = openServiceKeys(folder, {}, RANDOM);
    expect(second.isNew).toBe(false);
    expect(second.keys.map(({ id }) => id)).toEqual(first.keys.map(({ id }) => id));
  });

  test('are those of the environment, and no file is made; an older file goes on decrypting', () => {
    const folder = mkdtempSync(path.join(root, 'service-'));
    const environment = { GEX_ENCRYPTION_KEY: keyText('a') };
    expect(openServiceKeys(folder, environment, RANDOM).keys).toEqual([keyFrom('a')]);
    expect(readdirSync(folder)).toEqual([]);
    const own = makeKeyFile(path.join(folder, 'encryption.key'), RANDOM);
    expect(openServiceKeys(folder, environment, RANDOM).keys.map(({ id }) => id)).toEqual([
      keyFrom('a').id,
      own.id,
    ]);
  });
});

test('a file that is replaced keeps its mode when asked to, and a link stays a link', () => {
  const [file, link] = [path.join(root, 'real.json'), path.join(root, 'link.json')];
  writeFileSync(file, 'old');
  symlinkSync(file, link);
  replaceFile(link, 'new', 0o640);
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});
