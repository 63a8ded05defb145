import {
  get,
  isMap,
  isSequence,
  manifestError,
  mapOf,
  placeOf,
  type ManifestNode,
  type NodeMap,
} from './node.ts';

/** Parts of a manifest, those of a shared one counted at each of its places; more is an attack. */
const MAX_PARTS = 3_000_000;
/** Deepest nesting of a manifest after its references are followed. */
const MAX_DEPTH = 500;

/**
 * Follows the references of a manifest: a text `#/definitions/x` stands for the value there, and `$ref` in a map
 * gives it all keys of another map; its own come first. A key may have slashes in its name, so at each level the whole
 * rest of the path is tried first. What is referred to several times is read once.
 *
 * @throws {RunError} `import.invalid` for a reference that leads nowhere, or in a circle
 */
export function resolveReferences(manifest: NodeMap): NodeMap {
  const shared = new Map<string, ManifestNode>();
  const sizes = new Map<object, number>();
  /** Keys on the way to the present place, which is written out for an error alone. */
  const keys: (string | number)[] = [];
  const at = (): string => keys.reduce<string>(placeOf, '');
  let depth = 0;
  const sizeOf = (node: ManifestNode): number => {
    if (typeof node !== 'object' || node === null) return 1;
    const before = sizes.get(node);
    if (before !== undefined) return before;
    let size = 1;
    for (const item of isMap(node) ? Object.values(node) : node)
      size += typeof item === 'object' ? sizeOf(item) : 1;
    sizes.set(node, size);
    return size;
  };
  const refuseSize = (node: ManifestNode): ManifestNode => {
    if (sizeOf(node) <= MAX_PARTS) return node;
    throw manifestError('The references of the manifest multiply without end.', at());
  };
  const visit = (node: ManifestNode, followed: readonly string[]): ManifestNode => {
    if (++depth > MAX_DEPTH) throw manifestError('The references of the manifest are nested too deep.', at());
    const resolved = resolve(node, followed);
    depth--;
    return resolved;
  };
  const below = (key: string | number, node: ManifestNode, followed: readonly string[]): ManifestNode => {
    keys.push(key);
    const resolved = visit(node, followed);
    keys.pop();
    return resolved;
  };
  const resolve = (node: ManifestNode, followed: readonly string[]): ManifestNode => {
    if (typeof node === 'string') return isReference(node) ? follow(node, followed) : node;
    if (isSequence(node)) {
      const items = node.map((item, index) => (isPlain(item) ? item : below(index, item, followed)));
      return items.every((item, index) => item === node[index]) ? node : items;
    }
    if (!isMap(node)) return node;
    const names = Object.keys(node).filter((key) => key !== '$ref');
    const changed = new Map<string, ManifestNode>();
    for (const key of names) {
      const value = node[key] ?? null;
      if (isPlain(value) || key === 'config_overrides') continue;
      const resolved = below(key, value, followed);
      if (resolved !== value) changed.set(key, resolved);
    }
    const reference = get(node, '$ref');
    if (reference === undefined && changed.size === 0) return node;
    const own = names.map((key) => [key, (changed.has(key) ? changed.get(key) : node[key]) ?? null] as const);
    if (reference === undefined) return mapOf(own);
    const target = below('$ref', reference, followed);
    return isMap(target) && own.length > 0 ? { ...target, ...mapOf(own) } : target;
  };
  const follow = (reference: string, followed: readonly string[]): ManifestNode => {
    if (followed.includes(reference))
      throw manifestError(
        `The reference “${reference}” leads in a circle.`,
        at(),
        `It goes by ${[...followed, reference].join(', ')}.`,
      );
    const before = shared.get(reference);
    if (before !== undefined) return before;
    const target = lookUp(manifest, reference.slice(2));
    if (target === undefined) throw manifestError(`The reference “${reference}” leads nowhere.`, at());
    const resolved = refuseSize(visit(target, [...followed, reference]));
    shared.set(reference, resolved);
    return resolved;
  };
  // definitions are there to be referred to, and each is read where something does
  const { definitions: _, ...used } = manifest;
  const resolved = refuseSize(visit(used, []));
  return isMap(resolved) ? resolved : {};
}

function isReference(text: string): boolean {
  return text.startsWith('#/');
}

/** Tells if nothing in a value can be a reference. */
function isPlain(node: ManifestNode): boolean {
  return typeof node === 'string' ? !isReference(node) : typeof node !== 'object' || node === null;
}

function lookUp(root: ManifestNode, reference: string): ManifestNode | undefined {
  let node: ManifestNode | undefined = root;
  let rest = reference;
  while (rest !== '' && node !== undefined) {
    const whole = get(node, rest);
    if (whole !== undefined) return whole;
    const slash = rest.indexOf('/');
    const head = slash === -1 ? rest : rest.slice(0, slash);
    rest = slash === -1 ? '' : rest.slice(slash + 1);
    node = isSequence(node) && /^\d+$/.test(head) ? node[Number(head)] : get(node, head);
  }
  return node;
}
