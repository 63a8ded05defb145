import type { Json } from '../../../lib/json/index.ts';

/** A component as the catalogue knows it. */
export interface ComponentEntry {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  /** All other fields that the index shows of it. */
  readonly fields: Readonly<Record<string, Json>>;
}

export interface Catalogue {
  readonly components: readonly ComponentEntry[];
  find(id: string): ComponentEntry | undefined;
}

/** The components of a service; of two with one id the later one counts. */
export function createCatalogue(entries: Iterable<ComponentEntry>): Catalogue {
  const byId = new Map<string, ComponentEntry>();
  for (const entry of entries) byId.set(entry.id, entry);
  return { components: [...byId.values()], find: (id) => byId.get(id) };
}
