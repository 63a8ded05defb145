import {
  PythonCall,
  Code,
  FunctionCode,
  isList,
  MAX_DEPTH,
  Setting,
  TextParts,
  ValueMap,
  type Value,
} from '../value.ts';
import { children, groups } from '../../python/nodes.ts';
import type { PythonNode, PythonFile, PythonSpan } from '../../python/python-file.ts';
import { unescaped } from '../../python/strings.ts';

/** Values of a file: names that stand for names could make more of a few lines than fits into the memory. */
const MAX_VALUES = 100_000;

/** Reads the literals of a Python file; names stand for what they were given before. Nothing is run. */
export class PythonReader {
  readonly #file: PythonFile;
  /** The expressions that a name is given, in the order of the file. */
  readonly #given = new Map<string, PythonNode[]>();
  /** Parameters of functions without a default. */
  readonly #parameters = new Set<string>();
  readonly #usedNames = new Set<string>();
  readonly #functions = new Map<string, PythonNode>();
  /** Offsets of the expressions whose names are being resolved: one of them inside of itself is a circle. */
  readonly #resolving = new Set<number>();
  #depth = 0;
  #values = 0;

  constructor(file: PythonFile) {
    this.#file = file;
    for (const node of file.nodes('AssignStatement')) this.#collect(children(node));
    for (const node of file.nodes('FunctionDefinition')) {
      const name = children(node).find((child) => child.name === 'VariableName');
      if (name !== undefined && node.parent?.name === 'Script') this.#functions.set(file.text(name), node);
    }
    for (const node of file.nodes('ParamList'))
      if (node.parent?.name === 'FunctionDefinition')
        for (const parameter of groups(node)) {
          const [first] = parameter;
          if (first?.name === 'VariableName' && !this.#collect(parameter))
            this.#parameters.add(file.text(first));
        }
  }

  /** Names whose values were read: what else is done with them is to be looked at. */
  get usedNames(): ReadonlySet<string> {
    return this.#usedNames;
  }

  /** Keeps the value of `name = value` and `name: type = value`. */
  #collect([name, ...rest]: readonly PythonNode[]): boolean {
    const [sign, value] = rest[0]?.name === 'TypeDef' ? rest.slice(1) : rest;
    if (name?.name !== 'VariableName' || sign?.name !== 'AssignOp' || value === undefined) return false;
    const known = this.#given.get(this.#file.text(name));
    if (known === undefined) this.#given.set(this.#file.text(name), [value]);
    else known.push(value);
    return true;
  }

