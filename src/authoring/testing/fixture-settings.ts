import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../lib/errors.ts';
import { parseConfig } from '../../engine/config/index.ts';
import {
  entriesOf,
  isInteger,
  isList,
  isObject,
  numberOf,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';

/** Content of `fixture.json`. All of it is optional. */
export interface FixtureSettings {
  /** Purpose of the example, in one sentence. */
  readonly description?: string;
  /**
   * The time, as ISO 8601 text. A list gives the time at the start, after the first answer, after the second, and so
   * on; the last one stays. Without it the clock is the real one.
   */
  readonly clock?: string | readonly string[];
  /** Hexadecimal text that is given in place of random bytes, from its start each time, repeated when it is short. */
  readonly nonce?: string;
  /** Ends each job after so many pages, as `--limit` does. */
  readonly limit?: number;
  /** Variables for `$env:NAME` values. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Recorded exchanges need not all be asked for. */
  readonly allowUnused?: boolean;
}

const KEYS = ['$schema', 'description', 'clock', 'nonce', 'limit', 'environment', 'allowUnused'];

/**
 * Reads `fixture.json` of a fixture; an absent file is an empty one.
 *
 * @throws {ConfigError} naming the file and the key
 */
export function readSettings(folder: string): FixtureSettings {
  const file = path.join(folder, 'fixture.json');
  if (!existsSync(file)) return {};
  const { value } = parseConfig(readFileSync(file, 'utf8'), file);
  if (!isObject(value)) throw wrong(file, 'fixture.json must be an object.');
  const settings: Record<string, unknown> = {};
  for (const [key, item] of entriesOf(value)) {
    if (!KEYS.includes(key))
      throw wrong(file, `fixture.json has no key “${key}”. The keys are ${KEYS.join(', ')}.`);
    if (key !== '$schema') settings[key] = checked(key, item, file);
  }
  return settings; // each value was checked for its key
}

function checked(key: string, value: Json, file: string): unknown {
  if (key === 'description' && typeof value === 'string') return value;
  if (key === 'clock' && isTime(value)) return value;
  if (key === 'clock' && isList(value) && value.length > 0 && value.every(isTime)) return value;
  if (key === 'nonce' && typeof value === 'string' && /^(?:[0-9a-f]{2})+$/i.test(value)) return value;
  if (key === 'limit' && isInteger(value) && numberOf(value) > 0) return value;
  if (key === 'environment' && isObject(value) && isTexts(value)) return Object.fromEntries(entriesOf(value));
  if (key === 'allowUnused' && typeof value === 'boolean') return value;
  throw wrong(file, `“${key}” of fixture.json is not understood.`);
}

function isTime(value: Json): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

function isTexts(value: AnyObject): boolean {
  return entriesOf(value).every(([, item]) => typeof item === 'string');
}

function wrong(file: string, message: string): ConfigError {
  return new ConfigError('config.invalid', message, {
    where: { file },
    hint: 'fixtures/README.md describes the keys.',
  });
}
