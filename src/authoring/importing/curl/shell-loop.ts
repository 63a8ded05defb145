/** A loop of a shell script around one curl command. */
export interface ShellLoop {
  /** The command, with {@link MARK} where the loop puts its values. */
  readonly command: string;
  readonly variable: string;
  readonly kind: LoopKind;
  /** The script leaves out the rows of the page that ends the loop: its test stands before they are shown. */
  readonly dropsLast: boolean;
  /** Filter of jq behind the command that gives the rows, where there is one. */
  readonly rows: string | undefined;
  /** Variables that another command sets before the loop. */
  readonly computed: ReadonlySet<string>;
}

/** Stands for the variable of the loop while the command is read. */
export const MARK = 'gexloopvalue';

export type LoopKind =
  /** The values are written out. */
  | { readonly kind: 'values'; readonly values: readonly string[] }
  /** Numbers from one on; `last` where the loop knows the end. */
  | {
      readonly kind: 'numbers';
      readonly first: number;
      readonly step: number;
      readonly last?: number;
      readonly end?: PagesEnd;
    }
  /** A value of the answer goes into the next request. */
  | { readonly kind: 'token'; readonly path: string; readonly first: string };

/** How the answer ends a loop of numbers. */
export type PagesEnd =
  | { readonly kind: 'rows'; readonly below: number }
  | { readonly kind: 'flag'; readonly path: string; readonly ends: boolean };

/** A script, or a part of it, whose meaning is not certain. */
export class UncertainScript extends Error {
  readonly line: string;
  constructor(message: string, line: string) {
    super(message);
    this.line = line.trim();
  }
}

/**
 * Reads a script with one loop around one curl command.
 *
 * @throws {UncertainScript} for one that does anything else than is known
 */
