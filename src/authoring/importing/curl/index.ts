import {
  encodeExact,
  entriesOf,
  isList,
  isObject,
  objectOf,
  toText,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../../lib/json/index.ts';
import { ActionError } from '../../../lib/errors.ts';
import { readCurlCommand, type CurlCommand } from '../../actions/curl/command.ts';
import { configurationOf } from '../../init/configure.ts';
import { SecretStore } from '../../init/secret-store.ts';
import { targetOf, type FoundRequest } from '../../init/target.ts';
import type { Imported, ImportReason } from '../report.ts';
import { componentImport } from '../requests/component-import.ts';
import {
  jqPath,
  MARK,
  readLoop,
  UncertainScript,
  valuesOf,
  type LoopKind,
  type ShellLoop,
} from './shell-loop.ts';

export interface ImportScriptOptions {
  /** Name of the file in messages. */
  readonly file: string;
  readonly name: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Node = Readonly<Record<string, unknown>>;

/** Stands for it where only a number can: `{"page": $p}`. */
const NUMBER_MARK = '918273645546372819';

/** Imports a shell script with a loop around one curl command. */
export function importScript(text: string, { file, name, environment }: ImportScriptOptions): Imported {
  let loop: ShellLoop;
  try {
    loop = readLoop(text);
  } catch (error) {
    if (!(error instanceof UncertainScript)) throw error;
    return refused({ path: file, message: error.message, template: shown(error.line) }, { file, name });
  }
  const vault = new SecretStore(environment);
  const { isWhole, text: written } = wholeAddress(loop);
  let read: ReadCommand;
  try {
    read = readMarked(written, vault);
  } catch (error) {
    if (!(error instanceof ActionError)) throw error;
    const { message, hint } = error;
    const about = variablesIn(written)
      .map((variable) => ` $${variable} has no value here.`)
      .join('');
    const advice = hint === undefined ? '' : ` ${[hint].flat().join(' ')}`;
    return refused({ path: file, message: `${message}${about}${advice}` }, { file, name });
  }
  const { command, target, mark } = read;
  const notes = target.notes.filter((note) => !note.includes('is a variable of the shell'));
  for (const variable of command.variables.filter((each) => loop.computed.has(each)))
    notes.push(
      `$${variable} is set by another command of the script, which is not taken over: a run needs its value.`,
    );
  const more = loop.dropsLast
    ? ['The script leaves out the rows of the page that ends its loop, since it shows them behind the test.']
    : [];
  const columns: string[] = [];
  const reasons: ImportReason[] = [];
  const not = (message: string, template: string): void =>
    void reasons.push({ path: file, message, template });
  const rows = rowsOf(loop.rows, columns, not);
  const placed = isWhole
    ? { target, job: {}, pagination: nextAddress(loop, not) }
    : place(target, loop, mark, notes, not);
  if (loop.rows === undefined) columns.push('the script keeps whole answers; here their list becomes rows');
  const configuration = configurationOf(placed.target, {
    rows: objectOf(rows === undefined ? [] : [['dataField', rows]]),
    ...(placed.pagination === undefined ? {} : { pagination: exact(placed.pagination) }),
    job: Object.fromEntries(entriesOf(exact(placed.job))),
  });
  if (reasons.length === 0 && encodeExact(configuration).includes(mark))
    not('The loop puts its value where a configuration cannot', loop.variable);
  for (const variable of command.variables.filter((each) => isSent(configuration, each)))
    not(`$${variable} is a variable of the shell: put its value in its place`, variable);
  return componentImport(configuration, {
    source: file,
    name,
    stream: { reasons, columns, notes, more },
    variables: [...vault.missing, ...vault.unset],
  });
}

interface ReadCommand {
  readonly command: CurlCommand;
  readonly target: FoundRequest;
  /** Stands for the variable of the loop in it. */
  readonly mark: string;
}

/** Reads the command, with a number for the variable of the loop where a text cannot stand. */
function readMarked(text: string, vault: SecretStore): ReadCommand {
  const readWith = (mark: string): ReadCommand => {
    const command = readCurlCommand(text.replaceAll(MARK, mark));
    return { command, mark, target: targetOf(command, { auth: undefined, headers: [] }, vault) };
  };
  try {
    return readWith(MARK);
  } catch (error) {
    if (!(error instanceof ActionError) || !text.includes(MARK)) throw error;
    try {
      return readWith(NUMBER_MARK);
    } catch {
      throw error;
    }
  }
}

/** Puts the first address in place of a variable that is an address as a whole. */
function wholeAddress({ command, kind }: ShellLoop): { readonly isWhole: boolean; readonly text: string } {
  const word = new RegExp(`(^|\\s)(["']?)${MARK}\\2(?=\\s|$)`);
  const isWhole = kind.kind === 'token' && /^https?:/i.test(kind.first) && word.test(command);
  return {
    isWhole,
    text: isWhole ? command.replace(word, (_, space: string) => `${space}'${kind.first}'`) : command,
  };
}

function variablesIn(command: string): readonly string[] {
  return [...new Set([...command.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = '']) => name))];
}

