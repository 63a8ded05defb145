import { entriesOf, getKey, isList, isObject, keysOf, objectOf, type Json } from '../../lib/json/index.ts';
import { FunctionError } from '../../lib/errors.ts';
import { isKind } from './kinds.ts';
import { invalidSetting } from './value-settings.ts';
import { needsOf, type CompileSource, type Read, type SourceOptions } from './types.ts';
import type { View } from './view.ts';

/** Result of a function that may still be raw bytes; another function makes text of them. */
type Value = Json | Uint8Array | undefined;

/** Compiled argument: `read` gives undefined where a source finds nothing. */
interface Argument {
  readonly needs: Read['needs'];
  /** True when it has a source in it. */
  readonly isRead: boolean;
  readonly read: (view: View) => Value;
}

/**
 * Compiles a call of the function language. Its arguments are sources, calls, or literal values: texts in `args` are
 * texts, objects that are sources are read.
 *
 * If every source in it finds nothing, the call gives nothing, unless its purpose is a replacement (`coalesce`, `if`).
 * If only some find nothing, those are null.
 */
export function compileCall(
  called: Json,
  args: Json | undefined,
  options: SourceOptions,
  compile: CompileSource,
): Read {
  const { at, call, invalid = invalidSetting } = options;
  if (call === undefined) throw invalid(`${at}.function`, 'Functions are not known here.');
  const argument = callOf(called, args, options, compile);
  return {
    text: `the function ${typeof called === 'string' ? called : ''}`.trimEnd(),
    needs: argument.needs,
    read(view) {
      const value = argument.read(view);
      if (!(value instanceof Uint8Array)) return value;
      throw new FunctionError('function.failed', 'A function gives raw bytes here, but text is needed', {
        where: { path: at },
        hint: 'Put base64_encode around it, or leave its last argument out.',
      });
    },
  };
}

function callOf(
  called: Json,
  args: Json | undefined,
  options: SourceOptions,
  compile: CompileSource,
): Argument {
  const { at, call, invalid = invalidSetting } = options;
  if (call === undefined) throw invalid(`${at}.function`, 'Functions are not known here.');
  const items = itemsOf(args, options).map(([item, place]) =>
    argumentOf(item, { ...options, at: place }, compile),
  );
  const name = call.check(called, items.length, at);
  const isRead = items.some((item) => item.isRead);
  const mayBeNothing = isRead && !call.takesNothing(name);
  return {
    needs: needsOf(items),
    isRead,
    read(view) {
      const values = items.map((item) => item.read(view));
      if (mayBeNothing && items.every((item, i) => !item.isRead || values[i] === undefined)) return undefined;
      return call(
        name,
        values.map((value) => value ?? null),
        at,
      );
    },
  };
}

function argumentOf(value: Json, options: SourceOptions, compile: CompileSource): Argument {
  const { at } = options;
  if (isList(value)) {
    const items = value.map((item, i) => argumentOf(item, { ...options, at: `${at}[${i}]` }, compile));
    return combined(items, (values) => values);
  }
  if (!isObject(value)) return { needs: needsOf([]), isRead: false, read: () => value };
  if (getKey(value, 'function') !== undefined && onlyCall(keysOf(value)))
    return callOf(getKey(value, 'function') ?? null, getKey(value, 'args'), options, compile);
  if (keysOf(value).some((key) => isKind(key) || key === 'function'))
    return { ...compile(value, options), isRead: true };
  const entries = entriesOf(value);
  const items = entries.map(([key, item]) => argumentOf(item, { ...options, at: `${at}.${key}` }, compile));
  return combined(items, (values) => objectOf(entries.map(([key], i) => [key, values[i] ?? null] as const)));
}

/** Combines arguments. Raw bytes exist only inside calls: a list or an object of them is not possible. */
function combined(items: readonly Argument[], make: (values: readonly Json[]) => Json): Argument {
  return {
    needs: needsOf(items),
    isRead: items.some((item) => item.isRead),
    read(view) {
      const values = items.map((item) => item.read(view));
      return make(values.map((value) => (value === undefined || value instanceof Uint8Array ? null : value)));
    },
  };
}

function onlyCall(keys: readonly string[]): boolean {
  return keys.every((key) => key === 'function' || key === 'args');
}

function itemsOf(
  args: Json | undefined,
  { at, invalid = invalidSetting }: SourceOptions,
): readonly (readonly [Json, string])[] {
  if (args === undefined || args === null) return [];
  if (isList(args)) return args.map((item, i) => [item, `${at}.args[${i}]`]);
  if (isObject(args)) return entriesOf(args).map(([key, item]) => [item, `${at}.args.${key}`]);
  throw invalid(`${at}.args`, '“args” must be a list.', 'Put the argument into a list: "args": ["…"].');
}
