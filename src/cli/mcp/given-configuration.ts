import { readConfig } from '../../engine/config/index.ts';
import { RunError } from '../../lib/errors.ts';
import { variableIn, type Grants } from './grants.ts';

/** Configuration as an argument: JSON text, which keeps every digit, or an object. */
export type GivenConfiguration = string | Readonly<Record<string, unknown>> | undefined;

/**
 * Returns the text of a configuration: the one that is given, or that of the data folder.
 *
 * @throws {RunError} `command.invalid` where one that is given has a secret in plain, or takes a variable that was not
 *   named
 */
export async function configurationText(
  given: GivenConfiguration,
  dataFolder: string,
  grants: Grants,
): Promise<string> {
  if (given === undefined) return (await readConfig(dataFolder)).text;
  requireNames(given, grants);
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function requireNames(given: string | object, { variables }: Grants): void {
  let parsed: unknown = given;
  if (typeof given === 'string')
    try {
      parsed = JSON.parse(given);
    } catch {
      return; // validation tells where it is broken
    }
  visit(parsed, '', false);

  function visit(value: unknown, path: string, isSecret: boolean): void {
    if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value))
        visit(item, path === '' ? key : `${path}.${key}`, isSecret || key.startsWith('#'));
    else if (typeof value === 'string') requireName(value, path, isSecret);
    else if (isSecret && value !== null) throw inPlain(path);
  }

  function requireName(value: string, path: string, isSecret: boolean): void {
    const name = variableIn(value);
    if (name === undefined) {
      if (isSecret && value !== '' && !value.startsWith('KBC::')) throw inPlain(path);
    } else if (!Object.hasOwn(variables, name))
      throw new RunError('command.invalid', `${path}: the variable ${name} was not named, or is not set.`, {
        hint: `The user has to start gex mcp with --variable ${name}, and with ${name} in its environment.`,
      });
  }
}

function inPlain(path: string): RunError {
  const name = path.replace(/^.*#/, '').replace(/\W+/g, '_').toUpperCase();
  return new RunError('command.invalid', `${path} has a secret in plain.`, {
    hint: `Write "$env:${name}" there: the user gives the variable with --variable ${name} when gex mcp is started. Never ask for the secret itself.`,
  });
}