/** Imports nothing, and says why. */
function refused(reason: ImportReason, { file, name }: Pick<ImportScriptOptions, 'file' | 'name'>): Imported {
  return {
    configuration: {
      name,
      configuration: { parameters: { api: { baseUrl: 'https://api.invalid/' } } },
      rows: [],
    },
    report: {
      source: file,
      streams: [{ stream: name, outcome: 'not', columns: [], reasons: [reason], notes: [] }],
      settings: [],
      notes: [],
    },
  };
}

/** Returns a line of the script without its command, which may have a login in it. */
function shown(line: string): string {
  return line.replace(/\bcurl\s[^]*/, 'curl …');
}

/** Tells whether a variable is sent as it is written; one that is a secret is asked for by its name. */
function isSent(configuration: AnyObject, variable: string): boolean {
  return new RegExp(`\\$(?:${variable}\\b|\\{${variable}\\b|%7B${variable}\\b)`).test(
    encodeExact(configuration),
  );
}

function exact(node: Node): AnyObject {
  const value: unknown = JSON.parse(JSON.stringify(node));
  // a map that was written as JSON is one
  return value as AnyObject;
}

type Not = (message: string, template: string) => void;

/** Reads where jq finds the rows: `.items[]`; what it makes of each is a matter of columns. */
function rowsOf(filter: string | undefined, columns: string[], not: Not): string | undefined {
  if (filter === undefined) return undefined;
  const [list = '', ...then] = filter.split('|').map((part) => part.trim());
  const path = list.endsWith('[]') ? jqPath(list === '.[]' ? '.' : list.slice(0, -2)) : jqPath(list);
  if (path === undefined) {
    not('A filter of jq that is no plain path', filter);
    return undefined;
  }
  for (const step of then) {
    if (/^\{[^()]*\}$|^\[[^()]*\](?:\s*)$|^@(?:csv|tsv|json)$/.test(step))
      columns.push(`jq makes ${step} of each row; here all of its fields are columns`);
    else if (jqPath(step) !== undefined && step !== '.')
      columns.push(`jq takes ${step} of each row; here all of its fields are columns`);
    else if (step !== '.') not('A filter of jq that changes which rows there are', filter);
  }
  return path;
}

function nextAddress({ kind }: ShellLoop, not: Not): Node | undefined {
  if (kind.kind === 'token' && /^https?:/i.test(kind.first))
    return { method: 'response.url', urlKey: kind.path };
  not('The loop puts whole addresses into the command that are not those of the answer', kind.kind);
  return undefined;
}

interface Placed {
  readonly target: FoundRequest;
  readonly job: Node;
  readonly pagination: Node | undefined;
}

