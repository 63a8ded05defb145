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
import { readCurlCommand } from '../../actions/curl/command.ts';
import { configurationOf } from '../../init/configure.ts';
import { SecretStore } from '../../init/secret-store.ts';
import { targetOf, type FoundRequest } from '../../init/target.ts';
import type { Imported, ImportReason } from '../report.ts';
import { componentImport } from '../requests/component-import.ts';
import { jqPath, readLoop, UncertainScript, valuesOf, type LoopKind, type ShellLoop } from './shell-loop.ts';

export interface ImportScriptOptions {
  /** Name of the file in messages. */
  readonly file: string;
  readonly name: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Node = Readonly<Record<string, unknown>>;

/** Stands for the variable of the loop while the command is read. */
const MARK = 'gexloopvalue';

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
  const marked = loop.command.replaceAll(`\${${loop.variable}}`, MARK);
  // an address that a variable holds whole
  const isWhole = new RegExp(`(?:^|\\s)["']?${MARK}["']?(?:\\s|$)`).test(marked);
  const first = loop.kind.kind === 'token' ? loop.kind.first : '';
  const command = readCurlCommand(isWhole ? marked.replace(MARK, first) : marked);
  let target: FoundRequest;
  try {
    target = targetOf(command, { auth: undefined, headers: [] }, vault);
  } catch (error) {
    if (!(error instanceof ActionError)) throw error;
    const { message, hint } = error;
    const about = command.variables.map((variable) => ` $${variable} has no value here.`).join('');
    const advice = hint === undefined ? '' : ` ${[hint].flat().join(' ')}`;
    return refused({ path: file, message: `${message}${about}${advice}` }, { file, name });
  }
  const notes = target.notes.filter((note) => !note.includes('is a variable of the shell'));
  for (const variable of command.variables.filter((each) => loop.computed.has(each)))
    notes.push(
      `$${variable} is set by another command of the script, which is not taken over: a run needs its value.`,
    );
  const columns: string[] = [];
  const reasons: ImportReason[] = [];
  const not = (message: string, template: string): void =>
    void reasons.push({ path: file, message, template });
  const rows = rowsOf(loop.rows, columns, not);
  const placed = isWhole
    ? { target, job: {}, pagination: nextAddress(loop, not) }
    : place(target, loop, notes, not);
  if (loop.rows === undefined) columns.push('the script keeps whole answers; here their list becomes rows');
  const configuration = configurationOf(placed.target, {
    rows: objectOf(rows === undefined ? [] : [['dataField', rows]]),
    ...(placed.pagination === undefined ? {} : { pagination: exact(placed.pagination) }),
    job: Object.fromEntries(entriesOf(exact(placed.job))),
  });
  for (const variable of command.variables.filter((each) => isSent(configuration, each)))
    not(`$${variable} is a variable of the shell: put its value in its place`, variable);
  return componentImport(configuration, {
    source: file,
    name,
    stream: { reasons, columns, notes },
    variables: [...vault.missing, ...vault.unset],
  });
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
function place(target: FoundRequest, { kind, variable }: ShellLoop, notes: string[], not: Not): Placed {
  const found = entriesOf(target.params).find(([, value]) => toText(value) === MARK);
  const [param] = found ?? [];
  const elsewhere =
    JSON.stringify(target.endpoint).includes(MARK) ||
    encodeExact(target.params).split(MARK).length > (param === undefined ? 1 : 2);
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
  if (kind.kind === 'numbers' && param !== undefined && !elsewhere && isPaging(param, kind)) {
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
  return {
    target: {
      ...target,
      endpoint: target.endpoint.replaceAll(MARK, `{${variable}}`),
      params: mapped(target.params, `{${variable}}`),
      dataType: target.dataType.replaceAll(MARK, variable),
    },
    job: { over: { [variable]: valuesOf(kind) } },
    pagination: undefined,
  };
}

/** Tells whether numbers are those of pages, and no ids. */
function isPaging(param: string, kind: LoopKind & { kind: 'numbers' }): boolean {
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
