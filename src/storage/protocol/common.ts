import { Type, type Static } from 'typebox';

/** `2017-02-14T10:34:45+0000`. */
export const Time = Type.String({ examples: ['2017-02-14T10:34:45+0000'] });

export const Creator = Type.Object(
  { id: Type.Integer(), description: Type.String() },
  { description: 'The token that made it.' },
);
export type Creator = Static<typeof Creator>;

/** JSON that is stored and sent back exactly; a body may also give it as text that holds JSON. */
export const Content = Type.Unsafe<unknown>({
  description: 'A JSON object, or text that holds one. Stored and sent back as it is.',
});

/** Lists that a query writes as `a,b`, and a body as a list. */
export const Names = Type.Union([Type.Array(Type.String()), Type.String()]);
export type Names = Static<typeof Names>;

/** The names of a comma-separated text or a list; empty ones are left out. */
export function namesOf(value: Names | undefined): string[] {
  const list = typeof value === 'string' ? value.split(',') : (value ?? []);
  return list.map((name) => name.trim()).filter((name) => name !== '');
}
