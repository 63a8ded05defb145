import { remember } from '../../../lib/remember.ts';
import { constant, isItems, TemplateError, type Constant, type Expression } from './jinja/ast.ts';
import { fold, type Known } from './jinja/fold.ts';
import { literalOf } from '../../../lib/python-literal.ts';
import { partsOf } from './jinja/map-parts.ts';
import { parseTemplate } from './jinja/parse.ts';
import { get, isMap, isSequence, placeOf, type ManifestNode, type NodeMap } from './node.ts';
import type { ParameterUses } from './parameter-uses.ts';

const NOTHING: Known = new Map();

/** A component of a manifest, and where it stands. */
export class ManifestComponent {
  readonly node: NodeMap;
  readonly at: string;
  /** Names of templates whose values are known. */
  readonly #known: Known;
  /** Takes note of the parameters that are read; without it nobody asks for them. */
  readonly uses: ParameterUses | undefined;

  constructor(node: NodeMap, at: string, known: Known = NOTHING, uses?: ParameterUses) {
    this.node = node;
    this.at = at;
    this.#known = known;
    this.uses = uses;
  }

  /** Returns the component with notes of its own of the parameters that are read. */
  noting(uses: ParameterUses): ManifestComponent {
    return new ManifestComponent(this.node, this.at, this.#known, uses);
  }

  /** Returns the component without a key, with values of names that its templates know, and those of its parts. */
  without(key: string, known: Known): ManifestComponent {
    const { [key]: _, ...node } = this.node;
    return this.#part(node, this.at).knowing(known);
  }

  /** Returns the component with values of names that its templates know, and those of its parts. */
  knowing(known: Known): ManifestComponent {
    return new ManifestComponent(this.node, this.at, new Map([...this.#known, ...known]), this.uses);
  }

  /** Tells if the templates of another one know the same names. */
  knowsSame(other: ManifestComponent): boolean {
    return this.#known === other.#known;
  }

  get type(): string {
    const type = this.#value('type');
    return typeof type === 'string' ? type : '';
  }

  /** The class of a component that is written in Python. */
  get className(): string | undefined {
    const name = this.#value('class_name');
    return typeof name === 'string' ? name : undefined;
  }

  /** Returns the component with a name; a class of Python is given that of its stream. */
  named(name: string): ManifestComponent {
    return this.className === undefined ? this : this.with({ name });
  }

  /** Returns the component with other values of some keys. */
  with(keys: NodeMap): ManifestComponent {
    return this.#part({ ...this.node, ...keys }, this.at);
  }

  place(key: string): string {
    return placeOf(this.at, key);
  }

  /** Returns the value of a key; undefined if it is missing or null. */
  get(key: string): ManifestNode | undefined {
    const value = this.#value(key) ?? undefined;
    // a schema has no components in it
    if (key !== 'schema_loader') this.uses?.readWhole(value);
    return value;
  }

  /** Tells if a key has a value other than null, which may be a component. */
  has(key: string): boolean {
    return (this.#value(key) ?? undefined) !== undefined;
  }

  /** Returns all keys with their values. */
  entries(): readonly (readonly [string, ManifestNode])[] {
    this.uses?.readWhole(this.node);
    return Object.entries(this.node);
  }

  /** Returns all parameters. */
  parameters(): NodeMap {
    const parameters = get(this.node, '$parameters');
    const all = isMap(parameters) ? parameters : {};
    return this.uses?.noted(all) ?? all;
  }

  #value(key: string): ManifestNode | undefined {
    const value = get(this.node, key);
    if (value !== undefined) this.uses?.read(key, value);
    return value;
  }

  text(key: string): string | undefined {
    const value = this.get(key);
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
  }

  /** Returns a flag; `"true"` and 1 are true, too. */
  flag(key: string): boolean {
    const value = this.get(key);
    return value === true || value === 'true' || value === 'True' || value === 1;
  }

  child(key: string): ManifestComponent | undefined {
    const value = this.#value(key);
    return isMap(value) ? this.#part(value, this.place(key)) : undefined;
  }

  /** Returns a map inside a map that is no component itself. */
  childOf(key: string, name: string): ManifestComponent | undefined {
    const value = get(this.#value(key), name);
    return isMap(value) ? this.#part(value, placeOf(this.place(key), name)) : undefined;
  }

  /** Returns the names of the maps inside a map that is no component itself; undefined for what is no map. */
  namesIn(key: string): readonly string[] | undefined {
    const value = this.#value(key);
    return isMap(value) ? Object.keys(value).filter((name) => isMap(value[name])) : undefined;
  }

  /** Returns the maps of a list; a single map is a list of one. */
  children(key: string): readonly ManifestComponent[] {
    const value = this.#value(key);
    if (isMap(value)) return [this.#part(value, this.place(key))];
    if (!isSequence(value)) return [];
    return value.flatMap((item, index) =>
      isMap(item) ? [this.#part(item, placeOf(this.place(key), index))] : [],
    );
  }

  /**
   * Parses a value of this component as an expression, with its parameters put in.
   *
   * @throws {TemplateError} for a text that is no template
   */
  expression(value: ManifestNode): Expression {
    if (typeof value !== 'string') return constant(value);
    const alone = this.#known.size === 0 ? foldedAlone(value) : undefined;
    return alone ?? unquoted(this.folded(parseTemplate(value)));
  }

  /** Returns the list that a text reads as, such as `['a', 'b']`; undefined for anything else. */
  listOf(value: ManifestNode): Constant | undefined {
    const expression = typeof value === 'string' ? this.folded(parseTemplate(value)) : undefined;
    if (expression?.kind !== 'constant' || typeof expression.value !== 'string') return undefined;
    const literal = literalOf(expression.value);
    return isItems(literal) ? literal : undefined;
  }

  folded(expression: Expression): Expression {
    return fold(expression, new Map([...this.#known, ['parameters', this.parameters()]]));
  }

  #part(node: NodeMap, at: string): ManifestComponent {
    return new ManifestComponent(node, at, this.#known, this.uses);
  }

  /** Returns the texts of a list, each with its parameters put in; numbers are keys, too. */
  keys(key: string): readonly (string | number)[] {
    const value = this.get(key);
    const items = isSequence(value) ? value : value === undefined ? [] : [value];
    return items.map((item) => {
      const expression = this.expression(item);
      if (expression.kind !== 'constant') throw new TemplateError('a key that is known only while it runs');
      const { value: known } = expression;
      if (typeof known === 'string' || typeof known === 'number') return known;
      throw new TemplateError('a key that is no text');
    });
  }
}

/** Returns the expression of a template that says the same in every component; undefined for one with parameters. */
const foldedAlone = remember((template): Expression | undefined => {
  const parsed = parseTemplate(template);
  return hasParameters(parsed) ? undefined : unquoted(fold(parsed, NOTHING));
});

function hasParameters(expression: Expression): boolean {
  if (expression.kind === 'name') return expression.name === 'parameters';
  return partsOf(expression).some(hasParameters);
}

/** Returns the text inside of quotes: a rendered text that is a literal of a text is read as one. */
function unquoted(expression: Expression): Expression {
  if (expression.kind === 'constant') {
    const text = typeof expression.value === 'string' ? literalOf(expression.value) : undefined;
    return typeof text === 'string' ? constant(text) : expression;
  }
  if (expression.kind !== 'join') return expression;
  const inner = insideQuotes(expression.parts);
  const [only = constant('')] = inner ?? [];
  return inner === undefined ? expression : inner.length < 2 ? only : { kind: 'join', parts: inner };
}

/**
 * Returns what is inside of the quotes of a text that is one literal, or several side by side, which are one text then;
 * undefined for any other text. What templates give is taken to have no quotes.
 */
function insideQuotes(parts: readonly Expression[]): readonly Expression[] | undefined {
  const inner: Expression[] = [];
  let quote: string | undefined;
  let isEnded = false;
  for (const part of parts) {
    const text = textOf(part);
    if (text === undefined) {
      if (quote === undefined) return undefined;
      inner.push(part);
      continue;
    }
    let piece = '';
    for (const char of text) {
      if (quote === undefined && /\s/.test(char)) isEnded ||= char === '\n' && inner.length > 0;
      else if (quote === undefined) {
        if ((char !== '"' && char !== "'") || isEnded) return undefined;
        quote = char;
      } else if (char === quote) quote = undefined;
      // an escape or a line break in the text changes the literal, or ends it
      else if (char === '\\' || char === '\n') return undefined;
      else piece += char;
    }
    if (piece !== '') inner.push(constant(piece));
  }
  return quote === undefined ? inner : undefined;
}

function textOf(part: Expression | undefined): string | undefined {
  return part?.kind === 'constant' && typeof part.value === 'string' ? part.value : undefined;
}
