import type { Reply } from '../reply.ts';
import type { ComponentEntry } from '../catalogue/catalogue.ts';

/** A component as the index and the component detail show it. */
export function componentReply(entry: ComponentEntry, origin: string): Record<string, Reply> {
  const uri = `${origin}/v2/storage/components/${encodeURIComponent(entry.id)}`;
  return { id: entry.id, uri, type: entry.type, name: entry.name, ...entry.fields };
}

const BRIEF = ['id', 'name', 'type', 'ico64', 'ico128', 'features', 'flags', 'description', 'categories'];

/** Returns the few fields that `exclude=componentDetails` leaves. */
export function briefComponent(entry: ComponentEntry, origin: string): Record<string, Reply> {
  return Object.fromEntries(
    Object.entries(componentReply(entry, origin)).filter(([key]) => BRIEF.includes(key)),
  );
}
