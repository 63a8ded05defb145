/** `flat`: 10 fields. `nested`: and an object, and a list of 3. `children`: flat, some with a child request; `parents`: all
 * with one. `late`: flat, and the very last record has one more field. */
export type Shape = 'flat' | 'nested' | 'children' | 'parents' | 'late';
export const SHAPES: readonly Shape[] = ['flat', 'nested', 'children', 'parents', 'late'];

/** Every so many records of the shape `children` one has a child. */
const CHILD_EVERY = 500;

const GIVEN = ['Amina', 'Bo', 'Chloé', 'Dita', 'Emil', 'Farid', 'Göran', 'Hana'];
const FAMILY = ['Anders', 'Berg', 'Costa', 'Dvořák', 'Ekman', 'Fischer', 'Garcia', 'Holm', 'Ito'];
const TOWNS = ['Lyon', 'Porto', 'Gent', 'Brno', 'Turku'];

/** An order of an invented shop: the fields of a record behind its `id`, for the record of this number. */
export function fieldsOf(id: number, shape: Shape): object {
  const given = GIVEN[id % GIVEN.length] ?? '';
  const flat = {
    customer: `${given} ${FAMILY[id % FAMILY.length] ?? ''}`,
    email: `customer.${id}@shop.example`,
    state: ['open', 'paid', 'sent', 'returned'][id % 4],
    total: ((id * 731) % 250_000) / 100,
    ordered_at: `2025-${digits((id % 12) + 1)}-${digits((id % 28) + 1)} ${digits(id % 24)}:${digits((id * 7) % 60)}:00`,
    town: TOWNS[id % TOWNS.length],
    gift: id % 3 === 0,
    points: (id * 13) % 997,
    remark: id % 11 === 0 ? null : id % 7 === 0 ? `“${given}” said: "leave it at the door"` : `remark ${id}`,
  };
  if (shape === 'children') return { ...flat, has_parcels: id % CHILD_EVERY === 0 ? 1 : 0 };
  if (shape === 'parents') return { ...flat, has_parcels: 1 };
  if (shape !== 'nested') return flat;
  const sent = {
    street: `Long street ${id % 400}`,
    post_code: digits(id % 97) + '100',
    floor: id % 9,
    at: { x: (id % 180) + 0.25, y: (id % 90) + 0.5 },
  };
  const lines = [1, 2, 3].map((n) => ({
    article: `A-${(id * n) % 7919}`,
    pieces: ((id + n) % 5) + 1,
    price: ((id * n * 17) % 9999) / 100,
  }));
  return { ...flat, sent_to: sent, lines };
}

function digits(value: number): string {
  return String(value).padStart(2, '0');
}
