import type { FastifyRequest } from 'fastify';
import { getKey, isObject, keysOf, type Json } from '../../../lib/json/index.ts';
import type { Caller } from '../../domain/tokens/caller.ts';
import { authorOf } from '../../domain/tokens/caller.ts';
import type { Context } from '../../domain/context.ts';
import { badRequest, notFound } from '../../domain/api-error.ts';
import { readMultipart } from './bodies.ts';
import { isContent, readContent } from './content.ts';
import type { Change } from '../../domain/configurations/model.ts';
import type { BranchRow, ConfigurationKey } from '../../stores/metadata/tables.ts';
import { requireComponent } from '../../domain/tokens/permissions.ts';
import { isOwnConfiguration } from '../../stores/metadata/run-limits.ts';

/** Returns the key of a configuration, once the component is known and the caller may use it. */
export function keyFrom(
  context: Context,
  call: { readonly caller: Caller; readonly branch: BranchRow },
  component: string,
  configuration: string,
): ConfigurationKey {
  if (context.catalogue.find(component) === undefined) throw notFound(`Component ${component} not found`);
  const key = { branch_id: call.branch.id, component_id: component, configuration_id: configuration };
  if (!isOwnConfiguration(call.caller.runLimits, key)) requireComponent(call.caller, component);
  return key;
}

export function changeOf(context: Context, caller: Caller, text: string | undefined): Change {
  return {
    author: authorOf(caller),
    env: context.env,
    text: text === '' ? undefined : text,
    runId: caller.runId,
    isOfRun: caller.runLimits !== undefined,
  };
}

/** Reads the id of a version in a path. */
export function versionOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw notFound(`Version ${text} not found`);
  return Number(text);
}

/**
 * Reads an id that a client chose; undefined when it chose none. Ids become parts of paths and of folders, so a text
 * that could mean another folder is refused.
 */
export function chosenId(id: string | undefined, key: string): string | undefined {
  if (id === undefined || id === '') return undefined;
  if (id.length <= 255 && /^[\w][\w.~:@+\\ -]*$/.test(id) && !id.endsWith(' ')) return id;
  throw badRequest(
    'storage.components.validation',
    `${key}: an id has at most 255 letters, digits and - . _ : @ + ~ \\, and starts with a letter or digit.`,
  );
}

/** Reads the contents of a body as text to be stored. */
export function contentsOf(body: { readonly configuration?: unknown; readonly state?: unknown }): {
  configuration?: string;
  state?: string;
} {
  // The parsers read both as JSON.
  const configuration = readContent(body.configuration as Json | undefined, 'configuration');
  const state = readContent(body.state as Json | undefined, 'state');
  return {
    ...(configuration === undefined ? {} : { configuration }),
    ...(state === undefined ? {} : { state }),
  };
}

/**
 * Reads the body of the routes for a state alone: further fields are refused there.
 *
 * @throws {ApiError} with the texts and codes of the kind of state
 */
export async function readStateBody(request: FastifyRequest, kind: 'configuration' | 'row'): Promise<string> {
  // The parsers read both as JSON.
  const body = request.isMultipart() ? await readMultipart(request) : (request.body as Json | undefined);
  const fields = isObject(body) ? body : {};
  const state = getKey(fields, 'state');
  const unexpected = keysOf(fields).filter((key) => key !== 'state');
  const problem =
    state === undefined
      ? 'This field is missing.'
      : state === null || state === ''
        ? 'This value should not be blank.'
        : isContent(state)
          ? undefined
          : 'This value should be valid JSON.';
  const notExpected = unexpected.map((key) => `${key}: This field was not expected.`);
  if (kind === 'row') {
    if (notExpected.length > 0)
      throw badRequest(
        'storage.componentsRows.validation',
        `Invalid parameters - ${notExpected.join('\n - ')}`,
      );
    if (problem !== undefined)
      throw badRequest('validation.invalidStateFormat', `Invalid state body format: ${problem}`);
  }
  const problems = [...notExpected, ...(problem === undefined ? [] : [`state: ${problem}`])];
  if (problems.length > 0)
    throw badRequest('storage.components.validation', `Invalid parameters - ${problems.join('\n - ')}`);
  return readContent(state, 'state') ?? '{}';
}
