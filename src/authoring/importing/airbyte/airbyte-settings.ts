import { literalOf, type PythonValue } from '../../../lib/python-literal.ts';
import type { SettingReport } from '../report.ts';
import { TemplateError, type Constant, type Expression } from './jinja/ast.ts';
import { mapParts } from './jinja/map-parts.ts';
import { get, isMap, isSequence, shown, type ManifestNode, type NodeMap } from './node.ts';
import { accessOf, type Reference, type ValueType } from './translate/position.ts';
import { segmentOf } from './translate/selected.ts';

/** The description of a setting in a manifest. */
interface Setting {
  readonly keys: readonly string[];
  readonly title: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  readonly type: string;
  readonly fallback: ManifestNode | undefined;
  readonly example: ManifestNode | undefined;
  /** Items of a list that has to be given, which stand for it where its value must be known now. */
  readonly items: readonly ManifestNode[];
  /** The items stand for it. */
  readonly isExample: boolean;
}

/** The key of `parameters.config` that holds the settings: beside its own keys they could mean something else. */
const FOLDER = 'settings';

const TYPES: Readonly<Record<string, ValueType>> = {
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  array: 'list',
};

/** The settings of a connector: what its specification has, and what its templates ask for besides. */
export class ConnectorSettings {
  readonly #known = new Map<string, Setting>();
  readonly #given: NodeMap | undefined;

  /**
   * @param specification the JSON Schema of the settings
   * @param given values for them, where there are some already
   */
  constructor(specification: ManifestNode | undefined, given?: NodeMap) {
    this.#given = given;
    this.#collect(specification, [], true, 0);
  }

  /** Values were given, so that what is missing among them is not there. */
  get isGiven(): boolean {
    return this.#given !== undefined;
  }

