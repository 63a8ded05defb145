import { get, isMap, isSequence, type ManifestNode, type NodeMap } from './node.ts';

/**
 * Parameters from around a component that the reading of it depends on. Each of them becomes a key of every component
 * below, and most of those keys say nothing there.
 */
export class ParameterUses {
  readonly #given: NodeMap;
  readonly #above: ParameterUses | undefined;
  readonly #names = new Set<string>();
  #isAll = false;

  /** @param above those of the component that this one is inside of, which may have the same ones from further above */
  constructor(given: NodeMap, above: ParameterUses | undefined) {
    this.#given = given;
    this.#above = above;
  }

  /** Takes note of a value that is read under a key: it may be that of a parameter. */
  read(key: string, value: ManifestNode): void {
    const given = get(this.#given, key);
    // what is an object in a parameter is another one in each component
    if (given !== undefined && (given === value || (isObject(given) && isObject(value))))
      this.#names.add(key);
    this.#above?.read(key, value);
  }

  /** Returns parameters that take note of each of them that is read. */
  noted(parameters: NodeMap): NodeMap {
    const note = (name: string | symbol): void => {
      if (typeof name === 'string') this.read(name, get(parameters, name) ?? null);
    };
    return new Proxy(parameters, {
      get(target, name) {
        note(name);
        const value: unknown = Reflect.get(target, name);
        return value;
      },
      has(target, name) {
        note(name);
        return Reflect.has(target, name);
      },
      getOwnPropertyDescriptor(target, name) {
        note(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
      ownKeys(target) {
        for (const name of Object.keys(target)) note(name);
        return Reflect.ownKeys(target);
      },
    });
  }

  /** Takes note of all keys and parameters of the components in a value that is read as a whole. */
  readWhole(node: ManifestNode | undefined): void {
    if (isSequence(node)) for (const item of node) this.readWhole(item);
    if (!isMap(node)) return;
    const parameters = get(node, '$parameters');
    if (isMap(parameters)) {
      for (const [key, value] of [...Object.entries(node), ...Object.entries(parameters)])
        this.read(key, value);
    }
    for (const [key, item] of Object.entries(node)) if (key !== '$parameters') this.readWhole(item);
  }

  /** Counts every parameter as one that is read. */
  readAll(): void {
    this.#isAll = true;
    this.#above?.readAll();
  }

  /** Names of the parameters that are read. */
  get names(): readonly string[] {
    return this.#isAll ? Object.keys(this.#given) : [...this.#names].toSorted();
  }

  /** Returns the values that other parameters have under the names that are read, as a text. */
  valuesIn(others: NodeMap): string {
    return JSON.stringify(this.names.map((name) => [name, get(others, name)]));
  }

  /** Tells if all is read in the same way with other parameters. */
  allows(others: NodeMap): boolean {
    const names = Object.keys(this.#given);
    return (
      Object.keys(others).every((name) => Object.hasOwn(this.#given, name)) &&
      names.every((name) => {
        const [one, other] = [get(this.#given, name), get(others, name)];
        // some components are looked through for components inside
        const isUsed = this.#isAll || this.#names.has(name) || isMap(one) || isMap(other);
        return !isUsed || one === other || JSON.stringify(one) === JSON.stringify(other);
      })
    );
  }

  /** Takes note in what is around another component of all that was read in this one, which is the same there. */
  repeat(above: ParameterUses | undefined): void {
    if (this.#isAll) above?.readAll();
    for (const name of this.#names) above?.read(name, get(this.#given, name) ?? null);
  }
}

/** All that is read of a component, whatever parameters are around it. */
export class AllReads extends ParameterUses {
  readonly #values = new Map<string, Set<ManifestNode>>();

  constructor() {
    super({}, undefined);
  }

  override read(key: string, value: ManifestNode): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  override repeat(above: ParameterUses | undefined): void {
    if (above === undefined) return;
    for (const [key, values] of this.#values) for (const value of values) above.read(key, value);
  }
}

function isObject(node: ManifestNode): boolean {
  return typeof node === 'object' && node !== null;
}
