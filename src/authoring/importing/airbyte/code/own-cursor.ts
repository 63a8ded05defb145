import type { ManifestComponent } from '../component.ts';
import type { TemplateScope } from '../scope.ts';
import { bySettings, REQUEST_METHODS } from './as-base.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject } from './code-object.ts';
import type { BaseClass } from './code-run.ts';
import { CodeRefused } from './refused.ts';
import type { CodeValue } from './values.ts';

/** Tells if a class of Python is a cursor with a state of its own. */
export function keepsOwnState({ bases }: CodeClass): boolean {
  const [base = '', ...others] = bases;
  return base.endsWith('.DeclarativeCursor') && others.length === 0;
}

const BASE: BaseClass = { method: () => undefined, attribute: () => undefined };

/**
 * Checks that a cursor of Python asks for all rows at once by itself: one empty slice, and no parts of the request.
 * Templates alone read its state then.
 *
 * @throws {CodeRefused} for code that does anything else
 */
export function asksForAll(type: CodeClass, cursor: ManifestComponent, scope: TemplateScope): true {
  const object = new CodeObject(type, cursor, BASE, bySettings(scope));
  const names = ['stream_state', 'stream_slice', 'next_page_token'];
  const named = new Map(names.map((name): [string, CodeValue] => [name, { kind: 'given', name }]));
  for (const name of REQUEST_METHODS) {
    const method = type.methods.get(name);
    const part = method === undefined ? undefined : object.call(method, { positional: [], named });
    if (part !== undefined && (part.kind !== 'dict' || part.entries.size > 0))
      throw object.refused(method?.node, 'parts of the request');
  }
  const slices = type.methods.get('stream_slices');
  if (slices === undefined)
    throw new CodeRefused(`${type.module.path}: ${type.name} without “stream_slices”`);
  object.yielded.length = 0;
  object.call(slices, { positional: [], named: new Map() });
  const [only, ...more] = object.yielded;
  const parts = only?.value.kind === 'dict' && !only.isAll ? [...only.value.entries.values()] : undefined;
  const isEmpty = parts?.every((part) => part.kind === 'dict' && part.entries.size === 0) === true;
  if (!isEmpty || more.length > 0) throw object.refused(slices.node, 'slices of its own');
  return true;
}
