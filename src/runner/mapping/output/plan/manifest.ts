import { readFileSync, statSync } from 'node:fs';
import type { Static, TObject } from 'typebox';
import { isObject, JsonSyntaxError, keysOf, parseExact, type Json } from '../../../../lib/json/index.ts';
import { nearest } from '../../../../lib/suggest.ts';
import { shapeOf } from '../../shape.ts';
import type { OutputProblem } from './problems.ts';
import { reasonOf } from '../../../../lib/errors.ts';

/** The longest manifest that is read: 5,000 columns with all their metadata are far below. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Problems found while reading, and warnings for the log. */
export interface OutputFindings {
  readonly problems: OutputProblem[];
  readonly warnings: string[];
}

/** Reads a manifest by its schema; undefined when there is none, or when it cannot be read. */
export function readManifest<S extends TObject>(
  schema: S,
  file: string | undefined,
  findings: OutputFindings,
): Static<S> | undefined {
  if (file === undefined) return undefined;
  const json = jsonAt(file, findings.problems);
  if (json === undefined) return undefined;
  const shaped = shapeOf(schema, json);
  if ('misfits' in shaped) {
    for (const { path, message } of shaped.misfits)
      findings.problems.push({
        message: `The manifest ${message}.`,
        where: path === '' ? { file } : { file, path },
      });
    return undefined;
  }
  if (isObject(json)) findings.warnings.push(...misspelt(keysOf(json), Object.keys(schema.properties), file));
  return shaped.value;
}

function jsonAt(file: string, problems: OutputProblem[]): Json | undefined {
  try {
    if (statSync(file).size > MAX_BYTES) {
      problems.push({ message: 'The manifest is longer than 16 MiB.', where: { file } });
      return undefined;
    }
    return parseExact(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      const { line, column } = error;
      problems.push({
        message: `The manifest is no JSON: ${error.message}.`,
        where: { file, line, column },
      });
    } else
      problems.push({
        message: `The manifest cannot be read: ${reasonOf(error)}.`,
        where: { file },
      });
    return undefined;
  }
}

function misspelt(keys: readonly string[], known: readonly string[], file: string): string[] {
  return keys.flatMap((key) => {
    const meant = known.includes(key) ? undefined : nearest(key, known);
    return meant === undefined
      ? []
      : [`${file}: “${key}” is not known and is ignored. Did you mean “${meant}”?`];
  });
}
