import { systemEnv } from '../../lib/env.ts';
import type { CallFunction, Contexts } from '../shared/evaluate.ts';
import type { Json } from '../../lib/json/index.ts';
import { CONTEXTS, compileSource, isSourceObject, type Source } from '../language/index.ts';
import { createCaller } from './functions/evaluate.ts';
import { jobError } from './read-job.ts';

/** Kinds of sources that can be read before the first request. */
const KINDS = ['value', 'firstOf', ...CONTEXTS] as const;

export interface ContextValueOptions {
  readonly call: CallFunction;
  readonly contexts: Contexts;
  readonly at: string;
}

/** Returns the value of a setting that may be a literal, or a source over what is known before the first request. */
export function contextValue(value: Json, { call, contexts, at }: ContextValueOptions): Json | undefined {
  if (!isSourceObject(value)) return value;
  return compiled(value, call, at).read({ contexts: () => contexts, here: () => undefined });
}

/**
 * Checks such a value before there is anything to read it from.
 *
 * @throws {JobError} for what is no such source
 * @throws {FunctionError} for a function that there is not
 */
export function checkContextValue(value: Json, at: string): void {
  if (isSourceObject(value)) compiled(value, createCaller(systemEnv, { placeholders: true }), at);
}

function compiled(value: Json, call: CallFunction, at: string): Source {
  return compileSource(value, { at, call, kinds: KINDS, invalid: jobError });
}
