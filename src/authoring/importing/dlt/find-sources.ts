import { RunError } from '../../../lib/errors.ts';
import { readYaml } from '../airbyte/read-yaml.ts';
import { PythonFile, type PythonNode } from '../python/python-file.ts';
import { PythonReader } from './python/read-python.ts';
import { NO_USES, type SourceUses, usesOf } from './python/source-uses.ts';
import { PythonCall, Code, valueOfJson, ValueMap, type Value } from './value.ts';

/** The configurations of sources, as they are written. */
export interface FoundSources {
  readonly sources: readonly ValueMap[];
  /** Arguments of sources that can't be read. */
  readonly strange: readonly { readonly value: Value; readonly line: number }[];
  /** Changes by code after it was written, so that nothing of it can be relied on. */
  readonly changes: readonly string[];
  /** Use of the sources by the code of the file. */
  readonly uses: SourceUses;
}

/**
 * Finds the dictionaries of `rest_api` sources: a JSON or YAML file that is one, or those that a Python file gives to
 * `rest_api_source(…)` or `rest_api_resources(…)`, or writes as a `RESTAPIConfig`. The file is only read.
 *
 * @throws {RunError} `import.invalid`
 */
export function findSources(text: string, file: string): FoundSources {
  if (/\.ya?ml$/i.test(file)) return inYaml(text, file);
  return /^\s*[[{]/.test(text) && !/\.pyw?$/i.test(file) ? inJson(text, file) : inPython(text, file);
}

function inJson(text: string, file: string): FoundSources {
  let value: Value;
  try {
    value = valueOfJson(JSON.parse(text));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : '';
    const message =
      cause instanceof RangeError
        ? 'The JSON of the file is nested too deep.'
        : `The file is not JSON: ${reason}`;
    throw invalid(file, message, undefined, cause);
  }
  if (!isSource(value)) throw invalid(file, 'The file is no configuration of a REST API source.');
  return { sources: [value], strange: [], changes: [], uses: NO_USES };
}

/** Finds the sources of a YAML file: it is one, or has some by their names under `sources`. */
function inYaml(text: string, file: string): FoundSources {
  const value = valueOfJson(readYaml(text, file));
  const named = value instanceof ValueMap ? value.get('sources') : undefined;
  const all = isSource(value) ? [value] : named instanceof ValueMap ? [...named.entries.values()] : [];
  const sources = all.filter((each) => isSource(each));
  if (sources.length === 0) throw invalid(file, 'The file is no configuration of a REST API source.');
  return { sources, strange: [], changes: [], uses: NO_USES };
}

function inPython(text: string, file: string): FoundSources {
  const python = new PythonFile(text, file);
  const reader = new PythonReader(python);
  const isSourceCall = ({ firstChild }: PythonNode): boolean =>
    firstChild !== null &&
    /^(?:.*\.)?(?:rest_api_source|rest_api_resources|rest_api)$/.test(python.path(firstChild) ?? '');
  const calls = python.nodes('CallExpression').filter(isSourceCall);
  // a file may only write the dictionary, and another one give it to the source
  const values =
    calls.length > 0 ? calls : python.nodes('AssignOp').flatMap((sign) => annotated(sign, python));
  const found = values.map((node) => ({
    value: argument(reader.read(node)),
    line: python.place(node.from).line,
  }));
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
    uses: usesOf(python, reader, calls),
  };
}

/** Returns the value of `name: RESTAPIConfig = value`. */
function annotated({ prevSibling, nextSibling }: PythonNode, python: PythonFile): readonly PythonNode[] {
  const isConfig = prevSibling !== null && /\bRESTAPIConfig$/.test(python.text(prevSibling));
  return isConfig && nextSibling !== null ? [nextSibling] : [];
}

/** Returns the first argument, or the one called `config`; `rest_api` takes the keys themselves. */
function argument(value: Value): Value {
  if (!(value instanceof PythonCall)) return value;
  const [first] = value.args;
  return first ?? value.keywords.get('config') ?? value.keywords;
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
