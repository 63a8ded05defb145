import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../lib/errors.ts';
import { readExchanges, type ExampleExchange } from './exchanges.ts';
import type { FixtureResult } from './result.ts';
import { runFixture } from './run-fixture.ts';
import type { FixtureSettings } from './fixture-settings.ts';

export interface RunFixturesOptions {
  /** Only fixtures whose name is one of these, or begins with one; all by default. */
  readonly only?: readonly string[];
  /** Told each result as soon as it is there. */
  readonly onResult?: (result: FixtureResult) => void;
  /** Settings for a fixture without `fixture.json` of its own. */
  readonly settings?: (name: string) => FixtureSettings;
  /** Ends the run between and inside of fixtures. */
  readonly signal?: AbortSignal;
}

export interface FixtureReport {
  readonly results: readonly FixtureResult[];
  readonly passed: number;
  readonly failed: number;
}

/**
 * Runs recorded examples: for each folder with a `config.json`, its recorded exchanges are served on loopback, the
 * extraction runs over a fresh data folder, and what it wrote and asked for is compared with what the folder expects.
 * `fixtures/README.md` describes the files.
 *
 * @param folder one fixture, or a folder of fixtures
 * @throws {ConfigError} `config.missing` when there is no fixture in the folder
 */
export async function runFixtures(folder: string, options: RunFixturesOptions = {}): Promise<FixtureReport> {
  const folders = fixtureFolders(folder).filter((each) => isWanted(path.basename(each), options.only));
  if (folders.length === 0) throw noFixtures(folder, options.only);
  const shared = sharedExchanges(folders);
  const signal = options.signal ?? new AbortController().signal;
  const results: FixtureResult[] = [];
  for (const each of folders) {
    signal.throwIfAborted();
    const name = path.basename(each);
    const settings = options.settings?.(name);
    const result = await runFixture(each, {
      shared,
      signal,
      ...(settings === undefined ? {} : { settings }),
    });
    results.push(result);
    options.onResult?.(result);
  }
  const passed = results.filter((result) => result.passed).length;
  return { results, passed, failed: results.length - passed };
}

/** Returns the folder itself, or every folder right below it that has a `config.json`, by name. */
function fixtureFolders(folder: string): string[] {
  const root = path.resolve(folder);
  if (isFile(path.join(root, 'config.json'))) return [root];
  let names: string[];
  try {
    names = readdirSync(root);
  } catch (cause) {
    throw new ConfigError('config.missing', `The folder ${root} cannot be read.`, {
      where: { file: root },
      hint: 'Give a folder that holds fixtures, or one fixture.',
      cause,
    });
  }
  return names
    .toSorted()
    .map((name) => path.join(root, name))
    .filter((each) => isFile(path.join(each, 'config.json')));
}

/** Examples with `_sample_out` are served all together, as some ask for another's exchanges. */
function sharedExchanges(folders: readonly string[]): readonly ExampleExchange[] {
  return folders
    .filter((folder) => isFolder(path.join(folder, '_sample_out')))
    .flatMap((folder) => readExchanges(folder));
}

function isWanted(name: string, only: readonly string[] | undefined): boolean {
  return only === undefined || only.length === 0 || only.some((wanted) => name.startsWith(wanted));
}

function noFixtures(folder: string, only: readonly string[] | undefined): ConfigError {
  const named = only === undefined || only.length === 0 ? '' : ` of the name ${only.join(', ')}`;
  return new ConfigError('config.missing', `There is no fixture${named} in ${path.resolve(folder)}.`, {
    where: { file: folder },
    hint: 'A fixture is a folder with config.json, api/ and expected/; each may hold several.',
  });
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}