/** Puts what the loop changes into the job: a pagination where it is a parameter, else a list of values. */
function place(
  target: FoundRequest,
  { kind, variable }: ShellLoop,
  mark: string,
  notes: string[],
  not: Not,
): Placed {
  const found = entriesOf(target.params).find(([, value]) => toText(value) === mark);
  const [param, value] = found ?? [];
  const isBody = target.method !== 'GET' && target.method !== 'FORM' && target.paramsIn !== 'query';
  const elsewhere =
    JSON.stringify(target.endpoint).includes(mark) ||
    encodeExact(target.params).split(mark).length > (param === undefined ? 1 : 2);
  if (kind.kind === 'token') {
    if (param === undefined || elsewhere) {
      not('The token stands in the path, or in a part of a value', variable);
      return { target, job: {}, pagination: undefined };
    }
    if (kind.first === '')
      notes.push(`The first request has an empty “${param}” in the script, and none here.`);
    const params =
      kind.first === '' ? withoutKey(target.params, param) : replaced(target.params, param, kind.first);
    return {
      target: { ...target, params },
      job: {},
      pagination: {
        method: 'response.param',
        responseParam: kind.path,
        queryParam: param,
        includeParams: true,
      },
    };
  }
  if (kind.kind === 'numbers' && param !== undefined && !elsewhere && isPaging(param, kind, target)) {
    if (isBody && typeof value === 'string')
      notes.push(`“${param}” is sent as a number, where the script sends a text.`);
    return {
      target: { ...target, params: withoutKey(target.params, param) },
      job: {},
      pagination: numbered(param, kind, notes),
    };
  }
  if (kind.kind === 'numbers' && kind.last === undefined) {
    not('Numbers without an end that are no page', variable);
    return { target, job: {}, pagination: undefined };
  }
  if (mark === NUMBER_MARK) {
    not('A number inside of the body, which would be sent as a text', variable);
    return { target, job: {}, pagination: undefined };
  }
  return {
    target: {
      ...target,
      endpoint: target.endpoint.replaceAll(mark, `{${variable}}`),
      params: mapped(target.params, `{${variable}}`),
      dataType: target.dataType.replaceAll(mark, variable),
    },
    job: { over: { [variable]: valuesOf(kind) } },
    pagination: undefined,
  };
}

/**
 * Tells whether numbers are those of pages, and no ids. Steps up to a known end are rows to skip only where the request
 * asks for as many rows: a page that is shorter than the step would else be taken for the last one.
 */
function isPaging(param: string, kind: LoopKind & { kind: 'numbers' }, { params }: FoundRequest): boolean {
  if (kind.step > 1 && kind.end === undefined)
    return entriesOf(params).some(([, value]) => toText(value) === String(kind.step));
  return kind.end !== undefined || kind.step > 1 || /page|^p$|^pg$|offset|skip|start|from|index/i.test(param);
}

function numbered(param: string, kind: LoopKind & { kind: 'numbers' }, notes: string[]): Node {
  const { first, step, last, end } = kind;
  const pages = last === undefined ? undefined : Math.floor((last - first) / step) + 1;
  if (pages !== undefined)
    notes.push(
      `The loop ends after ${pages} pages; here too, or at the first page without rows. Without “forceStop” all are read.`,
    );
  const limit = end?.kind === 'rows' && end.below > 1 ? { limit: end.below } : {};
  return {
    ...(step === 1
      ? { method: 'pagenum', firstPage: first, pageParam: param, limitParam: false, ...limit }
      : {
          method: 'offset',
          limit: step,
          limitParam: false,
          offsetParam: param,
          ...(first === 0 ? {} : { firstOffset: first }),
        }),
    ...(pages === undefined ? {} : { forceStop: { pages } }),
    ...(end?.kind === 'flag'
      ? { stopWhen: { value: end.path, is: 'in', than: [end.ends, String(end.ends)] } }
      : {}),
  };
}

function replaced(params: AnyObject, name: string, value: string): AnyObject {
  return objectOf(entriesOf(params).map(([key, item]) => [key, key === name ? value : item] as const));
}

function mapped(params: AnyObject, value: string): AnyObject {
  return objectOf(entriesOf(params).map(([key, item]) => [key, withValue(item, value)] as const));
}

function withValue(item: Json, value: string): Json {
  if (typeof item === 'string') return item.replaceAll(MARK, value);
  if (isList(item)) return item.map((each) => withValue(each, value));
  return isObject(item) ? mapped(item, value) : item;
}
