import { RunError } from '../../../lib/errors.ts';
import { PythonReader } from './python/read-python.ts';
import { Code, valueOfJson, ValueMap, type Value } from './value.ts';

/** The configurations of sources, as they are written. */
export interface FoundSources {
  readonly sources: readonly ValueMap[];
  /** What is given to a source and can't be read. */
  readonly strange: readonly { readonly value: Value; readonly line: number }[];
  /** Why nothing of it can be relied on: code changes it after it was written. */
  readonly changes: readonly string[];
}

/**
 * Finds the dictionaries of `rest_api` sources: a JSON file that is one, or those that a Python file gives to
 * `rest_api_source(…)` or `rest_api_resources(…)`, or writes as a `RESTAPIConfig`. The file is only read.
 *
 * @throws {RunError} `import.invalid`
 */
export function findSources(text: string, file: string): FoundSources {
  return /^\s*[[{]/.test(text) && !/\.pyw?$/i.test(file) ? inJson(text, file) : inPython(text, file);
}

function inJson(text: string, file: string): FoundSources {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalid(
      file,
      `The file is not JSON: ${cause instanceof Error ? cause.message : ''}`,
      undefined,
      cause,
    );
  }
  const value = valueOfJson(json);
  if (!isSource(value)) throw invalid(file, 'The file is no configuration of a REST API source.');
  return { sources: [value], strange: [], changes: [] };
}

function inPython(text: string, file: string): FoundSources {
  const reader = new PythonReader(text, file);
  const { tokens } = reader;
  const found: { readonly value: Value; readonly line: number }[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'name') continue;
    const isCall =
      /^(?:rest_api_source|rest_api_resources|rest_api)$/.test(token.text) && tokens[i + 1]?.text === '(';
    const isDefined = tokens[i - 1]?.text === 'def';
    if (isCall && !isDefined) found.push({ value: argument(reader, i + 2), line: token.line });
  }
  // a file may only write the dictionary, and another one give it to the source
  if (found.length === 0) {
    for (const [i, token] of tokens.entries())
      if (token.text === 'RESTAPIConfig' && tokens[i + 1]?.text === '=')
        found.push({ value: reader.expressionAt(i + 2), line: token.line });
  }
  if (found.length === 0)
    throw invalid(
      file,
      'There is no REST API source in the file.',
      'It is looked for as the dictionary that is given to rest_api_source(…) or rest_api_resources(…), or is written as a RESTAPIConfig.',
    );
  const sources = found.flatMap(({ value }) => (isSource(value) ? [value] : []));
  const strange = found.flatMap(({ value, line }) => (isSource(value) ? [] : [{ value, line }]));
  const [odd] = strange;
  if (sources.length === 0 && odd !== undefined)
    throw invalid(
      file,
      odd.value instanceof Code
        ? `The source in line ${odd.line} is made by code: ${odd.value.text}`
        : `What is given to the source in line ${odd.line} is no dictionary with “client” and “resources”.`,
      'Only a dictionary that is written out can be read: nothing of the file is run. Print the one that the code makes as JSON, and import that.',
    );
  return {
    sources,
    strange,
    changes: reader.changes().map(({ name, line }) => `Line ${line} changes “${name}” by code.`),
  };
}

/** The first argument, or the one called `config`; `rest_api` takes the keys themselves. */
function argument(reader: PythonReader, index: number): Value {
  const call = reader.expressionAt(index - 2);
  if (typeof call !== 'object' || call === null || !('keywords' in call)) return reader.expressionAt(index);
  const [first] = call.args;
  return first ?? call.keywords.get('config') ?? call.keywords;
}

function isSource(value: Value): value is ValueMap {
  return (
    value instanceof ValueMap && value.get('client') !== undefined && value.get('resources') !== undefined
  );
}

function invalid(file: string, message: string, hint?: string, cause?: unknown): RunError {
  return new RunError('import.invalid', message, {
    where: { file },
    hint,
    ...(cause === undefined ? {} : { cause }),
  });
}