  /** Returns the reference to a setting, which is added where the specification does not have it. */
  reference(keys: readonly (string | number)[]): Reference {
    const index = keys.findIndex((key) => typeof key === 'number');
    if (index > 0) return this.#partOf(keys.slice(0, index), keys.slice(index));
    const names = keys.map(String);
    const known = this.#known.get(names.join('.'));
    if (known?.type === 'object' || (known === undefined && this.#isAbove(names)))
      throw new TemplateError('a map of settings');
    const setting = known ?? this.#add(names);
    return { out: { attr: attributeOf(setting) }, type: TYPES[setting.type] ?? 'any' };
  }

  /** Returns what is at a place in a setting: an item of a list, or a character of a text. */
  #partOf(names: readonly (string | number)[], keys: readonly (string | number)[]): Reference {
    const { out, type } = this.reference(names);
    const [first = 0] = keys;
    if (type === 'text' && keys.length === 1)
      return { out: { function: 'substr', args: [out, first, 1] }, type: 'text' };
    if (type !== 'list') throw new TemplateError('a part of a setting');
    return { out: { function: 'get', args: [out, `$${keys.map(segmentOf).join('')}`] } };
  }

  /** Returns the value of a setting, if it is known: given, or the only possible one. That of a secret never is. */
  valueOf(keys: readonly (string | number)[]): { readonly value: Constant } | undefined {
    const names = keys.map(String);
    const setting = this.#known.get(names.join('.'));
    if (setting?.isSecret === true) return this.#isLeftOut(setting) ? { value: undefined } : undefined;
    if (this.#isAboveSecret(names)) return undefined;
    if (this.#given !== undefined) return { value: dig(this.#given, names) ?? setting?.fallback };
    if (setting?.fallback !== undefined) return { value: setting.fallback };
    // nobody has to give it, and nobody has
    return setting?.isRequired === true || this.#isAbove(names) ? undefined : { value: undefined };
  }

  /**
   * Takes the examples of lists whose values are not known, and which the expression asks for, for their values. Returns
   * the names of all in it whose values are examples.
   */
  takeExamples(expression: Expression): readonly string[] {
    if (this.#given !== undefined) return [];
    for (const name of this.openIn(expression)) {
      const setting = this.#known.get(name);
      if (setting?.type !== 'array' || setting.items.length === 0) continue;
      this.#known.set(name, { ...setting, fallback: [...setting.items], isExample: true });
    }
    const examples = [...this.#known.values()].filter(({ isExample }) => isExample);
    return examples.filter(({ keys }) => asksFor(expression, keys)).map(({ keys }) => keys.join('.'));
  }

  /** Gives a setting the first of some values for its default, if it has another one. */
  prefer(keys: readonly string[], values: readonly string[]): void {
    const name = keys.join('.');
    const setting = this.#known.get(name);
    const [first] = values;
    if (setting === undefined || first === undefined || values.includes(shown(setting.fallback ?? '')))
      return;
    this.#known.set(name, { ...setting, fallback: first });
  }

  /** Tells if a secret has a value, which is not known itself. */
  hasSecret(keys: readonly (string | number)[]): boolean {
    const names = keys.map(String);
    const isSecret = this.#known.get(names.join('.'))?.isSecret === true;
    const value = isSecret && this.#given !== undefined ? dig(this.#given, names) : undefined;
    return value !== undefined && value !== '';
  }

  /**
   * Returns what the text of a setting that is given reads as in Python, where that is something else, or is in JSON: `1.50`
   * is 1.5, and `true` a text. The value of a secret may be in it.
   */
  readingOf(keys: readonly (string | number)[]): { readonly value: PythonValue } | undefined {
    const given = this.#given === undefined ? undefined : dig(this.#given, keys.map(String));
    if (typeof given !== 'string') return undefined;
    const value = literalOf(given);
    return value === given && !/^(?:true|false|null)$/.test(given) ? undefined : { value };
  }

  /** Tells if nobody has to give a secret, and nobody has: it is none of a choice that is still open. */
  #isLeftOut({ keys, isRequired, fallback }: Setting): boolean {
    if (isRequired || fallback !== undefined) return false;
    return this.#given === undefined ? keys.length === 1 : dig(this.#given, keys) === undefined;
  }

  /** Tells if the setting of an attribute is optional and has no default. */
  mayBeEmpty(attribute: string): boolean {
    return this.#used().some(
      (setting) =>
        attributeOf(setting) === attribute && !setting.isRequired && setting.fallback === undefined,
    );
  }

  /** Tells if an optional setting of an attribute has no value, as the settings are now. */
  isEmptyNow(attribute: string): boolean {
    const setting = this.#used().find((each) => attributeOf(each) === attribute);
    return setting?.isRequired === false && (this.#value(setting) ?? '') === '';
  }

  /** Tells if the setting of an attribute is a list. */
  isList(attribute: string): boolean {
    return this.#used().some((setting) => attributeOf(setting) === attribute && setting.type === 'array');
  }

  /** Returns the expression with all known settings replaced by their values. */
  substituted(expression: Expression): Expression {
    const access = accessOf(expression);
    if (access?.name === 'config' && access.keys.length > 0) {
      const known = this.valueOf(access.keys);
      if (known === undefined) return expression;
      if (known.value === undefined && access.fallback !== undefined)
        return this.substituted(access.fallback);
      return { kind: 'constant', value: known.value };
    }
    return this.#isGivenIn(expression) ?? mapParts(expression, (part) => this.substituted(part));
  }

  /** Returns the settings in an expression whose values are not known. */
  openIn(expression: Expression): readonly string[] {
    const access = accessOf(expression);
    if (access?.name === 'config' && access.keys.length > 0) {
      const names = access.keys.map(String);
      const isSecret = this.#known.get(names.join('.'))?.isSecret === true || this.#isAboveSecret(names);
      return isSecret || this.valueOf(access.keys) !== undefined ? [] : [names.join('.')];
    }
    const found: string[] = [];
    mapParts(expression, (part) => {
      found.push(...this.openIn(part));
      return part;
    });
    return [...new Set(found)];
  }

  /** Returns whether a setting is given, for `'key' in config`; undefined for anything else, and where it is not known. */
  #isGivenIn(expression: Expression): Expression | undefined {
    if (expression.kind !== 'binary' || !['in', 'not in'].includes(expression.operator)) return undefined;
    const { left, right, operator } = expression;
    const of = accessOf(right);
    if (of?.name !== 'config' || left.kind !== 'constant' || typeof left.value !== 'string') return undefined;
    // below the settings a value may be a list
    const known = of.keys.length === 0 ? this.valueOf([left.value]) : undefined;
    if (known === undefined) return undefined;
    return { kind: 'constant', value: (known.value !== undefined) === (operator === 'in') };
  }

  /** Returns the part of `parameters.config` with the settings. */
  entries(): NodeMap {
    const root: Record<string, unknown> = {};
    for (const setting of this.#used()) {
      let map = root;
      for (const name of setting.keys.slice(0, -1)) {
        const inner = map[name];
        const next: Record<string, unknown> =
          typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
        map[name] = next;
        map = next;
      }
      const last = setting.keys.at(-1) ?? '';
      map[setting.isSecret ? `#${last}` : last] = this.#valueFor(setting);
    }
    return Object.keys(root).length === 0 ? {} : ({ [FOLDER]: root } as NodeMap);
  }

  /** Returns the settings without a value. */
  open(): readonly SettingReport[] {
    return this.#used()
      .filter((setting) => setting.isExample || this.#value(setting) === undefined)
      .map((setting) => ({
        key: attributeOf(setting),
        title: setting.title,
        isRequired: setting.isRequired,
        ...(setting.example === undefined ? {} : { example: shown(setting.example) }),
      }));
  }

  /** Returns the settings in use; a map that holds others is no setting of its own. */
  #used(): readonly Setting[] {
    const all = [...this.#known.values()];
    return all.filter(
      ({ keys }) =>
        !all.some(
          (other) => other.keys.length > keys.length && keys.every((key, i) => other.keys[i] === key),
        ),
    );
  }

  #valueFor(setting: Setting): ManifestNode {
    const value = this.#value(setting);
    // a list without items is no value where functions read it
    if (value !== undefined) return isSequence(value) && value.length === 0 ? '' : value;
    return setting.isSecret && setting.isRequired ? `$env:${environmentName(setting.keys)}` : '';
  }

  #value(setting: Setting): ManifestNode | undefined {
    const given = this.#given === undefined ? undefined : dig(this.#given, setting.keys);
    return given ?? setting.fallback;
  }

  /** Tells if the path is that of a map of settings. */
  #isAbove(names: readonly string[]): boolean {
    return [...this.#known.values()].some(
      ({ keys }) => keys.length > names.length && names.every((name, i) => keys[i] === name),
    );
  }

  #isAboveSecret(names: readonly string[]): boolean {
    return [...this.#known.values()].some(
      ({ keys, isSecret }) => isSecret && names.every((name, i) => keys[i] === name),
    );
  }

