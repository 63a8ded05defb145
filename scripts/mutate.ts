// Checks that the tests notice faults: makes each fault of `mutants.ts` in a copy of the working tree, one at a time, and
// runs the tests beside it. A fault that no test fails for survives, and the command fails.
//
//   npm run mutate                  all of them
//   npm run mutate -- guard cell    those with one of the words in their name or file
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { mutants, type Mutant } from './mutants.ts';

/** A fault that keeps its tests from ending is noticed, too. */
const LONGEST_MS = 300_000;

const root = path.join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const chosen = mutants.filter(
  ({ name, file }) => words.length === 0 || words.some((word) => `${name} ${file}`.includes(word)),
);
if (chosen.length === 0) fail(`No mutant has ${words.join(' or ')} in its name or file.`);
for (const mutant of chosen) mutated(mutant);
if (chosen.some(({ overPostgres }) => overPostgres === true) && !process.env['TEST_DATABASE_URL'])
  fail(
    'Name a server of PostgreSQL in TEST_DATABASE_URL: `bash scripts/postgres.sh start FOLDER PORT` starts one.',
  );

const copy = mkdtempSync(path.join(tmpdir(), 'mutate-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
/** The tests that are under way, in a process group of their own. */
let group: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    endGroup();
    process.exit(1);
  });

copyTree();
console.log(`${chosen.length} mutants`);
const sound = new Set<string>();
const survivors: Mutant[] = [];
for (const mutant of chosen) {
  await proveSound(mutant.tests);
  if (!(await isKilled(mutant))) survivors.push(mutant);
}
const killed = chosen.length - survivors.length;
console.log(`\n${killed} killed, ${survivors.length} survived`);
for (const { name, file, tests } of survivors)
  console.log(`  ${name} (${file}): add to ${tests.join(' or ')}`);
process.exitCode = survivors.length === 0 ? 0 : 1;

/** Tests that fail without a mutant say nothing. */
async function proveSound(tests: readonly string[]): Promise<void> {
  const unproven = tests.filter((test) => !sound.has(test));
  if (unproven.length === 0) return;
  const { hasPassed, output } = await runTests(unproven);
  if (!hasPassed) fail(`${output}\n${unproven.join(' or ')} fails without a mutant.`);
  for (const test of unproven) sound.add(test);
}

async function isKilled(mutant: Mutant): Promise<boolean> {
  const file = path.join(copy, mutant.file);
  const before = readFileSync(file, 'utf8');
  const started = performance.now();
  writeFileSync(file, mutated(mutant));
  const { hasPassed } = await runTests(mutant.tests);
  writeFileSync(file, before);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${hasPassed ? 'SURVIVED' : 'killed  '}  ${mutant.name} (${mutant.file}, ${seconds} s)`);
  return !hasPassed;
}

/** The file with the fault in it; the text must be there, and once. */
function mutated({ name, file, find, replace }: Mutant): string {
  const text = readFileSync(path.join(root, file), 'utf8');
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0)
    fail(`“${name}”: ${file} has the text ${text.split(find).length - 1} times, and not once:\n${find}`);
  return `${before}${replace}${after}`;
}

/** Copies the files that git tracks or could track; installed and built ones are shared. */
function copyTree(): void {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  }).split('\0');
  for (const file of files) {
    const from = path.join(root, file);
    if (file === '' || !existsSync(from)) continue;
    mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
    cpSync(from, path.join(copy, file));
  }
  for (const folder of ['node_modules', 'dist'])
    if (existsSync(path.join(root, folder))) symlinkSync(path.join(root, folder), path.join(copy, folder));
}

async function runTests(tests: readonly string[]): Promise<{ hasPassed: boolean; output: string }> {
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
  // In a group of its own, so that its workers end with it.
  const child = spawn(process.execPath, [vitest, 'run', '--bail=1', ...tests], {
    cwd: copy,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    // No test is run twice, over a server of its own as well.
    env: { ...process.env, CI: 'true' },
  });
  group = child.pid;
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const clock = setTimeout(endGroup, LONGEST_MS);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearTimeout(clock);
  group = undefined;
  return { hasPassed: code === 0, output };
}

function endGroup(): void {
  if (group !== undefined) process.kill(-group, 'SIGKILL');
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
