import { ActionError } from '../../lib/errors.ts';
import { getKey, type AnyObject, type Json } from '../../lib/json/index.ts';
import { parametersOf } from './configuration.ts';

/** Returns a parameter of an action; undefined when it is missing or null. */
export function input(configuration: AnyObject, key: string): Json | undefined {
  return getKey(parametersOf(configuration), key) ?? undefined;
}

/** @throws {ActionError} when it is missing, empty or no text */
export function inputText(configuration: AnyObject, key: string, hint: string): string {
  const value = input(configuration, key);
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw wrongInput(
    key,
    value === undefined || typeof value === 'string' ? 'is missing' : 'must be a text',
    hint,
  );
}

export function wrongInput(key: string, problem: string, hint: string): ActionError {
  return new ActionError('action.invalid', `\`${key}\` ${problem}.`, {
    where: { path: `parameters.${key}` },
    hint,
  });
}
