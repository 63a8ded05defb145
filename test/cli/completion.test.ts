import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { gexHere } from './support.ts';
import { MAIN } from '../support/command.ts';

async function after(line: string): Promise<readonly string[]> {
  const { code, stdout } = await gexHere('completion', '--line', line);
  expect(code).toBe(0);
  return stdout.split('\n').filter((word) => word !== '');
}

describe('what may stand at the end of a line', () => {
  test.each([
    ['gex va', ['validate']],
    ['generic-extractor va', ['validate']],
    ['gex storage tables pre', ['preview']],
    ['gex storage ta', ['tables']],
    ['gex run --rese', ['--reset-state']],
    ['gex run --log-level w', ['warn']],
    ['gex run --log-level warn --log-l', []],
    ['gex run --row a --ro', ['--row', '--rows-at-once']],
    ['gex nothing --da', []],
    ['gex run --data ', []],
  ])('%s', async (line, expected) => {
    expect(await after(line)).toEqual(expected);
  });

  test('everything, when nothing is written yet', async () => {
    expect(await after('gex ')).toEqual(expect.arrayContaining(['run', 'storage', 'completion', '--help']));
  });
});

test.skipIf(!existsSync('/bin/bash'))('bash takes the script, and is given the words', async () => {
  const script = `gex() { "${process.execPath}" "${MAIN}" "$@"; }
    source <(gex completion)
    COMP_LINE='gex storage tab' COMP_POINT=15 COMP_WORDS=(gex storage tab) COMP_CWORD=2
    _gex; printf '%s,' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('/bin/bash', ['-c', script]);
  expect(stdout).toBe('tables,');
});
