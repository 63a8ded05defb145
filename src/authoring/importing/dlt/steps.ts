import { UNCHANGED, type RowShape } from './python/row-shape.ts';
import { withStep } from './python/row-steps.ts';
import { Untaken } from './findings.ts';
import type { Resource } from './resources.ts';
import { FunctionCode, isList, ValueMap, type Value } from './value.ts';

/** Returns what code makes of the rows of a resource; steps that are not understood are among its findings. */
export function shapeOf(resource: Resource): RowShape {
  const { map, at, findings, addedSteps } = resource;
  const given = map.get('processing_steps') ?? [];
  const own = isList(given) ? given : [given];
  let shape = UNCHANGED;
  for (const [i, step] of own.entries())
    findings.attempt(`${at}.processing_steps[${i}]`, () => (shape = stepped(shape, step, resource)));
  for (const { kind, code } of addedSteps)
    findings.attempt(`line ${code.line}`, () => (shape = withOne(shape, kind, code, resource)));
  return shape;
}

function stepped(start: RowShape, step: Value, resource: Resource): RowShape {
  if (!(step instanceof ValueMap)) throw new Untaken('a step that is Python code', step);
  let shape = start;
  // in this order, whatever that of the keys is
  for (const kind of ['filter', 'map', 'yield_map']) {
    const code = step.get(kind);
    if (code !== undefined) shape = withOne(shape, kind, code, resource);
  }
  return shape;
}

function withOne(shape: RowShape, kind: string, code: Value, { parent }: Resource): RowShape {
  if (!(code instanceof FunctionCode) || (kind !== 'filter' && kind !== 'map'))
    throw new Untaken(`a step that is Python code (“${kind}”)`, code);
  // fields that a row includes from its parent have other names here
  if (parent !== undefined && code.file.text(code.node).includes(`_${parent}_`))
    throw new Untaken('a step that looks at a field of the parent', code);
  return withStep(shape, kind, code);
}