export function readLoop(script: string): ShellLoop {
  const text = script
    .replace(/\\\r?\n/g, ' ')
    .replace(/^#!.*$/m, '')
    .replace(/^\s*#.*$/gm, '');
  const found =
    /(?:^|[\n;])\s*(for|while|until)\s+(\(\([^\n]*?\)\)|[^\n;]*?)\s*[;\n]\s*do\b([\s\S]*?)[\n;]\s*done\b/.exec(
      text,
    );
  if (found === null)
    throw new UncertainScript(
      'There is no loop “for … do … done” or “while … do … done”, and so no word of further pages: gex init looks for them, and takes the command or this file',
      text,
    );
  const [, word = '', head = '', body = ''] = found;
  const other = /^.*\b(?:continue|eval|case|function|until|while|for)\b.*$/m.exec(body)?.[0];
  if (other !== undefined) throw new UncertainScript('The loop does more than is known', other);
  const exits = /(?:\[|\(\()(?:(?!\$\?)[^\n])*?(?:\]|\)\))\s*(?:&&|;?\s*then)\s*(?:exit|return)\b.*/.exec(
    body,
  )?.[0];
  if (exits !== undefined) throw new UncertainScript('The script ends in the loop', exits);
  if (word === 'for' && /\{[^}]*\$/.test(head))
    throw new UncertainScript('The shell counts to no variable in braces: write $(seq 1 $n)', head);
  const { at, command: written, answer, behind } = commandIn(body);
  const before = text.slice(0, found.index);
  requireAlone(before, text.slice(found.index + found[0].length), body.slice(0, at));
  const constant = (name: string): string | undefined => constantOf(name, before, body);
  const command = expanded(written, constant);
  const parts = { before, body, at, answer, command };
  const known = withBareConstants(expanded(head, constant), constant);
  const loop = word === 'for' ? forLoop(known, parts) : whileLoop(word, known, parts);
  const name = loop.variable;
  const marked = expanded(command, (each) => (each === name ? MARK : undefined));
  if (!marked.includes(MARK))
    throw new UncertainScript(`The command has no $${name}, which the loop sets`, command);
  return {
    ...loop,
    command: marked,
    dropsLast: dropsLast(loop.kind, body, answer),
    rows: rowsFilter(behind, body, answer),
    computed: new Set(
      [...before.matchAll(/(?:^|[\n;])\s*(?:export\s+)?(\w+)="?(?:\$\(|`)/g)].map(([, each = '']) => each),
    ),
  };
}

/** @throws {UncertainScript} where there are other requests, or the one of the loop is not made each time */
function requireAlone(before: string, behind: string, within: string): void {
  const other = /^.*\bcurl\s.*$/m.exec(behind)?.[0] ?? /(?:^|[\n;|&])\s*curl\s.*$/m.exec(before)?.[0];
  if (other !== undefined)
    throw new UncertainScript('There is another curl command outside of the loop', other);
  const [ifs, ends] = [/(?:^|[\n;])\s*if\s/g, /(?:^|[\n;])\s*fi\b/g].map(
    (word) => [...within.matchAll(word)].length,
  );
  const statement = within.split(/[\n;]/).at(-1) ?? '';
  // what is tested is the request itself: `if ! answer=$(curl …); then exit 1; fi`
  const isTested = /^\s*if\s+(?:!\s*)?(?:\w+="?\$\(\s*)?$/.test(statement);
  if ((ifs ?? 0) - (ends ?? 0) > (isTested ? 1 : 0) || /\b(?:then|else)\b|&&|\|\|/.test(statement))
    throw new UncertainScript('The request is made under a condition', statement);
}

/** Tells whether the rows of the last page are left out: a test that ends the loop stands before they are shown. */
function dropsLast(kind: LoopKind, body: string, answer: string | undefined): boolean {
  const isOfRows = kind.kind === 'token' || (kind.kind === 'numbers' && kind.end !== undefined);
  if (answer === undefined || !isOfRows) return false;
  if (kind.kind === 'numbers' && kind.end?.kind === 'rows' && kind.end.below <= 1) return false;
  const shown = new RegExp(
    `(?:^|[\\n;])\\s*(?:echo|printf\\s+\\S+|jq[^\\n]*<<<)\\s+"?\\$\\{?${answer}\\b`,
  ).exec(body)?.index;
  const ends = /\bbreak\b/.exec(body)?.index;
  return shown !== undefined && ends !== undefined && ends < shown;
}

/** Puts numbers in place of names without a sign, as arithmetic has them: `((p=1; p<=total; p++))`. */
function withBareConstants(head: string, constant: (name: string) => string | undefined): string {
  if (!head.trim().startsWith('((')) return head;
  return head.replace(/([<>]=?\s*)([A-Za-z_]\w*)/g, (all, sign: string, name: string) => {
    const value = constant(name);
    return value === undefined || !/^\d+$/.test(value) ? all : `${sign}${value}`;
  });
}

/**
 * Puts values in place of variables where the shell does: not in single quotes, and not behind a backslash.
 *
 * @param valueOf value of a variable; undefined to leave it
 */
function expanded(command: string, valueOf: (name: string) => string | undefined): string {
  let made = '';
  let quote = '';
  for (let at = 0; at < command.length;) {
    const sign = command[at] ?? '';
    if (sign === quote) quote = '';
    else if (quote === '' && (sign === '"' || sign === "'")) quote = sign;
    const [part = sign, plain, braced] =
      (quote === "'" ? null : /^(?:\\.|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\}))/.exec(command.slice(at))) ??
      [];
    const name = plain ?? braced;
    made += name === undefined ? part : (valueOf(name) ?? part);
    at += part.length;
  }
  return made;
}

/** Returns the text of a variable that nothing else sets. */
function constantOf(name: string, before: string, body: string): string | undefined {
  const set = new RegExp(
    `\\b${name}\\+?=|\\b(?:read|for|let)\\s[^\\n;]*\\b${name}\\b|\\(\\([^\\n)]*\\b${name}\\b`,
    'g',
  );
  if ([...`${before}\n${body}`.matchAll(set)].length !== 1) return undefined;
  const value = valueBefore(before, name);
  // any other sign may have a meaning of its own where it is put
  return value !== undefined && /^[\w./:@%+=,~-]+$/.test(value) ? value : undefined;
}

type Loop = Pick<ShellLoop, 'kind' | 'variable'>;

function forLoop(head: string, script: Script): Loop {
  const loop = loopOver(head);
  const { kind, variable } = loop;
  const conditions = breaksIn(script.body);
  if (conditions.length === 0) return loop;
  if (kind.kind !== 'numbers') throw new UncertainScript('A “break” in a loop over values', head);
  const { end } = endIn(conditions, [], assignments(script), variable, kind.step);
  return { variable, kind: { ...kind, ...(end === undefined ? {} : { end }) } };
}

function loopOver(head: string): Loop {
  const counted =
    /^\(\(\s*(\w+)\s*=\s*(\d+)\s*;\s*\1\s*(<=?)\s*(\d+)\s*;\s*(?:\1\s*\+=\s*(\d+)|\1\+\+|\+\+\1)\s*\)\)$/.exec(
      head.trim(),
    );
  if (counted !== null) {
    const [, variable = '', first = '', sign, last = '', step = '1'] = counted;
    return { variable, kind: numbers(Number(first), Number(step), Number(last) - (sign === '<' ? 1 : 0)) };
  }
  const list = /^(\w+)\s+in\s+(.+)$/.exec(head.trim());
  if (list === null) throw new UncertainScript('This head of a loop is not known', head);
  const [, variable = '', values = ''] = list;
  const seq = /^(?:\$\(\s*|`)seq\s+(-w\s+)?([\d\s]+?)\s*[`)]$/.exec(values.trim().replaceAll('"', ''));
  if (seq !== null) {
    const parts = (seq[2] ?? '').split(/\s+/);
    const [a = 1, b, c] = parts.map(Number);
    const kind = b === undefined ? numbers(1, 1, a) : c === undefined ? numbers(a, 1, b) : numbers(a, b, c);
    const width = Math.max(...parts.map(({ length }) => length));
    return {
      variable,
      kind: seq[1] === undefined ? kind : asWide(kind, width),
    };
  }
  const braces = /^\{(\d+)\.\.(\d+)(?:\.\.(\d+))?\}$/.exec(values.trim());
  if (braces !== null) {
    const [, first = '', last = '', step = '1'] = braces;
    const kind = numbers(Number(first), Number(step), Number(last));
    const isWide = [first, last].some((each) => /^0\d/.test(each));
    return { variable, kind: isWide ? asWide(kind, Math.max(first.length, last.length)) : kind };
  }
  if (/[$`*?{]/.test(values)) throw new UncertainScript('The values of the loop are not written out', head);
  const words = [...values.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, one, two, bare]) => one ?? two ?? bare ?? '',
  );
  return { variable, kind: { kind: 'values', values: words } };
}

function numbers(first: number, step: number, last: number): LoopKind {
  if (step === 0 || last < first)
    throw new UncertainScript('The numbers of the loop do not go up', `${first} ${step} ${last}`);
  return { kind: 'numbers', first, step, last };
}

/** Returns numbers as texts of one width: `{01..10}` is 01, 02, … 10. */
function asWide(kind: LoopKind, width: number): LoopKind {
  return { kind: 'values', values: valuesOf(kind).map((value) => String(value).padStart(width, '0')) };
}

/** Returns the values of a loop that has an end. */
export function valuesOf(kind: LoopKind): readonly (number | string)[] {
  if (kind.kind === 'values') return kind.values;
  if (kind.kind === 'token' || kind.last === undefined) return [];
  const values: number[] = [];
  for (let value = kind.first; value <= kind.last; value += kind.step) values.push(value);
  return values;
}

interface Script {
  readonly before: string;
  readonly body: string;
  /** Place of the command in it. */
  readonly at: number;
  /** Variable that has the answer. */
  readonly answer: string | undefined;
  readonly command: string;
}

function whileLoop(word: string, head: string, script: Script): Loop {
  const assigned = assignments(script);
  const sent = [...script.command.matchAll(/\$\{?([A-Za-z_]\w*)\}?/g)].map(([, name = '']) => name);
  const changing = [...assigned].filter(([name]) => sent.includes(name));
  const [only] = changing;
  if (only === undefined || changing.length > 1)
    throw new UncertainScript(
      changing.length > 1
        ? 'Several variables of the command change'
        : 'Nothing that the command sends changes in the loop',
      script.command,
    );
  const [variable, change] = only;
  if (change.kind === 'length') throw new UncertainScript('The number of rows is sent', script.command);
  const initial = valueBefore(script.before, variable);
  const heads = conditionsIn(word, head);
  const conditions = [...heads, ...breaksIn(script.body)];
  if (change.kind === 'path') {
    for (const { name, text } of conditions)
      if (name !== variable)
        throw new UncertainScript('The loop ends by something else than the token', text);
    if (conditions.length === 0) throw new UncertainScript('Nothing ends the loop', head);
    if (isSetBefore(variable, script))
      throw new UncertainScript('The token is set before the request', script.command);
    return { variable, kind: { kind: 'token', path: change.path, first: initial ?? '' } };
  }
  const start = Number(initial ?? Number.NaN);
  // counted on before the request, the numbers that are sent are one step further
  const ahead = isSetBefore(variable, script) ? change.by : 0;
  const first = start + ahead;
  if (!Number.isInteger(first)) throw new UncertainScript(`$${variable} has no number before the loop`, head);
  const ends = endIn(conditions, heads, assigned, variable, change.by);
  const { end } = ends;
  const last = ends.last === undefined ? undefined : ends.last + ahead;
  if (last === undefined && end === undefined) throw new UncertainScript('Nothing ends the loop', head);
  return {
    variable,
    kind: {
      kind: 'numbers',
      first,
      step: change.by,
      ...(last === undefined ? {} : { last }),
      ...(end === undefined ? {} : { end }),
    },
  };
}

/** Returns how the tests of a loop end it. @throws {UncertainScript} for one by anything else than is known */
function endIn(
  conditions: readonly EndCondition[],
  heads: readonly EndCondition[],
  assigned: ReadonlyMap<string, Change>,
  variable: string,
  by: number,
): { readonly last: number | undefined; readonly end: PagesEnd | undefined } {
  let last: number | undefined;
  let end: PagesEnd | undefined;
  for (const condition of conditions) {
    const { name, sign, value, text } = condition;
    const source = assigned.get(name);
    if (
      name === variable &&
      heads.includes(condition) &&
      (sign === '-gt' || sign === '-ge') &&
      /^\d+$/.test(value)
    ) {
      last = Number(value) - (sign === '-ge' ? by : 0);
    } else if (
      source?.kind === 'length' &&
      (sign === '-eq' || sign === '-lt' || sign === '=' || sign === '==')
    ) {
      end = { kind: 'rows', below: sign === '-lt' ? Number(value) : 1 };
    } else if (
      source?.kind === 'path' &&
      (value === 'false' || value === 'true') &&
      /^(?:=|==|!=)$/.test(sign)
    ) {
      end = { kind: 'flag', path: source.path, ends: sign === '!=' ? value !== 'true' : value === 'true' };
    } else throw new UncertainScript('The loop ends by something that is not known', text);
  }
  return { last, end };
}

/** Tells whether a variable is set before the command of a body. */
function isSetBefore(variable: string, { body, at }: Script): boolean {
  return new RegExp(`(?:^|[\\n;])\\s*(?:\\(\\(|let\\s+"?)?\\s*${variable}\\s*(?:\\+?=|\\+\\+)`).test(
    body.slice(0, at),
  );
}

type Change =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'add'; readonly by: number }
  | { readonly kind: 'length' };

/** Returns what each line of the body sets a variable to; a line that sets one otherwise is refused. */
function assignments({ body, answer }: Script): ReadonlyMap<string, Change> {
  const found = new Map<string, Change>();
  for (const line of statementsIn(body)) {
    const added =
      /^(\w+)=\$\(\(\s*\$?\{?(\w+)\}?\s*\+\s*(\d+)\s*\)\)$/.exec(line) ??
      /^(\w+)=\$\(expr \$\{?(\w+)\}? \+ (\d+)\)$/.exec(line) ??
      /^(?:\(\(|let\s+"?)\s*(\w+)()\s*\+=\s*(\d+)\s*(?:\)\)|"?)$/.exec(line) ??
      /^(?:\(\(|let\s+"?)\s*(\w+)()()\+\+\s*(?:\)\)|"?)$/.exec(line);
    if (added !== null) {
      const [, name = '', same = '', by = ''] = added;
      if (same !== '' && same !== name)
        throw new UncertainScript('A variable is worked out from another one', line);
      found.set(name, { kind: 'add', by: by === '' ? 1 : Number(by) });
      continue;
    }
    const set = /^(\w+)=/.exec(line);
    if (set === null || set[1] === answer) continue;
    found.set(set[1] ?? '', { ...changeByJq(line, answer) });
  }
  return found;
}

function changeByJq(line: string, answer: string | undefined): Change {
  const piped =
    /^\w+=\$\(\s*(?:echo|printf\s+(?:'%s'|"%s"|%s))\s+"?\$\{?(\w+)\}?"?\s*\|\s*jq\s+(.*?)\s*\)$/.exec(line);
  const fed = /^\w+=\$\(\s*jq\s+(.*?)\s*<<<\s*"?\$\{?(\w+)\}?"?\s*\)$/.exec(line);
  const source = piped?.[1] ?? fed?.[2];
  const filter = unquoted((piped?.[2] ?? fed?.[1] ?? '').replace(/^(?:-[a-zA-Z]+|--raw-output)\s+/, ''));
  if (source === undefined || source !== answer)
    throw new UncertainScript('A variable is set in a way that is not known', line);
  if (/^(?:length|\.[\w.]*\s*\|\s*length)$/.test(filter)) return { kind: 'length' };
  const path = jqPath(filter.replace(/\s*\/\/\s*(?:empty|""|null)$/, ''));
  if (path === undefined) throw new UncertainScript('A filter of jq that is no plain path', line);
  return { kind: 'path', path };
}

/** Reads `.a.b` or `.a["b"]`; `.` is the whole answer. */
export function jqPath(filter: string): string | undefined {
  if (filter === '.') return '.';
  if (!/^(?:\.[A-Za-z_]\w*|\.?\["[^".]+"\])+\??$/.test(filter)) return undefined;
  return [...filter.matchAll(/\.([A-Za-z_]\w*)|\["([^"]+)"\]/g)]
    .map(([, name, quoted]) => name ?? quoted ?? '')
    .join('.');
}

interface EndCondition {
  readonly name: string;
  readonly sign: string;
  readonly value: string;
  readonly text: string;
}

/** Returns the tests that end a loop by its head. */
function conditionsIn(word: string, head: string): readonly EndCondition[] {
  const plain = head.trim();
  if (plain === 'true' || plain === ':') return [];
  return plain.split(word === 'until' ? /\|\|/ : /&&/).map((part) => {
    const test = testIn(part);
    return word === 'until' ? test : negated(test);
  });
}

function breaksIn(body: string): readonly EndCondition[] {
  const ends = [
    ...body.matchAll(/((?:\[\[?|\(\().*?(?:\]\]?|\)\)))\s*&&\s*break\b/g),
    ...body.matchAll(/if\s+((?:\[\[?|\(\().*?(?:\]\]?|\)\)))\s*[;\n]\s*then\s*[\n]?\s*break\s*[;\n]\s*fi\b/g),
  ];
  const breaks = [...body.matchAll(/\bbreak\b/g)].length;
  if (breaks !== ends.length) throw new UncertainScript('A “break” whose condition is not known', body);
  return ends.flatMap(([, test = '']) => test.split(/\s*\|\|\s*/).map(testIn));
}

function testIn(text: string): EndCondition {
  const plain = text.trim().replace(/^\[\[?\s*|\s*\]\]?$|^\(\(\s*|\s*\)\)$/g, '');
  const empty = /^(-z|-n)\s+"?\$\{?(\w+)\}?"?$/.exec(plain);
  if (empty !== null) return { name: empty[2] ?? '', sign: empty[1] ?? '', value: '', text };
  const compared = /^"?\$?\{?(\w+)\}?"?\s*(-eq|-ne|-lt|-le|-gt|-ge|==?|!=|<=?|>=?)\s*"?'?([\w-]*)'?"?$/.exec(
    plain,
  );
  if (compared === null) throw new UncertainScript('A condition that is not known', text);
  const [, name = '', sign = '', value = ''] = compared;
  return { name, sign: { '<': '-lt', '<=': '-le', '>': '-gt', '>=': '-ge' }[sign] ?? sign, value, text };
}

const OPPOSITE: Readonly<Record<string, string>> = {
  '-z': '-n',
  '-n': '-z',
  '-eq': '-ne',
  '-ne': '-eq',
  '-lt': '-ge',
  '-ge': '-lt',
  '-gt': '-le',
  '-le': '-gt',
  '=': '!=',
  '==': '!=',
  '!=': '=',
};

function negated(test: EndCondition): EndCondition {
  return { ...test, sign: OPPOSITE[test.sign] ?? test.sign };
}

function valueBefore(before: string, name: string): string | undefined {
  const all = [
    ...before.matchAll(
      new RegExp(`(?:^|[\\n;])\\s*(?:export\\s+)?${name}=("[^"$]*"|'[^']*'|[^\\s;$]*)`, 'g'),
    ),
  ];
  const last = all.at(-1)?.[1];
  return last === undefined ? undefined : unquoted(last);
}

function unquoted(text: string): string {
  return text.trim().replace(/^(['"])([\s\S]*)\1$/, '$2');
}

function statementsIn(body: string): readonly string[] {
  return body
    .split(/\n|;(?![^(]*\)\))/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Returns the one curl command of a body, the variable that gets its answer, and what stands behind it. */
function commandIn(body: string): {
  readonly at: number;
  readonly command: string;
  readonly answer: string | undefined;
  readonly behind: string;
} {
  const starts = [...body.matchAll(/(?:^|[\s(`;|])curl\s/g)];
  const [start] = starts;
  if (start === undefined || starts.length > 1)
    throw new UncertainScript(
      start === undefined ? 'There is no curl in the loop' : 'There are several curl commands in the loop',
      body,
    );
  const at = body.indexOf('curl', start.index);
  const end = endOf(body, at);
  const before = body.slice(0, at);
  const answer = /(\w+)=(?:"?\$\(|`)\s*$/.exec(before)?.[1];
  return { at, command: body.slice(at, end).trim(), answer, behind: body.slice(end).split('\n', 1)[0] ?? '' };
}

/** Returns where a command ends: a pipe, a parenthesis, a semicolon or a line end outside of quotes. */
function endOf(text: string, from: number): number {
  let quote = '';
  for (let at = from; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (quote !== '') {
      if (sign === '\\' && quote === '"') at++;
      else if (sign === quote) quote = '';
    } else if (sign === '"' || sign === "'") quote = sign;
    else if (/[|;)\n>&`]/.test(sign)) return at;
  }
  return text.length;
}

/** Returns the filter of jq that gives the rows: behind the command, or of its answer to a file or the output. */
function rowsFilter(behind: string, body: string, answer: string | undefined): string | undefined {
  const direct = /^\s*\|\s*jq\s+(?:-[a-zA-Z]+\s+)*('[^']*'|"[^"]*"|\S+)/.exec(behind)?.[1];
  if (direct !== undefined) return unquoted(direct);
  if (answer === undefined) return undefined;
  const shown = new RegExp(
    `(?:^|[\\n;])\\s*(?:echo|printf\\s+\\S+)\\s+"?\\$\\{?${answer}\\}?"?\\s*\\|\\s*jq\\s+(?:-[a-zA-Z]+\\s+)*('[^']*'|"[^"]*"|\\S+)`,
  ).exec(body)?.[1];
  return shown === undefined ? undefined : unquoted(shown);
}
