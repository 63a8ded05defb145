import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from '@codemirror/autocomplete';
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { Tooltip } from '@codemirror/view';

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];

/** So long a keystroke may wait for what is asked at its place. */
const PATIENCE_MS = 500;

/** Returns the tree of a text up to a place: the editor itself stops parsing after 20 ms, and goes on later. */
const treeTo = (place: number, state: EditorState): ReturnType<typeof syntaxTree> =>
  ensureSyntaxTree(state, place, PATIENCE_MS) ?? syntaxTree(state);

/** The part of JSON Schema that completes and describes; any other keyword has no effect here. */
interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
  readonly else?: Schema;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** Keys of an object in the text, each with its value if that is a text. */
type Members = ReadonlyMap<string, string | undefined>;

/** Creates the completion of keys and values at the cursor, each with its description. */
export function completeBySchema(root: object): CompletionSource {
  const ask = (context: CompletionContext): CompletionResult | null => {
    const result = complete(root, context);
    // At once with every letter: a choice that is made while it is asked for again would be lost.
    return result && { ...result, update: (_result, _from, _to, now) => ask(now) };
  };
  return ask;
}

/** Returns the tooltip that describes a key under the pointer. */
export function describeBySchema(root: object, state: EditorState, at: number): Tooltip | null {
  const node = treeTo(at, state).resolveInner(at, 1);
  if (node.name !== 'PropertyName') return null;
  const object = node.parent?.parent;
  if (object === undefined || object === null) return null;
  const name = textOf(state, node);
  const found = schemasOf(root, state, object).flatMap(({ properties }) => properties?.[name] ?? []);
  const schema = found.map((each) => resolved(root, each)).find(({ description }) => description);
  if (schema === undefined) return null;
  return {
    pos: node.from,
    end: node.to,
    create: () => ({ dom: described(schema) }),
  };
}

