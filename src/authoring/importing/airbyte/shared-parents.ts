import type { ManifestComponent } from './component.ts';
import type { ManifestFindings, ParentFindings } from './findings.ts';
import { isMap, isSequence } from './node.ts';
import type { JobTree, TranslatedJob } from './parent-rows.ts';

/** A parent, and what its jobs depend on besides. */
interface ParentPlace {
  readonly stream: ManifestComponent;
  readonly keepsState: boolean;
  readonly depth: number;
}

interface ReadParent extends ParentPlace {
  readonly tree: JobTree | undefined;
  readonly findings: ParentFindings;
}

/** Parents of streams, each of which is read once: in many connectors, all streams are below the same few. */
export class SharedParents {
  readonly #read = new Map<string, ReadParent[]>();

  /** Returns the jobs of a parent, with its findings; they are the child's own, which changes them. */
  read(
    place: ParentPlace,
    below: ManifestFindings,
    readTree: (findings: ManifestFindings) => JobTree | undefined,
  ): JobTree | undefined {
    const { stream, keepsState, depth } = place;
    // a schema is large, and says nothing of requests and rows
    const key = JSON.stringify({ ...stream.node, schema_loader: null });
    const all = this.#read.get(key) ?? [];
    const before = all.find(
      (one) =>
        // one that was read further down is not below too many others here
        one.stream.knowsSame(stream) && one.keepsState === keepsState && one.depth >= depth,
    );
    if (before !== undefined) {
      before.findings.tellAgain(below, stream.at);
      return before.tree && copyOf(before.tree);
    }
    const findings = below.ofParent(stream.at);
    const tree = readTree(findings);
    this.#read.set(key, [...all, { ...place, tree, findings }]);
    return tree && copyOf(tree);
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
