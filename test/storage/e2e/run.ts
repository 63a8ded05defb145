// The service against clients that are not ours: `npm run test:e2e`. A tool that is missing is skipped, with its name.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

interface Trial {
  readonly name: string;
  readonly command: readonly string[];
  /** Gives 0 where the tool is there. */
  readonly probe: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const pythons = [...new Set(['/usr/bin/python3', 'python3'])].filter(
  (name) => !name.startsWith('/') || existsSync(name),
);
const awsCommands = ['/usr/bin/aws', 'aws'].filter((name) => !name.startsWith('/') || existsSync(name));

/** The commands of the documentation, as they are there. */
const page = readFileSync(new URL('../../../docs/storage-service.md', import.meta.url), 'utf8');
const documented = Array.from(
  page.matchAll(/^```sh runnable-service\n([^]*?)^```$/gm),
  ([, block = '']) => block,
);

const trials: readonly Trial[] = [
  {
    name: 'the commands of docs/storage-service.md',
    command: ['bash', '-euo', 'pipefail', '-c', documented.join('\n')],
    probe: ['bash', '-c', 'jq --version && aws --version && curl --version'],
  },
  { name: 'curl', command: ['bash', join(HERE, 'curl.sh')], probe: ['curl', '--version'] },
  ...pythons.map((python) => ({
    name: `boto3 of ${python}`,
    command: [python, join(HERE, 'boto.py')],
    probe: [python, '-c', 'import boto3'],
  })),
  ...awsCommands.map((aws) => ({
    name: `aws command at ${aws}`,
    command: ['bash', join(HERE, 'aws.sh')],
    probe: [aws, '--version'],
    env: { AWS: aws },
  })),
];

const dir = await mkdtemp(join(tmpdir(), 'e2e-'));
const ports = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];
const service = spawn(process.execPath, [MAIN, 'serve', '--dir', dir, ...ports], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const printed: Record<string, string> = {};
for await (const line of createInterface({ input: service.stdout })) {
  const [name = '', value = ''] = line.split(/\s+/);
  printed[name] = value;
  if (name === 'token') break;
}

let passed = 0;
let failed = 0;
for (const { name, command, probe, env = {} } of trials) {
  const [tool = '', ...rest] = command;
  const [probeTool = '', ...probeRest] = probe;
  if (spawnSync(probeTool, probeRest, { stdio: 'ignore' }).status !== 0) {
    console.log(`skipped  ${name}: it is not installed`);
    continue;
  }
  const started = performance.now();
  const { status } = spawnSync(tool, rest, {
    stdio: 'inherit',
    env: {
      ...process.env,
      STORAGE_URL: printed['api'],
      STORAGE_S3_URL: printed['s3'],
      STORAGE_TOKEN: printed['token'],
      ...env,
    },
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'passed ' : 'FAILED '}  ${name} (${seconds} s)`);
  if (status === 0) passed += 1;
  else failed += 1;
}

service.kill('SIGTERM');
await once(service, 'exit');
await rm(dir, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
