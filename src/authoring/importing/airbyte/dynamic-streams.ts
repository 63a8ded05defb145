import type { StreamReport } from '../report.ts';
import type { ConnectorSettings } from './airbyte-settings.ts';
import { ManifestComponent } from './component.ts';
import { isConstant, isItems, isMapping, TemplateError, type Constant } from './jinja/ast.ts';
import { fold } from './jinja/fold.ts';
import { literalOf, pythonText } from '../../../lib/python-literal.ts';
import { parseTemplate } from './jinja/parse.ts';
import { isTruthy } from './jinja/values.ts';
import { foundStreams } from './found-streams.ts';
import { get, isMap, isSequence, mapOf, placeOf, shown, type ManifestNode, type NodeMap } from './node.ts';
import { propagate } from './propagate.ts';
import { outOf } from './request-object.ts';

/** A stream that a template and some values make. */
interface MadeStream {
  readonly stream: ManifestComponent;
  readonly note?: string;
  /** How its columns differ. */
  readonly column?: string;
}

interface DynamicStreams {
  readonly made: readonly MadeStream[];
  /** Those that can't be known now. */
  readonly not: readonly StreamReport[];
  readonly notes: readonly string[];
}

/** Most streams that one template may make. */
const MAX_STREAMS = 1000;

/**
 * Makes the streams of `dynamic_streams`: from values in the manifest, or in the settings as they are now. Streams that
 * the API has to be asked for are none of them.
 */
export function dynamicStreams(manifest: NodeMap, settings: ConnectorSettings): DynamicStreams {
  const made: MadeStream[] = [];
  const not: StreamReport[] = [];
  const notes: string[] = [];
  const definitions = get(manifest, 'dynamic_streams');
  for (const [index, definition] of (isSequence(definitions) ? definitions : []).entries()) {
    const at = placeOf('dynamic_streams', index);
    const given = get(definition, 'name');
    const name = typeof given === 'string' ? given : `dynamic stream ${index + 1}`;
    try {
      const streams = isMap(definition) ? new Template(definition, at, settings).streams(name) : [];
      const hint = settings.isGiven ? '' : ' Import it with --settings that name some, if there are any.';
      if (streams.length === 0)
        notes.push(`“${name}” makes no streams with the settings as they are now.${hint}`);
      made.push(...streams);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      const reason = { path: at, message: `No counterpart: ${error.message}` };
      not.push({ stream: name, outcome: 'not', columns: [], reasons: [reason], notes: [] });
    }
  }
  return { made, not, notes };
}

class Template {
  readonly #definition: NodeMap;
  readonly #at: string;
  readonly #settings: ConnectorSettings;
  readonly #resolver: ManifestComponent;

