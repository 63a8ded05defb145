import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from '../../src/lib/shell-word.ts';

test('plain paths stay as they are', () => {
  for (const word of ['my-api', '/data/žluť/a.b', 'http://127.0.0.1:8080', 'in.c-main', '42@7'])
    expect(shellWord(word)).toBe(word);
});

test('a shell reads any other word as it was', () => {
  for (const word of ['my api', "it's", '$HOME', 'a;b', '`x`', '"', '', '*', 'a\nb', '~'])
    expect(execFileSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
});
