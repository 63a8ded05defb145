import type { ManifestComponent } from './component.ts';
import type { ManifestFindings, ParentFindings } from './findings.ts';
import { isMap, isSequence, type NodeMap } from './node.ts';
import { ParameterUses } from './parameter-uses.ts';
import type { JobTree, TranslatedJob } from './parent-rows.ts';
import { originOf, type ParentOrigin } from './propagate.ts';

/** A parent, and what its jobs depend on besides. */
interface ParentPlace {
  readonly stream: ManifestComponent;
  readonly keepsState: boolean;
  readonly depth: number;
}

interface ReadParent extends ParentPlace {
  readonly tree: JobTree | undefined;
  readonly findings: ParentFindings;
  readonly uses: ParameterUses;
}

/**
 * Parents of streams, each of which is read once: in many connectors, all streams are below the same few. Parameters of
 * those streams that nothing in the parent reads make no other parent of it.
 */
export class SharedParents {
  /** Parents by their definition and what they read of the parameters around them. */
  readonly #read = new Map<string, ReadParent[]>();
  /** Which parameters parents of a definition read: one for each choice of names. */
  readonly #uses = new Map<string, Map<string, ParameterUses>>();
  readonly #definitions = new Map<string, string>();
  readonly #known = new WeakMap<NodeMap, string>();

  /** Returns the jobs of a parent, with its findings; they are the child's own, which changes them. */
  read(
    place: ParentPlace,
    below: ManifestFindings,
    readTree: (findings: ManifestFindings, stream: ManifestComponent) => JobTree | undefined,
  ): JobTree | undefined {
    const { stream, keepsState, depth } = place;
    const origin = originOf(stream.node) ?? { definition: stream.node, parameters: {}, isOuterFirst: false };
    const definition = this.#nameOf(origin);
    const choices = this.#uses.get(definition) ?? new Map<string, ParameterUses>();
    const keyFor = (uses: ParameterUses): string => `${definition} ${uses.valuesIn(origin.parameters)}`;
    const before = [...choices.values()]
      .flatMap((uses) => this.#read.get(keyFor(uses)) ?? [])
      .find(
        (one) =>
          // one that was read further down is not below too many others here
          one.stream.knowsSame(stream) &&
          one.keepsState === keepsState &&
          one.depth >= depth &&
          one.uses.allows(origin.parameters),
      );
    if (before !== undefined) {
      before.findings.tellAgain(below, stream.at);
      before.uses.repeat(stream.uses);
      return before.tree && copyOf(before.tree);
    }
    const findings = below.ofParent(stream.at);
    const uses = new ParameterUses(origin.parameters, stream.uses);
    if (origin.definition === stream.node) uses.readAll();
    const tree = readTree(findings, stream.noting(uses));
    this.#uses.set(definition, choices.set(uses.names.join(' '), uses));
    const key = keyFor(uses);
    this.#read.set(key, [...(this.#read.get(key) ?? []), { ...place, tree, findings, uses }]);
    return tree && copyOf(tree);
  }

  /** Returns a short name of what a parent is in the manifest, the same for all that say the same. */
  #nameOf({ definition, isOuterFirst }: ParentOrigin): string {
    // a schema is large, and says nothing of requests and rows
    const text = (): string => JSON.stringify({ ...definition, schema_loader: null });
    const name = this.#known.get(definition) ?? this.#numbered(text());
    this.#known.set(definition, name);
    return `${name} ${isOuterFirst}`;
  }

  #numbered(text: string): string {
    const name = this.#definitions.get(text) ?? String(this.#definitions.size);
    this.#definitions.set(text, name);
    return name;
  }
}

/** Returns a tree with jobs of its own; their values are never changed, and stay shared. */
function copyOf(tree: JobTree): JobTree {
  const copies = new Map<TranslatedJob, TranslatedJob>();
  const copied = (job: TranslatedJob): TranslatedJob => {
    const before = copies.get(job);
    if (before !== undefined) return before;
    const { children } = job;
    const own: TranslatedJob = { ...job };
    copies.set(job, own);
    if (isSequence(children))
      own['children'] = children.map((child) => (isMap(child) ? copied(child) : child));
    return own;
  };
  return {
    ...tree,
    roots: tree.roots.map(copied),
    leaf: copied(tree.leaf),
    others: tree.others.map(copied),
    slots: new Map([...tree.slots].map(([name, slot]) => [name, slot.ofCopy?.(copied) ?? slot])),
  };
}
