import { constant, TemplateError, type Expression } from './jinja/ast.ts';
import { mapParts } from './jinja/map-parts.ts';
import { pythonText } from '../../../lib/python-literal.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, shown } from './node.ts';
import { isPageToken, tokenInText, tokenUse, type TokenPlace } from './page-token.ts';
import {
  noteFixed,
  readAsText,
  requestPosition,
  translated,
  withSettings,
  type TemplateScope,
} from './scope.ts';
import type { TranslatedJson, TemplatePosition } from './translate/position.ts';
import { refuseFraction } from './translate/field-value.ts';
import { call, orNone, textOut } from './translate/out.ts';
import { valueOf } from './translate/value.ts';

/** The address of a request. */
export interface RequestAddress {
  readonly baseUrl: TranslatedJson;
  /** Relative to it, or a whole address. */
  readonly endpoint: TranslatedJson;
}

/** Stands for a base that can't be said; the stream is not taken over then. */
const UNKNOWN = 'https://unknown.invalid/';

/** Returns the address of a requester: `url_base` and `path`, or `url`. */
export function endpointOf(
  requester: ManifestComponent,
  scope: TemplateScope,
  tokens: TokenPlace[],
): RequestAddress {
  const { findings } = scope;
  const base = requester.get('url_base') ?? requester.get('url') ?? '';
  const baseKey = requester.get('url_base') === undefined ? 'url' : 'url_base';
  const path = requester.get('path') ?? '';
  const none: RequestAddress = { baseUrl: UNKNOWN, endpoint: 'unknown' };
  const baseOut = findings.attempt(requester.place(baseKey), base, () =>
    textOut(
      readAsText(
        requester.expression(base),
        translated(base, requester, scope, requestPosition(scope), (part) =>
          refuseFraction(withoutBreaks(part)),
        ),
        scope,
      ),
    ),
  );
  if (baseOut === undefined) return none;
  const pathOut = findings.attempt(requester.place('path'), path, () =>
    pathOf(path, requester, scope, tokens),
  );
  if (pathOut === undefined) return none;
  // without a base the path is the whole address
  const isWhole = typeof pathOut !== 'string' || /^https?:\/\//.test(pathOut);
  if (baseOut === '' && !isWhole) {
    findings.not(requester.place(baseKey), 'The address is missing');
    return none;
  }
  const sentPath = withoutGap(pathOut, scope, false);
  const address =
    baseOut === '' ? wholeAddress(sentPath) : joined(withoutGap(baseOut, scope, true), sentPath);
  if (address.baseUrl === UNKNOWN)
    findings.not(
      requester.place(baseKey),
      'The host depends on a row of the parent or a value of a list',
      shown(base),
    );
  return address;
}

function pathOf(
  path: ReturnType<ManifestComponent['get']> & {},
  requester: ManifestComponent,
  scope: TemplateScope,
  tokens: TokenPlace[],
): TranslatedJson {
  const expression = withSingleSlashes(withoutBreaks(withoutSlash(requester.expression(path))));
  const position = requestPosition(scope);
  if (isPageToken(expression)) return pathWithToken(expression, requester, position, tokens);
  try {
    const typed = readAsText(expression, valueOf(refuseFraction(expression), position), scope);
    return withoutLeadingSlash(orNone(textOut(typed)));
  } catch (error) {
    const fixed = error instanceof TemplateError ? withSettings(expression, requester, scope) : undefined;
    if (fixed === undefined) throw error;
    noteFixed(scope, path);
    return textOut(valueOf(refuseFraction(fixed), position));
  }
}

/** Returns a path with the token in it, or one that is the address of the next page, from the second page on. */
function pathWithToken(
  expression: Expression,
  requester: ManifestComponent,
  position: TemplatePosition,
  tokens: TokenPlace[],
): TranslatedJson {
  const fold = (part: Expression): Expression => requester.folded(part);
  const inText = tokenInText(expression, 'next_page', fold);
  if (inText !== undefined) {
    const first = valueOf(inText.first, position).out;
    tokens.push({ place: { path: 'next_page', ...(first === '' ? {} : { first }) } });
    return textOut(valueOf(inText.text, position));
  }
  const use = tokenUse(expression, { address: true }, fold);
  if (use.first === undefined) throw new TemplateError('a path that is nothing in the first request');
  tokens.push({ place: use.place, ...(use.with === undefined ? {} : { with: use.with }) });
  return textOut(valueOf(withoutSlash(use.first), position));
}

