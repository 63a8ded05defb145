import type { Mapping } from './mapping.ts';

/** Returns a mapping and, depth first, the mappings of its child tables. */
export function withChildren(mapping: Mapping): readonly Mapping[] {
  return [
    mapping,
    ...mapping.entries.flatMap((entry) => (entry.kind === 'table' ? withChildren(entry.mapping) : [])),
  ];
}
