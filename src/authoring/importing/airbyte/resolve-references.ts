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

/** Parts of a manifest after its references are followed; more is an attack, or a circle by another way. */
const MAX_PARTS = 3_000_000;
/** Deepest nesting of a manifest after its references are followed. */
const MAX_DEPTH = 500;

/**
 * Follows the references of a manifest: a text `#/definitions/x` stands for the value there, and `$ref` in a map
 * gives it all keys of another map; its own come first. A key may have slashes in its name, so at each level the whole
 * rest of the path is tried first.
 *
 * @throws {RunError} `import.invalid` for a reference that leads nowhere, or in a circle
 */
export function resolveReferences(manifest: NodeMap): NodeMap {
  let parts = 0;
  let depth = 0;
  const visit = (node: ManifestNode, at: string, followed: readonly string[]): ManifestNode => {
    if (++parts > MAX_PARTS) throw manifestError('The references of the manifest multiply without end.', at);
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
    return isMap(target) ? { ...target, ...mapOf(own) } : target;
  };
  const follow = (reference: string, at: string, followed: readonly string[]): ManifestNode => {
    if (followed.includes(reference))
      throw manifestError(
        `The reference “${reference}” leads in a circle.`,
        at,
        `It goes by ${[...followed, reference].join(', ')}.`,
      );
    const target = lookUp(manifest, reference.slice(2));
    if (target === undefined) throw manifestError(`The reference “${reference}” leads nowhere.`, at);
    return visit(target, at, [...followed, reference]);
  };
  const resolved = visit(manifest, '', []);
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