function withoutLeadingSlash(path: TranslatedJson): TranslatedJson {
  const [first, ...rest] = partsOf(path);
  return typeof first !== 'string' || !first.startsWith('/') || rest.length === 0
    ? path
    : call('concat', first.replace(/^\/+/, ''), ...rest);
}

/**
 * Leaves no empty part in an address: a setting between two slashes takes one of them along when it is not given, and one
 * in front of a slash may end in one of its own.
 */
function withoutGap(out: TranslatedJson, scope: TemplateScope, isBase: boolean): TranslatedJson {
  const parts = [...partsOf(out)];
  for (const [index, part] of parts.entries()) {
    const [before, next] = [parts[index - 1], parts[index + 1]];
    if (!isMap(part) || typeof part['attr'] !== 'string' || typeof next !== 'string' || !next.startsWith('/'))
      continue;
    if (isBase && index === 0) parts[index] = call('match', part, '(?s)^(.*?)/*$');
    else if (typeof before === 'string' && before.endsWith('/') && scope.settings.mayBeEmpty(part['attr'])) {
      parts[index] = call('if', call('is', part, 'notEmpty'), call('concat', part, '/'), '');
      parts[index + 1] = next.slice(1);
    }
  }
  const [only] = parts;
  return parts.length === 1 ? (only ?? '') : call('concat', ...parts);
}

/** Leaves out the line breaks and tabs that a template has between its parts, as Python does in an address. */
function withoutBreaks(expression: Expression): Expression {
  return inTexts(expression, (text) => text.replaceAll(/[\t\r\n]/g, ''));
}

