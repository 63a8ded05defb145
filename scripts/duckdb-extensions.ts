// Puts the extensions of DuckDB that a lake needs into a folder, from the Python registry, for machines that do not reach
// DuckDB's own site:
//
//   node scripts/duckdb-extensions.ts FOLDER
//
// A wheel is a zip with the binary in it, for exactly one version of DuckDB: the one that this package uses.
import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { version } from '@duckdb/node-api';
import yauzl from 'yauzl';

const EXTENSIONS = ['ducklake', 'httpfs', 'postgres-scanner'];

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Name the folder: node scripts/duckdb-extensions.ts FOLDER');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const wheels = mkdtempSync(path.join(tmpdir(), 'wheels-'));
try {
  const wanted = EXTENSIONS.map((name) => `duckdb-extension-${name}==${version().replace(/^v/, '')}`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', wheels, ...wanted];
  const { status, error } = spawnSync('python3', pip, { stdio: 'inherit' });
  if (status !== 0) throw new Error('pip could not download the wheels.', { cause: error });
  for (const name of readdirSync(wheels)) await unpack(path.join(wheels, name), folder);
  console.log(readdirSync(folder).join('\n'));
} finally {
  rmSync(wheels, { recursive: true, force: true });
}

async function unpack(wheel: string, to: string): Promise<void> {
  const zip = await yauzl.openPromise(wheel);
  try {
    for await (const entry of zip.eachEntry())
      if (entry.fileName.endsWith('.duckdb_extension'))
        await pipeline(
          await zip.openReadStreamPromise(entry),
          createWriteStream(path.join(to, path.basename(entry.fileName))),
        );
  } finally {
    zip.close();
  }
}
