import type { ManifestComponent } from '../component.ts';
import type { NodeMap } from '../node.ts';
import { AllReads } from '../parameter-uses.ts';
import type { CodeClass } from './component-code.ts';

/** The end of some work. */
type End<T> = { readonly value: T } | { readonly error: unknown };

/** The reads of a component, and how they ended. */
interface Reading<T> {
  readonly of: ManifestComponent;
  readonly reads: AllReads;
  readonly end: End<T>;
}

/** Returns a function that reads a class of Python once. */
export function oncePerClass<T>(work: (type: CodeClass) => T): (type: CodeClass) => T {
  const known = new WeakMap<CodeClass, End<T>>();
  return (type) => {
    const end = known.get(type) ?? endOf(() => work(type));
    known.set(type, end);
    return resultOf(end);
  };
}

/**
 * Returns a function that reads a class of Python once for each component: many streams have the same one, and a stream
 * is read again for each way to its slices. What is read of the component is noted each time.
 *
 * @param work depends on the class and the component alone
 */
export function once<T>(
  work: (type: CodeClass, component: ManifestComponent) => T,
): (type: CodeClass, component: ManifestComponent) => T {
  const known = new WeakMap<CodeClass, WeakMap<NodeMap, Reading<T>[]>>();
  return (type, component) => {
    const ofType = known.get(type) ?? new WeakMap<NodeMap, Reading<T>[]>();
    known.set(type, ofType);
    const all = ofType.get(component.node) ?? [];
    ofType.set(component.node, all);
    let reading = all.find(({ of }) => of.knowsSame(component));
    if (reading === undefined) {
      reading = readingOf(work, type, component);
      all.push(reading);
    }
    const { reads, end } = reading;
    reads.repeat(component.uses);
    return resultOf(end);
  };
}

function readingOf<T>(
  work: (type: CodeClass, component: ManifestComponent) => T,
  type: CodeClass,
  component: ManifestComponent,
): Reading<T> {
  const reads = new AllReads();
  return { of: component, reads, end: endOf(() => work(type, component.noting(reads))) };
}

function endOf<T>(work: () => T): End<T> {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function resultOf<T>(end: End<T>): T {
  if ('error' in end) throw end.error;
  return end.value;
}