/** Leaves one of several slashes in a path, as Python does where it joins it to a base. */
function withSingleSlashes(path: Expression): Expression {
  return inTexts(path, (text) => (text.includes('://') ? text : text.replace(/^[^?#]+/, collapsed)));
}

function collapsed(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/');
}

/** Changes the constant texts that an expression is made of. */
function inTexts(expression: Expression, change: (text: string) => string): Expression {
  switch (expression.kind) {
    case 'constant':
      return typeof expression.value === 'string' ? constant(change(expression.value)) : expression;
    case 'join':
    case 'choose':
      return mapParts(expression, (part) => inTexts(part, change));
    default:
      return expression;
  }
}

function withoutSlash(expression: Expression): Expression {
  if (expression.kind === 'constant') return constant(pythonText(expression.value).replace(/^\/+/, ''));
  if (expression.kind !== 'join') return expression;
  const [first, ...rest] = expression.parts;
  if (first?.kind !== 'constant') return expression;
  const text = pythonText(first.value).replace(/^\/+/, '');
  return { kind: 'join', parts: text === '' ? rest : [constant(text), ...rest] };
}

/** Joins base and path; a base that depends on the slice makes the whole address the endpoint. */
function joined(base: TranslatedJson, path: TranslatedJson): RequestAddress {
  if (path === '') return wholeAddress(base);
  if (dependsOnSlice(base))
    return {
      baseUrl: originOf(base),
      endpoint: call('concat', ...partsOf(withSlash(base)), ...partsOf(path)),
    };
  return { baseUrl: withSlash(base), endpoint: withBraces(path) };
}

/** Returns a path with placeholders in braces, such as `books/{id}`, if it contains only these and texts. */
function withBraces(path: TranslatedJson): TranslatedJson {
  const texts = partsOf(path).map((part) => {
    if (typeof part === 'string') return /[{}]/.test(part) ? undefined : part;
    return isMap(part) && typeof part['placeholder'] === 'string' ? `{${part['placeholder']}}` : undefined;
  });
  return texts.includes(undefined) ? path : texts.join('');
}

function wholeAddress(base: TranslatedJson): RequestAddress {
  if (typeof base !== 'string') return { baseUrl: originOf(base), endpoint: base };
  const slash = base.indexOf('/', base.indexOf('//') + 2);
  if (slash === -1) return { baseUrl: `${base}/`, endpoint: '/' };
  const end = base.split(/[?#]/, 1)[0]?.lastIndexOf('/') ?? slash;
  const endpoint = base.slice(end + 1);
  return endpoint === '' ? { baseUrl: base, endpoint: base } : { baseUrl: base.slice(0, end + 1), endpoint };
}

/**
 * Returns base and endpoint in one.
 *
 * @param names placeholders that stand in braces in the endpoint
 */
export function wholeEndpoint(
  { baseUrl, endpoint }: RequestAddress,
  names: readonly string[],
): TranslatedJson {
  const [first] = partsOf(endpoint);
  if (typeof first === 'string' && /^https?:\/\//.test(first)) return endpoint;
  if (JSON.stringify(baseUrl) === JSON.stringify(endpoint)) return endpoint;
  if (typeof endpoint === 'string' && endpoint.startsWith('/'))
    return typeof baseUrl === 'string' ? new URL(endpoint, baseUrl).href : endpoint;
  if (typeof baseUrl === 'string' && typeof endpoint === 'string') return baseUrl + endpoint;
  return call('concat', ...partsOf(baseUrl), ...partsOf(endpoint).flatMap((part) => inParts(part, names)));
}

/** Returns scheme and host of an address as far as they are said; the parts of an address from settings are in it. */
export function hostOf(out: TranslatedJson): { readonly key: string; readonly host?: string } {
  const parts: TranslatedJson[] = [];
  for (const part of partsOf(out)) {
    const isFirst = parts.length === 0;
    const end = typeof part === 'string' ? part.indexOf('/', isFirst ? part.indexOf('//') + 2 : 0) : -1;
    parts.push(typeof part === 'string' && end !== -1 ? part.slice(0, end) : part);
    if (end !== -1) break;
  }
  const [only] = parts;
  const host =
    parts.length === 1 && typeof only === 'string' ? /^https?:\/\/([^/?#{}]+)$/.exec(only)?.[1] : undefined;
  return { key: JSON.stringify(parts), ...(host === undefined ? {} : { host }) };
}

/** Returns the parts of a text around the placeholders in it. */
function inParts(part: TranslatedJson, names: readonly string[]): readonly TranslatedJson[] {
  if (typeof part !== 'string') return [part];
  return part
    .split(/\{([^{}]+)\}/)
    .map((text, index): TranslatedJson => {
      if (index % 2 === 0) return text;
      return names.includes(text) ? { placeholder: text } : `{${text}}`;
    })
    .filter((text) => text !== '');
}

/** Returns scheme and host of an address; the address itself if they cannot be found in it. */
function originOf(base: TranslatedJson): TranslatedJson {
  const [first] = partsOf(base);
  const origin = typeof first === 'string' ? /^https?:\/\/[^/]+\//.exec(first)?.[0] : undefined;
  if (origin !== undefined) return origin;
  // a host that is complete, and a path from elsewhere: a name that goes on would have a dot behind it
  const isHost =
    typeof first === 'string' &&
    /^https?:\/\/(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?$|^https?:\/\/[\w.-]+:\d+$/i.test(first);
  const next = partsOf(base)
    .slice(1)
    .find((part) => typeof part === 'string');
  if (isHost && (next === undefined || !/^[^/]*\./.test(next))) return `${first}/`;
  return dependsOnSlice(base) ? UNKNOWN : base;
}

function withSlash(base: TranslatedJson): TranslatedJson {
  if (typeof base === 'string') return base.endsWith('/') ? base : `${base}/`;
  const parts = partsOf(base);
  const last = parts.at(-1);
  if (typeof last === 'string')
    return last.endsWith('/') ? base : call('concat', ...parts.slice(0, -1), `${last}/`);
  const branches = branchesOf(base);
  if (branches !== undefined)
    return call('if', branches.test, withSlash(branches.yes), withSlash(branches.no));
  // a setting may end in a slash of its own
  return call('concat', call('match', base, '(?s)^(.*?)/*$'), '/');
}

/** Returns the parts of a choice between texts that are known. */
function branchesOf(
  out: TranslatedJson,
): { readonly test: TranslatedJson; readonly yes: string; readonly no: string } | undefined {
  if (!isMap(out) || out['function'] !== 'if' || !Array.isArray(out['args'])) return undefined;
  const [test, yes, no] = out['args'] as readonly (TranslatedJson | undefined)[];
  return test !== undefined && typeof yes === 'string' && typeof no === 'string'
    ? { test, yes, no }
    : undefined;
}

export function partsOf(out: TranslatedJson): readonly TranslatedJson[] {
  return isMap(out) && out['function'] === 'concat' && Array.isArray(out['args'])
    ? (out['args'] as readonly TranslatedJson[])
    : [out];
}

function dependsOnSlice(out: TranslatedJson): boolean {
  return /"(?:placeholder|parent|window|state)":/.test(JSON.stringify(out));
}