  constructor(definition: NodeMap, at: string, settings: ConnectorSettings) {
    const resolver = get(definition, 'components_resolver');
    this.#definition = definition;
    this.#at = at;
    this.#settings = settings;
    this.#resolver = new ManifestComponent(
      isMap(resolver) ? resolver : {},
      placeOf(at, 'components_resolver'),
    );
  }

  streams(name: string): readonly MadeStream[] {
    const template = get(this.#definition, 'stream_template');
    if (!isMap(template)) throw new TemplateError('a template of streams that is missing');
    if (this.#resolver.type === 'HttpComponentsResolver') return [this.#found(template, name)];
    const isOfSettings = this.#resolver.type === 'ConfigComponentsResolver';
    const note = 'Made of the settings as they are now: import it again when they change.';
    // what stands above comes first, unless the manifest says otherwise
    const isOuterFirst = get(this.#definition, 'use_parent_parameters') !== false;
    const names = new Set<string>();
    return this.#values().map((values) => {
      const stream = propagate(this.#filled(template, values), isOuterFirst);
      const name = get(stream, 'name');
      if (typeof name !== 'string') throw new TemplateError(`a stream whose name is ${shown(name)}`);
      if (names.has(name)) throw new TemplateError(`several streams with the name “${name}”`);
      names.add(name);
      return {
        stream: new ManifestComponent(
          get(stream, 'type') === undefined ? { ...stream, type: 'DeclarativeStream' } : stream,
          placeOf(this.#at, 'stream_template'),
        ),
        ...(isOfSettings ? { note } : {}),
      };
    });
  }

  /** Returns one stream in place of those that are known only while it runs. */
  #found(template: NodeMap, name: string): MadeStream {
    const made = foundStreams(template, this.#resolver, name, (node, puts) =>
      puts.reduce<NodeMap>((before, { keys, value }) => {
        const after = put(before, keys, value, true);
        return isMap(after) ? after : before;
      }, node),
    );
    const isOuterFirst = get(this.#definition, 'use_parent_parameters') !== false;
    return {
      stream: new ManifestComponent(propagate(made, isOuterFirst), placeOf(this.#at, 'stream_template')),
      column:
        'the rows of all streams that are found at run time are in one table; in the other tool each has its own',
    };
  }

  /** Returns the values of each stream. */
  #values(): readonly NodeMap[] {
    if (this.#resolver.type === 'ParametrizedComponentsResolver') {
      const list = get(this.#resolver.get('stream_parameters'), 'list_of_parameters_for_stream');
      return (isSequence(list) ? list : []).filter(isMap);
    }
    if (this.#resolver.type !== 'ConfigComponentsResolver')
      throw new TemplateError(`streams that are found at run time (${this.#resolver.type || 'unknown'})`);
    const lists = this.#resolver.children('stream_config').map((config) => this.#listed(config));
    const combinations = lists.reduce<readonly (readonly ManifestNode[])[]>(
      (before, list) => before.flatMap((items) => list.map((item) => [...items, item])),
      [[]],
    );
    if (combinations.length > MAX_STREAMS) throw new TemplateError(`more than ${MAX_STREAMS} streams`);
    return combinations.map((items) => {
      if (!items.every(isMap)) throw new TemplateError('streams of values that are no objects');
      return mapOf(items.flatMap((item) => Object.entries(item)));
    });
  }

  #listed(config: ManifestComponent): readonly ManifestNode[] {
    const path = config.get('configs_pointer');
    const keys = (isSequence(path) ? path : [path ?? '']).map((key) =>
      pythonText(this.#known(shown(key), {})),
    );
    const known = this.#settings.valueOf(keys);
    if (known === undefined && !this.#settings.isGiven)
      throw new TemplateError('streams that the settings name; import it with --settings');
    if (known === undefined) throw new TemplateError('streams that a secret names');
    const value = known.value === undefined ? [] : outOf(known.value);
    const more = config.get('default_values');
    return [...(isSequence(value) ? value : [value]), ...(isSequence(more) ? more : [])];
  }

  /** Returns the template with the values in their places. */
  #filled(template: NodeMap, values: NodeMap): NodeMap {
    let filled: ManifestNode = template;
    for (const mapping of this.#resolver.children('components_mapping')) {
      const condition = mapping.text('condition') ?? '';
      if (condition !== '' && !isTruthy(this.#rendered(condition, values))) continue;
      const path = mapping.get('field_path');
      const keys = (isSequence(path) ? path : []).map((key) => pythonText(this.#known(shown(key), values)));
      const value = this.#valueOf(mapping, values);
      filled = put(filled, keys, outOf(value), mapping.flag('create_or_update') && isTruthy(value));
    }
    return isMap(filled) ? filled : template;
  }

  #valueOf(mapping: ManifestComponent, values: NodeMap): Constant {
    const value = this.#rendered(mapping.text('value') ?? '', values);
    const wanted = mapping.text('value_type');
    const isText = typeof value === 'string';
    if (wanted !== undefined && wanted !== typeName(value))
      throw new TemplateError(`a value that is no ${wanted}: ${pythonText(value)}`);
    const isKept = wanted === 'string' && this.#resolver.type === 'ConfigComponentsResolver';
    if (isText && !isKept && !isPlainText(value))
      throw new TemplateError(`a text that may be read as something else: ${value}`);
    return value;
  }

  /** Returns what a template gives, read again as a literal. */
  #rendered(template: string, values: NodeMap): Constant {
    const value = this.#known(template, values);
    return typeof value === 'string' ? literalOf(value) : value;
  }

  #known(template: string, values: NodeMap): Constant {
    const expression = this.#settings.substituted(this.#resolver.folded(parseTemplate(template)));
    const known = fold(
      expression,
      new Map<string, Constant>([
        ['components_values', values],
        ['stream_template_config', get(this.#definition, 'stream_template')],
      ]),
    );
    if (!isConstant(known)) throw new TemplateError(`a value that is known only while it runs: ${template}`);
    return known.value;
  }
}

function typeName(value: Constant): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number') return 'integer';
  if (isItems(value)) return 'array';
  return isMapping(value) ? 'object' : 'number';
}

/** Tells if a text is one in YAML, too; a date, a number or a word such as “yes” is none. */
function isPlainText(text: string): boolean {
  return (
    /^[A-Za-z_/.][^\n\t]*$/.test(text) &&
    !/:(?: |$)| #|^(?:y|n|yes|no|true|false|on|off|null)$|^\.(?:inf|nan)$|\s$/i.test(text)
  );
}

/** Puts a value at a path; one that leads nowhere is made where it may be. */
function put(
  node: ManifestNode,
  [key = '', ...rest]: readonly string[],
  value: ManifestNode,
  isCreated: boolean,
): ManifestNode {
  if (/[*?[\]]/.test(key)) throw new TemplateError('a path of a template with a pattern in it');
  if (isSequence(node)) {
    const index = /^\d+$/.test(key) ? Number(key) : -1;
    const item = node[index];
    if (item === undefined) throw new TemplateError(`a path of a template that leads to no item: ${key}`);
    return node.with(index, rest.length === 0 ? value : put(item, rest, value, isCreated));
  }
  if (!isMap(node)) throw new TemplateError(`a path of a template that leads into a value: ${key}`);
  const before = get(node, key);
  if (before === undefined && !isCreated) return node;
  const after = rest.length === 0 ? value : put(before ?? {}, rest, value, isCreated);
  return { ...node, ...mapOf([[key, after]]) };
}