  /** Returns the value that a name has at a place of the file: the last one assigned before it. */
  valueOf(name: string, before: number): Value | undefined {
    const given = this.#given.get(name) ?? [];
    const node = lastBefore(given, before) ?? given[0];
    if (node === undefined) return this.#parameters.has(name) ? new Setting(name, false) : undefined;
    if (this.#resolving.has(node.from)) return undefined;
    this.#usedNames.add(name);
    this.#resolving.add(node.from);
    const value = this.read(node);
    this.#resolving.delete(node.from);
    return value;
  }

  /**
   * Reads an expression; one that would have to be run is `Code`.
   *
   * @throws {RunError} `import.invalid` for an expression that is not Python, is nested too deep or makes too much
   */
  read(node: PythonNode): Value {
    this.#refuseMistakes(node);
    if (++this.#values > MAX_VALUES)
      throw this.#file.error(node, 'The values of the source multiply without end.');
    if (++this.#depth > MAX_DEPTH)
      throw this.#file.error(node, 'The values of the source are nested too deep.');
    const value = this.#read(node);
    this.#depth--;
    return value === undefined ? this.#code(node) : value;
  }

  #refuseMistakes(node: PythonNode): void {
    const mistake = children(node).find(({ type }) => type.isError);
    if (mistake !== undefined) throw this.#file.syntaxError(mistake);
  }

  /** Returns the value of an expression; undefined for one that would have to be executed. */
  #read(node: PythonNode): Value | undefined {
    switch (node.name) {
      case 'None':
        return null;
      case 'Boolean':
        return this.#file.text(node) === 'True';
      case 'Number':
        return numberOf(this.#file.text(node));
      case 'String':
      case 'FormatString':
      case 'ContinuedString':
        return this.#string(node);
      case 'VariableName':
        return this.valueOf(this.#file.text(node), node.from) ?? this.#functionAt(node);
      case 'LambdaExpression':
        return this.#function(node, node);
      case 'ParenthesizedExpression':
        return this.read(children(node)[1] ?? node);
      case 'ArrayExpression':
      case 'TupleExpression':
        return this.#list(node);
      case 'ArrayComprehensionExpression':
        return [this.#code(node, 1)];
      case 'ComprehensionExpression':
        return this.#code(node, 1);
      case 'DictionaryExpression':
        return this.#map(node);
      case 'UnaryExpression':
        return this.#negative(children(node));
      case 'BinaryExpression':
        return this.#sum(node);
      case 'ConditionalExpression':
        return this.#conditional(children(node));
      case 'MemberExpression':
        return this.#member(node);
      case 'CallExpression':
        return this.#call(node);
      default:
        return undefined;
    }
  }

  #functionAt(name: PythonNode): FunctionCode | undefined {
    const found = this.#functions.get(this.#file.text(name));
    return found === undefined ? undefined : this.#function(name, found);
  }

  #function(shown: PythonNode, node: PythonNode): FunctionCode {
    return new FunctionCode(this.#code(shown), this.#file, node, (inside) => this.read(inside));
  }

  /** Returns an expression as code that is not evaluated, or the inside of its brackets. */
  #code({ from, to }: PythonSpan, brackets = 0): Code {
    const inside = { from: from + brackets, to: to - brackets };
    return new Code(this.#file.oneLine(inside), this.#file.place(from).line);
  }

  /** Returns a text, or adjacent texts joined. */
  #string(node: PythonNode): Value | undefined {
    const parts: (string | Setting)[] = [];
    for (const each of node.name === 'ContinuedString' ? children(node) : [node]) {
      const whole = this.#file.text(each);
      const [start = '', prefix = '', quotes = ''] = /^([a-z]*)("""|'''|"|')/i.exec(whole) ?? [];
      if (/b/i.test(prefix)) return undefined;
      const plain = (from: number, to: number): string => {
        const text = this.#file.text({ from, to });
        const written =
          each.name === 'FormatString' ? text.replaceAll(/\{\{|\}\}/g, (twice) => twice.charAt(0)) : text;
        return /r/i.test(prefix) ? written : unescaped(written);
      };
      let at = each.from + start.length;
      for (const replacement of children(each).filter(({ name }) => name === 'FormatReplacement')) {
        const [, expression, close] = children(replacement);
        // with a format or a conversion
        if (expression === undefined || close?.name !== '}') return undefined;
        const value = this.read(expression);
        if (typeof value !== 'number' && !isText(value)) return undefined;
        parts.push(
          plain(at, replacement.from),
          ...textParts(typeof value === 'number' ? String(value) : value),
        );
        at = replacement.to;
      }
      parts.push(plain(at, each.to - quotes.length));
    }
    return textOf(parts);
  }

  #list(node: PythonNode): readonly Value[] {
    return groups(node).flatMap(([first, second]): readonly Value[] => {
      if (first === undefined) return [];
      if (first.name !== '*' || second === undefined) return [this.read(first)];
      const value = this.read(second);
      return isList(value) ? value : [new Code('*…', this.#file.place(first.from).line)];
    });
  }

  #map(node: PythonNode): ValueMap {
    const entries: (readonly [string, Value])[] = [];
    const open: Code[] = [];
    for (const [first, second, third] of groups(node)) {
      if (first === undefined || second === undefined) continue;
      const { line } = this.#file.place(first.from);
      if (first.name === '**') {
        const inner = this.read(second);
        if (inner instanceof ValueMap) {
          for (const entry of inner.entries) entries.push(entry);
          open.push(...inner.open);
        } else open.push(inner instanceof Code ? inner : new Code('**…', line));
        continue;
      }
      const key = this.read(first);
      if (typeof key === 'string') entries.push([key, this.read(third ?? second)]);
      else open.push(key instanceof Code ? key : new Code('a key that is no text', line));
    }
    return new ValueMap(entries, open);
  }

  #negative([sign, operand]: readonly PythonNode[]): number | undefined {
    if (sign === undefined || operand === undefined || this.#file.text(sign) !== '-') return undefined;
    const value = this.read(operand);
    return typeof value === 'number' ? -value : undefined;
  }

  /** Returns joined texts, and sums of numbers, lists and dictionaries. */
  #sum(node: PythonNode): Value | undefined {
    const operands: PythonNode[] = [];
    let left = node;
    // nested to the left as deep as it is long
    while (left.name === 'BinaryExpression') {
      const [first, sign, right] = children(left);
      if (first === undefined || sign === undefined || right === undefined) return undefined;
      if (!/^[+|]$/.test(this.#file.text(sign))) return undefined;
      operands.unshift(right);
      left = first;
    }
    return added([left, ...operands].map((operand) => this.read(operand)));
  }

  /** Returns X of `X if given else None`: the user decides whether the setting is empty. */
  #conditional([first, , , , last]: readonly PythonNode[]): Value | undefined {
    if (first === undefined || last === undefined || this.read(last) !== null) return undefined;
    const value = this.read(first);
    return value instanceof Code ? undefined : value;
  }

  #member(node: PythonNode): Value | undefined {
    const [object, bracket, keyNode, ...rest] = children(node);
    if (object === undefined || keyNode === undefined) return undefined;
    if (bracket?.name !== '[') {
      const found = /^dlt\.(secrets|config)\.value$/.exec(this.#file.path(node) ?? '');
      if (found === null) return undefined;
      const isSecret = found[1] === 'secrets';
      return new Setting(this.#targetOf(node) ?? (isSecret ? 'secret' : 'setting'), isSecret);
    }
    const key = rest.length === 1 ? this.read(keyNode) : undefined;
    if (typeof key !== 'string') return undefined;
    const path = this.#file.path(object);
    if (path === 'dlt.secrets' || path === 'dlt.config') return settingAt(key, path === 'dlt.secrets');
    if (path === 'os.environ' || path === 'environ') return new Setting(key.toLowerCase(), true, key);
    const value = this.read(object);
    return value instanceof ValueMap ? value.get(key) : undefined;
  }

  /** Returns the name of the variable, the parameter or the argument that the node is assigned to. */
  #targetOf({ prevSibling: sign }: PythonNode): string | undefined {
    const before = sign?.name === 'AssignOp' ? sign.prevSibling : null;
    const target = before?.name === 'TypeDef' ? before.prevSibling : before;
    return target?.name === 'VariableName' ? this.#file.text(target) : undefined;
  }

  #call(node: PythonNode): Value | undefined {
    const [callee, list] = children(node);
    const path = callee === undefined ? undefined : this.#file.path(callee);
    if (path === undefined || list === undefined) return undefined;
    this.#refuseMistakes(list);
    const args: Value[] = [];
    const keywords: (readonly [string, Value])[] = [];
    const open: Code[] = [];
    for (const argument of groups(list)) {
      const [first, second, third] = argument;
      if (first === undefined) continue;
      if (first.name === '*' || first.name === '**') {
        const inner = second === undefined ? null : this.read(second);
        if (inner instanceof ValueMap) {
          for (const entry of inner.entries) keywords.push(entry);
          open.push(...inner.open);
        } else open.push(new Code(`${first.name}…`, this.#file.place(first.from).line));
      } else if (second === undefined) args.push(this.read(first));
      else if (second.name === 'AssignOp' && argument.length === 3 && third !== undefined)
        keywords.push([this.#file.text(first), this.read(third)]);
      else args.push(this.#code({ from: first.from, to: argument.at(-1)?.to ?? first.to }));
    }
    const [given] = args;
    if (typeof given === 'string') {
      if (/^(?:os\.)?getenv$|^os\.environ\.get$/.test(path))
        return new Setting(given.toLowerCase(), true, given);
      if (/^dlt\.(?:secrets|config)\.get$/.test(path))
        return settingAt(given, path.startsWith('dlt.secrets'));
    }
    const name = path.split('.').at(-1) ?? path;
    return new PythonCall(name, args, new ValueMap(keywords, open), this.#file.oneLine(node));
  }

  /** Returns the lines on which code changes a name that was read. */
  changes(): readonly { readonly name: string; readonly line: number }[] {
    return this.#file
      .nodes('VariableName')
      .map((node) => ({ node, name: this.#file.text(node) }))
      .filter(({ node, name }) => this.#usedNames.has(name) && this.#isChanged(node))
      .map(({ node, name }) => ({ name, line: this.#file.place(node.from).line }));
  }

  /** Tells whether code changes a name: `x += …`, `x[…] = …`, `del x[…]`, `x.append(…)`. */
  #isChanged(name: PythonNode): boolean {
    let node = name;
    const isFirstOf = (kind: string, parent = node.parent): boolean =>
      parent?.name === kind && parent.from === name.from;
    while (isFirstOf('MemberExpression') && node.nextSibling?.name === '[') node = node.parent ?? node;
    if (isFirstOf('UpdateStatement')) return true;
    const method = node.parent?.lastChild;
    if (isFirstOf('MemberExpression') && method?.name === 'PropertyName')
      return CHANGES.test(this.#file.text(method)) && isFirstOf('CallExpression', node.parent?.parent);
    if (node.to === name.to) return false;
    return node.parent?.name === 'DeleteStatement' || node.nextSibling?.name === 'AssignOp';
  }
}

/** The methods of lists and dictionaries that change them. */
const CHANGES = /^(?:append|extend|insert|update|setdefault|pop|remove|clear)$/;

/** Returns the last of the nodes, which are in the order of the file, that begins before a place. */
function lastBefore(nodes: readonly PythonNode[], before: number): PythonNode | undefined {
  let [low, high] = [0, nodes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((nodes[middle]?.from ?? before) < before) low = middle + 1;
    else high = middle;
  }
  return nodes[low - 1];
}

function settingAt(path: string, isSecret: boolean): Setting {
  return new Setting(path.split('.').at(-1) ?? path, isSecret);
}

function textOf(parts: readonly (string | Setting)[]): Value {
  const merged: (string | Setting)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else if (part !== '') merged.push(part);
  }
  const [only = ''] = merged;
  return merged.length < 2 && typeof only === 'string' ? only : new TextParts(merged);
}

type TextLike = string | Setting | TextParts;

function isText(value: Value): value is TextLike {
  return typeof value === 'string' || value instanceof Setting || value instanceof TextParts;
}

function textParts(value: TextLike): readonly (string | Setting)[] {
  return value instanceof TextParts ? value.parts : [value];
}

/** Returns the sum of values of one kind; undefined for others. */
function added(values: readonly Value[]): Value | undefined {
  if (values.every(isText)) return textOf(values.flatMap(textParts));
  if (values.every((value) => typeof value === 'number'))
    return values.reduce((sum, value) => sum + value, 0);
  if (values.every(isList)) return values.flat();
  if (values.every((value) => value instanceof ValueMap))
    return new ValueMap(
      values.flatMap(({ entries }) => [...entries]),
      values.flatMap(({ open }) => open),
    );
  return undefined;
}

function numberOf(text: string): number | undefined {
  const value = Number(text.replaceAll('_', ''));
  return Number.isNaN(value) ? undefined : value;
}
