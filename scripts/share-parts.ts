import type { OptionSchema } from '../src/lib/option.ts';
import { isSchema } from '../src/engine/config/validation-schema.ts';

/** Parts of a schema that are shorter stay where they are: a reference would be no shorter once it is compiled. */
const SHORTEST = 150;

/** Keywords with one schema, a list of them, or a map of them by their names. */
const ONE = new Set(['items', 'additionalProperties', 'if', 'then', 'else', 'not']);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf']);
const MAPS = new Set(['properties', 'patternProperties', 'definitions']);

/**
 * The same schema with each part that stands in it several times as one definition, to which the places refer. What is
 * compiled from it is then compiled once.
 */
export function shareParts(schema: OptionSchema): OptionSchema {
  const times = new Map<string, number>();
  const count = (part: OptionSchema): OptionSchema => {
    const text = JSON.stringify(part);
    const before = times.get(text) ?? 0;
    times.set(text, before + 1);
    return before > 0 ? part : inside(part, count);
  };
  inside(schema, count);

  const shared = new Map<string, { readonly name: string; readonly part: OptionSchema }>();
  const share = (part: OptionSchema): OptionSchema => {
    const text = JSON.stringify(part);
    if (text.length < SHORTEST || (times.get(text) ?? 0) < 2) return inside(part, share);
    const name = shared.get(text)?.name ?? `shared${shared.size + 1}`;
    // named first: its parts get the names behind its own
    if (!shared.has(text)) {
      shared.set(text, { name, part });
      shared.set(text, { name, part: inside(part, share) });
    }
    return { $ref: `#/definitions/${name}` };
  };
  const { definitions, ...rest } = inside(schema, share);
  const parts = [...shared.values()].map(({ name, part }) => [name, part] as const);
  return {
    ...rest,
    definitions: { ...(isSchema(definitions) ? definitions : {}), ...Object.fromEntries(parts) },
  };
}

/** The schema with each part directly inside of it changed. */
function inside(schema: OptionSchema, change: (part: OptionSchema) => OptionSchema): OptionSchema {
  const changed = (value: unknown): unknown => (isSchema(value) ? change(value) : value);
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (ONE.has(keyword)) return [keyword, changed(value)];
      if (LISTS.has(keyword) && Array.isArray(value)) return [keyword, value.map(changed)];
      if (MAPS.has(keyword) && isSchema(value))
        return [
          keyword,
          Object.fromEntries(Object.entries(value).map(([name, item]) => [name, changed(item)])),
        ];
      return [keyword, value];
    }),
  );
}
