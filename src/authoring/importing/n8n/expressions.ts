type Node = Readonly<Record<string, unknown>>;

/** An expression of the other tool that has no counterpart. */
export class UnknownExpression extends Error {
  readonly expression: string;
  constructor(expression: string) {
    super('an expression without a counterpart');
    this.expression = expression;
  }
}

/**
 * Reads a parameter of a node: a text, or an expression of texts, numbers and variables of the environment.
 *
 * @param variable gives the reference to a variable
 * @throws {UnknownExpression} for one that needs anything else
 */
export function readText(value: unknown, variable: (name: string) => unknown): unknown {
  if (typeof value !== 'string') return typeof value === 'number' ? String(value) : value;
  if (!value.startsWith('=')) return value;
  const parts = value
    .slice(1)
    .split(/(\{\{.*?\}\})/s)
    .filter((part) => part !== '');
  const out = parts.map((part) => {
    const code = /^\{\{(.*)\}\}$/s.exec(part)?.[1]?.trim();
    if (code === undefined) return part;
    const literal = /^(?:(['"])((?:(?!\1)[^\\])*)\1|(-?\d+(?:\.\d+)?))$/.exec(code);
    if (literal !== null) return literal[2] ?? literal[3] ?? '';
    const name = /^\$(?:env|vars)(?:\.(\w+)|\[(['"])(\w+)\2\])$/.exec(code);
    if (name === null) throw new UnknownExpression(value);
    return variable(name[1] ?? name[3] ?? '');
  });
  const [only] = out;
  if (out.length < 2) return only ?? '';
  return out.every((part) => typeof part === 'string') ? out.join('') : { function: 'concat', args: out };
}

/** Returns the code of an expression that is nothing else; undefined for a text. */
export function codeOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  return /^=\s*\{\{((?:(?!\}\}).)*)\}\}\s*$/s.exec(value)?.[1]?.trim();
}

/** Reads a place of the answer, as `$response.body.meta.next` or `$response.headers["x-next"]`. */
export function readSource(code: string): Node | undefined {
  const match =
    /^\$response\??\.(body|headers)((?:\??\.[A-Za-z_$][\w$]*|(?:\?\.)?\[(?:'[^']+'|"[^"]+"|\d+)\])*)$/.exec(
      code.trim(),
    );
  if (match === null) return undefined;
  const keys = [...(match[2] ?? '').matchAll(/\.([A-Za-z_$][\w$]*)|\[(?:'([^']+)'|"([^"]+)"|(\d+))\]/g)].map(
    ([, name, one, two, index]) => name ?? one ?? two ?? index ?? '',
  );
  if (match[1] === 'headers') {
    const [name] = keys;
    return keys.length === 1 && name !== undefined ? { header: name } : undefined;
  }
  return {
    path: keys.some((key) => key.includes('.'))
      ? `$${keys.map((key) => `['${key}']`).join('')}`
      : keys.join('.') || '.',
  };
}

/** A number that is worked out from how many pages came: `$pageCount * step + first`. */
export interface PageNumber {
  readonly first: number;
  readonly step: number;
}

/** Reads such a number, as `$pageCount + 1` or `$pageCount * 100`. */
export function readPageNumber(code: string): PageNumber | undefined {
  const plain = code.replace(/\s+/g, '');
  const match =
    /^\$pageCount(?:\*(\d+))?(?:\+(\d+))?$/.exec(plain) ??
    /^(?:(\d+)\*)?\$pageCount(?:\+(\d+))?$/.exec(plain) ??
    /^(?:(\d+)\+)\$pageCount()$/.exec(plain)?.slice(0);
  if (match === undefined || match === null) {
    const added = /^\(\$pageCount\+(\d+)\)\*(\d+)$/.exec(plain);
    return added === null
      ? undefined
      : { first: Number(added[1]) * Number(added[2]), step: Number(added[2]) };
  }
  if (/^\d+\+/.test(plain)) return { first: Number(match[1]), step: 1 };
  return { first: Number(match[2] ?? 0), step: Number(match[1] ?? 1) };
}

/**
 * Reads when the pages end, by the answer or the number of pages.
 *
 * @returns conditions of which one holds; pages, where their number ends them
 * @throws {UnknownExpression}
 */
export function readCompletion(code: string): {
  readonly stopWhen: readonly Node[];
  readonly pages?: number;
} {
  const stopWhen: Node[] = [];
  let pages: number | undefined;
  for (const part of code.split('||').map((text) => unwrapped(text.trim()))) {
    const count = /^\$pageCount\s*(>=|>|===?)\s*(\d+)$/.exec(part);
    if (count !== null) pages = Number(count[2]) + (count[1] === '>' ? 1 : 0);
    else stopWhen.push(...conditionsIn(part));
  }
  return { stopWhen, ...(pages === undefined ? {} : { pages }) };
}

function unwrapped(text: string): string {
  return /^\([^()]*\)$/.test(text) ? text.slice(1, -1).trim() : text;
}

function conditionsIn(code: string): readonly Node[] {
  const length = /^(.+?)(?:\?)?\.length\s*(?:===?\s*(0)|<\s*(\d+))$/.exec(code);
  if (length !== null) {
    const source = sourceOf(length[1] ?? '', code);
    const below = Number(length[3] ?? 1);
    const [path] = [source['path']];
    return below === 1
      ? [{ value: source, is: 'empty' }]
      : [{ value: { function: 'length', args: [{ response: path }] }, is: 'below', than: below }];
  }
  const empty = /^(.+?)\??\.isEmpty\(\)$/.exec(code) ?? /^!\s*(.+?)\??\.length$/.exec(code);
  if (empty !== null) return [{ value: sourceOf(empty[1] ?? '', code), is: 'empty' }];
  if (code.startsWith('!') && !code.startsWith('!=')) {
    const value = sourceOf(unwrapped(code.slice(1).trim()), code);
    return [
      { value, is: 'empty' },
      { value, is: 'in', than: [false, 0] },
    ];
  }
  const compared = /^(.+?)\s*(===?|>=|<=|>|<)\s*(.+)$/.exec(code);
  if (compared === null) return [{ value: sourceOf(code, code), is: 'true' }];
  const [, left = '', sign = '', right = ''] = compared;
  const value = sourceOf(left, code);
  if (/^(?:null|undefined)$/.test(right)) return [{ value, is: 'absent' }];
  if (right === '""' || right === "''") return [{ value, is: 'empty' }];
  const literal = /^(?:(true|false)|(-?\d+(?:\.\d+)?)|(['"])(.*)\3)$/.exec(right);
  const than =
    literal === null
      ? sourceOf(right, code)
      : literal[1] === undefined
        ? literal[2] === undefined
          ? literal[4]
          : Number(literal[2])
        : literal[1] === 'true';
  if (sign.startsWith('=='))
    return [typeof than === 'object' ? { value, is: 'equals', than } : { value, is: 'in', than: [than] }];
  return [{ value, is: { '>=': 'atLeast', '<=': 'atMost', '>': 'above', '<': 'below' }[sign], than }];
}

function sourceOf(code: string, whole: string): Node {
  const source = readSource(code);
  if (source === undefined) throw new UnknownExpression(whole);
  return source;
}
