import { cpSync } from 'node:fs';
import path from 'node:path';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { dataFolder } from './support.ts';

test('a clone that is not built says what to do', async () => {
  const folder = dataFolder();
  cpSync(fileURLToPath(new URL('../../bin', import.meta.url)), path.join(folder, 'bin'), { recursive: true });
  const started = promisify(execFile)(process.execPath, [path.join(folder, 'bin/gex.js'), '--help']);
  await expect(started).rejects.toMatchObject({
    code: 2,
    stderr: 'generic-extractor is not built yet: run “npm run build” in its folder first.\n',
  });
});
