import { parseConfig, type ConfigDocument } from '../engine/config/read-config.ts';
import { ConfigError } from '../lib/errors.ts';

/**
 * Parses a file that a command line names. Its mistakes are those of the command line (exit code 1), unlike those of
 * the `config.json` that a platform puts into a data folder.
 *
 * @throws {ConfigError} `config.syntax` with its place
 */
export function parseGiven(text: string, name: string): ConfigDocument {
  try {
    return parseConfig(text, name);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { code, message, where, hint } = error;
    throw new ConfigError(code, message, { where, hint, audience: 'user', cause: error });
  }
}
