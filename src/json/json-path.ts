import { createRequire } from 'node:module';
import type { JSONPath as JsonPathEvaluator } from 'jsonpath-plus';
import { ConfigError } from '../errors.ts';
import { entriesOf, getKey, isList, isObject, JsonNumber, type Json } from './value.ts';

/** True for a path that is JSONPath (RFC 9535): `$` followed by `.` or `[`. */
export function isJsonPath(path: string): boolean {
  return path.startsWith('$.') || path.startsWith('$[');
}

/**
 * What a JSONPath finds. A path to one place (`$.data.items`) gives the value there, or undefined; a path with
 * wildcards, slices or `..` gives the list of all values. Scripts and filters are not evaluated.
 *
 * @throws {ConfigError} when the path is not JSONPath, or has a script
 */
export function queryJsonPath(path: string, value: Json): Json | undefined {
  evaluator ??= (createRequire(import.meta.url)('jsonpath-plus') as { JSONPath: typeof JsonPathEvaluator })
    .JSONPath;
  const pointers = pointersOf(evaluator, path, value);
  if (!Array.isArray(pointers)) return isSingular(path) ? undefined : [];
  const found = pointers.map((pointer) => at(String(pointer), value));
  return isSingular(path) ? found[0] : found.map((item) => item ?? null);
}

function pointersOf(evaluate: typeof JsonPathEvaluator, path: string, value: Json): unknown {
  try {
    // The evaluator wants an object, and leaves any other value alone.
    return evaluate({ path, json: plainOf(value) as object, resultType: 'pointer', eval: false, wrap: true });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(
      'config.invalid',
      `The path “${path}” is not JSONPath that can be used here: ${reason}`,
      {
        cause,
        hint: 'Use names, indexes, wildcards, slices and “..”; filters and scripts are not evaluated.',
      },
    );
  }
}

// Loaded at the first path that needs it.
let evaluator: typeof JsonPathEvaluator | undefined;

function isSingular(path: string): boolean {
  const bare = path.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, "''");
  return !/\*|\.\.|\?\(|[,:]/.test(bare);
}

/** A copy without our own classes, for finding places in; the values are then taken from the original. */
function plainOf(value: Json): unknown {
  if (value instanceof JsonNumber) return value.value;
  if (isList(value)) return value.map(plainOf);
  if (isObject(value)) return Object.fromEntries(entriesOf(value).map(([key, item]) => [key, plainOf(item)]));
  return value;
}

/** The value at a JSON Pointer (RFC 6901). */
function at(pointer: string, value: Json): Json | undefined {
  let here: Json | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    here = isList(here) ? here[Number(key)] : isObject(here) ? getKey(here, key) : undefined;
  }
  return here;
}