  #add(keys: readonly string[]): Setting {
    const setting: Setting = {
      keys,
      title: keys.at(-1) ?? '',
      isSecret: /(?:secret|password|token|api_?key)$/i.test(keys.at(-1) ?? ''),
      isRequired: false,
      type: '',
      fallback: undefined,
      example: undefined,
      items: [],
      isExample: false,
    };
    this.#known.set(keys.join('.'), setting);
    return setting;
  }

  #collect(
    schema: ManifestNode | undefined,
    above: readonly string[],
    isRequired: boolean,
    depth: number,
  ): void {
    if (!isMap(schema) || depth > 10) return;
    const required = get(schema, 'required');
    const names = isSequence(required) ? required : [];
    const properties = get(schema, 'properties');
    for (const [name, property] of Object.entries(isMap(properties) ? properties : {})) {
      const keys = [...above, name];
      const isNeeded = isRequired && names.includes(name);
      const inner =
        isMap(get(property, 'properties')) ||
        isSequence(get(property, 'oneOf')) ||
        isSequence(get(property, 'anyOf'));
      if (inner) this.#collect(property, keys, isNeeded, depth + 1);
      else this.#put(keys, property, isNeeded);
    }
    for (const word of ['oneOf', 'anyOf', 'allOf']) {
      const branches = get(schema, word);
      // one of several: which one is wanted, nobody knows yet
      if (isSequence(branches))
        for (const branch of branches)
          this.#collect(branch, above, isRequired && word === 'allOf', depth + 1);
    }
  }

  #put(keys: readonly string[], schema: ManifestNode, isRequired: boolean): void {
    const before = this.#known.get(keys.join('.'));
    const examples = get(schema, 'examples');
    const title = get(schema, 'title');
    const type = get(schema, 'type');
    const only = get(schema, 'const');
    const options = get(schema, 'enum');
    const fallback =
      get(schema, 'default') ??
      only ??
      (isSequence(options) && options.length === 1 ? options[0] : undefined);
    this.#known.set(keys.join('.'), {
      keys,
      title: typeof title === 'string' ? title : (keys.at(-1) ?? ''),
      isSecret: get(schema, 'airbyte_secret') === true || before?.isSecret === true,
      isRequired: isRequired || before?.isRequired === true,
      type:
        typeof type === 'string' ? type : isSequence(type) ? shown(type.find((one) => one !== 'null')) : '',
      fallback: before?.fallback ?? fallback ?? undefined,
      example: isSequence(examples) ? examples[0] : examples,
      items: isRequired && isSequence(examples) ? (examples.find(isSequence) ?? examples) : [],
      isExample: false,
    });
  }
}

function asksFor(expression: Expression, keys: readonly string[]): boolean {
  const access = accessOf(expression);
  if (access?.name === 'config' && access.keys.length > 0)
    return keys.every((key, index) => String(access.keys[index]) === key);
  let isFound = false;
  mapParts(expression, (part) => {
    isFound ||= asksFor(part, keys);
    return part;
  });
  return isFound;
}

function attributeOf({ keys, isSecret }: Setting): string {
  const last = keys.at(-1) ?? '';
  return [FOLDER, ...keys.slice(0, -1), isSecret ? `#${last}` : last].join('.');
}

function environmentName(keys: readonly string[]): string {
  return keys.join('_').replaceAll(/\W/g, '_').toUpperCase();
}

function dig(root: NodeMap, keys: readonly string[]): ManifestNode | undefined {
  let node: ManifestNode | undefined = root;
  for (const key of keys)
    node = isSequence(node) || typeof node === 'string' ? node.at(Number(key)) : get(node, key);
  return node ?? undefined;
}