function complete(root: Schema, { state, pos, explicit }: CompletionContext): CompletionResult | null {
  const node = treeTo(pos, state).resolveInner(pos, -1);
  const property = around(node, 'Property');
  const isInName = node.name === 'PropertyName';
  const value = property === undefined || isInName ? undefined : valuePlace(state, node, property, pos);
  if (value !== undefined && property !== undefined) {
    if (!explicit && value.from === pos && !/["\s:]/.test(state.sliceDoc(pos - 1, pos))) return null;
    return completeValue(root, state, property, value);
  }
  const object = isInName ? property?.parent : around(node, 'Object');
  if (object === undefined || object === null || object.name !== 'Object') return null;
  const from = isInName ? node.from : wordStart(state, pos);
  if (!explicit && from === pos) return null;
  // The quote that the editor has added behind the cursor goes with the word.
  const hasQuote = state.sliceDoc(from, from + 1) === '"' && state.sliceDoc(pos, pos + 1) === '"';
  const isNamed = isInName && /^\s*:/.test(state.sliceDoc(node.to, node.to + 20));
  const given = membersOf(state, object);
  const own = isInName ? textOf(state, node) : '';
  const options = new Map<string, Completion>();
  for (const schema of schemasOf(root, state, object))
    for (const [name, each] of Object.entries(schema.properties ?? {})) {
      if (options.has(name) || (given.has(name) && name !== own)) continue;
      const found = resolved(root, each);
      options.set(name, {
        label: name,
        displayLabel: name,
        filterText: `"${name}`,
        detail: found.title ?? '',
        info: () => described(found),
        apply: isNamed ? JSON.stringify(name) : `${JSON.stringify(name)}: ${emptyOf(found)}`,
        boost: schema.required?.includes(name) === true ? 2 : 0,
      } as Completion);
    }
  return {
    from,
    to: isInName ? node.to : pos + (hasQuote ? 1 : 0),
    options: filtered(options.values(), state.sliceDoc(from, pos)),
    filter: false,
  };
}

function completeValue(
  root: Schema,
  state: EditorState,
  property: SyntaxNode,
  { from, to }: { readonly from: number; readonly to: number },
): CompletionResult | null {
  const object = property.parent;
  const name = property.getChild('PropertyName');
  if (object === null || name === null) return null;
  const key = textOf(state, name);
  const options = new Map<string, Completion>();
  // Without its own value, which is what is to be chosen.
  for (const schema of schemasOf(root, state, object, key)) {
    const found = schema.properties?.[key];
    if (found === undefined) continue;
    for (const each of alternatives(root, found))
      for (const choice of [
        ...(each.const === undefined ? [] : [each.const]),
        ...(each.enum ?? []),
        ...boolean(each),
      ]) {
        const text = JSON.stringify(choice);
        if (options.has(text) || choice === '') continue;
        options.set(text, { label: text, detail: each.title ?? '', info: () => described(each) });
      }
  }
  if (options.size === 0) return null;
  return { from, to, options: filtered(options.values(), state.sliceDoc(from, to)), filter: false };
}

/** Filters options by a part of the word, those that begin with it first. */
function filtered(options: Iterable<Completion>, typed: string): Completion[] {
  const word = typed.replaceAll('"', '').toLowerCase();
  const all = [...options];
  const places = new Map(
    all.map((each) => [each, each.label.replaceAll('"', '').toLowerCase().indexOf(word)]),
  );
  return all
    .filter((each) => (places.get(each) ?? -1) >= 0)
    .toSorted((a, b) => Math.sign(places.get(a) ?? 0) - Math.sign(places.get(b) ?? 0));
}

const boolean = ({ type }: Schema): readonly boolean[] =>
  type === 'boolean' || (Array.isArray(type) && type.includes('boolean')) ? [true, false] : [];

function emptyOf({ type }: Schema): string {
  const types = type === undefined ? [] : typeof type === 'string' ? [type] : type;
  if (types.includes('string')) return '""';
  if (types[0] === 'object') return '{}';
  if (types[0] === 'array') return '[]';
  return '';
}

/** Returns the place of a property's value, when the cursor is behind its colon. */
function valuePlace(
  state: EditorState,
  node: SyntaxNode,
  property: SyntaxNode,
  pos: number,
): { from: number; to: number } | undefined {
  const inner = around(node, 'Object');
  // In an object or a list that is the value: a name is what may stand there.
  if (inner !== undefined && inner.from > property.from) return undefined;
  const array = around(node, 'Array');
  if (array !== undefined && array.from > property.from) return undefined;
  const name = property.getChild('PropertyName');
  if (name === null || pos <= name.to || !state.sliceDoc(name.to, pos).includes(':')) return undefined;
  if (/^(?:String|Number|True|False|Null)$/.test(node.name)) return { from: node.from, to: node.to };
  return { from: wordStart(state, pos), to: pos };
}

function wordStart(state: EditorState, pos: number): number {
  const before = /"?[\w#$.-]*$/.exec(state.sliceDoc(Math.max(0, pos - 200), pos));
  return pos - (before?.[0].length ?? 0);
}

function around(node: SyntaxNode, name: string): SyntaxNode | undefined {
  for (let each: SyntaxNode | null = node; each !== null; each = each.parent)
    if (each.name === name) return each;
  return undefined;
}

function textOf(state: EditorState, node: SyntaxNode): string {
  const text = state.sliceDoc(node.from, node.to);
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replaceAll('"', '');
  }
}

/** @param but a name that is left out */
function membersOf(state: EditorState, object: SyntaxNode, but?: string): Members {
  const members = new Map<string, string | undefined>();
  for (const property of object.getChildren('Property')) {
    const name = property.getChild('PropertyName');
    if (name === null) continue;
    const text = property.getChild('String');
    const key = textOf(state, name);
    if (key !== but) members.set(key, text === null ? undefined : textOf(state, text));
  }
  return members;
}

/** Returns the schemas of an object in the text. */
function schemasOf(root: Schema, state: EditorState, object: SyntaxNode, but?: string): Schema[] {
  const members = membersOf(state, object, but);
  return schemasAt(root, state, object).flatMap((each) => alternatives(root, each, members));
}

/** Returns the schemas of a value, by its path from the root. */
function schemasAt(root: Schema, state: EditorState, node: SyntaxNode): Schema[] {
  const { parent } = node;
  if (parent === null || parent.name === 'JsonText') return [root];
  if (parent.name === 'Array')
    return schemasAt(root, state, parent)
      .flatMap((each) => alternatives(root, each))
      .flatMap(({ items }) => items ?? []);
  const object = parent.parent;
  const name = parent.getChild('PropertyName');
  if (parent.name !== 'Property' || object === null || name === null) return [];
  const key = textOf(state, name);
  return schemasOf(root, state, object).flatMap(({ properties, additionalProperties: rest }) => {
    const found = properties?.[key];
    if (found !== undefined) return [found];
    return typeof rest === 'object' ? [rest] : [];
  });
}

/** Returns a schema and its parts, without the alternatives that the members rule out. */
function alternatives(root: Schema, schema: Schema, members?: Members): Schema[] {
  const found = resolved(root, schema);
  const { allOf = [], anyOf = [], oneOf = [] } = found;
  const chosen: Schema[] = [...allOf, ...[...anyOf, ...oneOf].filter((each) => fits(root, each, members))];
  if (found.if !== undefined) {
    const next = fits(root, found.if, members ?? new Map()) ? found.then : found.else;
    if (next !== undefined) chosen.push(next);
  }
  return [found, ...chosen.flatMap((each) => alternatives(root, each, members))];
}

function fits(root: Schema, schema: Schema, members: Members | undefined): boolean {
  if (members === undefined) return true;
  const { properties = {}, required = [], anyOf } = resolved(root, schema);
  if (anyOf?.every((each) => !fits(root, each, members)) === true) return false;
  // While something is typed, what is still missing may come: only the kind has to be there.
  const kinds = Object.entries(properties).filter(
    ([, { const: only, enum: some }]) => only !== undefined || some,
  );
  if (kinds.length === 0) return required.every((name) => members.has(name));
  return kinds.every(([name, { const: only, enum: some }]) => {
    const value = members.get(name);
    if (value === undefined)
      return some?.includes(null) === true || !required.includes(name) || members.size === 0;
    return only === undefined ? some?.includes(value) === true : only === value;
  });
}

function resolved(root: Schema, schema: Schema): Schema {
  const name = /^#\/definitions\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  const target = name === undefined ? undefined : root.definitions?.[name];
  return target === undefined ? schema : { ...resolved(root, target), ...schema, $ref: '' };
}

function described({ title, description, default: usual, examples }: Schema): HTMLElement {
  const dom = document.createElement('div');
  dom.className = 'cm-described';
  const add = (name: string, text: string): void => {
    const child = document.createElement(name);
    child.textContent = text;
    dom.append(child);
  };
  if (title !== undefined) add('strong', title);
  if (description !== undefined) add('p', description);
  if (usual !== undefined && usual !== '') add('p', `Default: ${JSON.stringify(usual)}`);
  const [example] = examples ?? [];
  if (example !== undefined) add('code', JSON.stringify(example));
  return dom;
}
