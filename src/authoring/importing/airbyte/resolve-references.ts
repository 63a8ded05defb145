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
  const sizes = new WeakMap<object, number>();
  let depth = 0;
  const sizeOf = (node: ManifestNode): number => {
    if (typeof node !== 'object' || node === null) return 1;
    const before = sizes.get(node);
    if (before !== undefined) return before;
    const size = Object.values(node).reduce((sum: number, item: ManifestNode) => sum + sizeOf(item), 1);
    sizes.set(node, size);
    return size;
  };
  const refuseSize = (node: ManifestNode, at: string): ManifestNode => {
    if (sizeOf(node) <= MAX_PARTS) return node;
    throw manifestError('The references of the manifest multiply without end.', at);
  };
  const visit = (node: ManifestNode, at: string, followed: readonly string[]): ManifestNode => {
    if (++depth > MAX_DEPTH) throw manifestError('The references of the manifest are nested too deep.', at);
    const resolved = resolve(node, at, followed);
    depth--;
    return resolved;
  };
  const resolve = (node: ManifestNode, at: string, followed: readonly string[]): ManifestNode => {
    if (isSequence(node)) return node.map((item, index) => visit(item, placeOf(at, index), followed));
    if (typeof node === 'string') return node.startsWith('#/') ? follow(node, at, followed) : node;
    if (!isMap(node)) return node;
    const own = Object.entries(node)
      .filter(([key]) => key !== '$ref')
      .map(([key, value]): [string, ManifestNode] => [
        key,
        key === 'config_overrides' ? value : visit(value, placeOf(at, key), followed),
      ]);
    const reference = get(node, '$ref');
    if (reference === undefined) return mapOf(own);
    const target = visit(reference, placeOf(at, '$ref'), followed);
    return isMap(target) && own.length > 0 ? { ...target, ...mapOf(own) } : target;
  };
  const follow = (reference: string, at: string, followed: readonly string[]): ManifestNode => {
    if (followed.includes(reference))
      throw manifestError(
        `The reference “${reference}” leads in a circle.`,
        at,
        `It goes by ${[...followed, reference].join(', ')}.`,
      );
    const before = shared.get(reference);
    if (before !== undefined) return before;
    const target = lookUp(manifest, reference.slice(2));
    if (target === undefined) throw manifestError(`The reference “${reference}” leads nowhere.`, at);
    const resolved = refuseSize(visit(target, at, [...followed, reference]), at);
    shared.set(reference, resolved);
    return resolved;
  };
  // definitions are there to be referred to, and each is read where something does
  const { definitions: _, ...used } = manifest;
  const resolved = refuseSize(visit(used, '', []), '');
  return isMap(resolved) ? resolved : {};
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
