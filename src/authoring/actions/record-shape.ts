import { entriesOf, isList, isObject, type Json } from '../../lib/json/index.ts';

/** A place in the rows that becomes a column. */
export interface Leaf {
  /** Keys from the row to the place. */
  readonly keys: readonly string[];
  /** True where the place is the row itself. */
  readonly isRow: boolean;
  /** Values there may be lists or objects. */
  readonly isComplex: boolean;
}

/** Kinds and properties of the values at one place in all rows. */
interface RecordPlace {
  hasObject: boolean;
  hasList: boolean;
  hasScalar: boolean;
  readonly properties: Map<string, RecordPlace>;
}

/**
 * Returns the columns of rows, in the order in which their properties appear first; properties of one object stay
 * together. A place is opened into its properties when it is nothing but an object (or null, or missing) and not deeper
 * than the level.
 */
export function shapeOf(rows: readonly Json[], nestingLevel: number): readonly Leaf[] {
  const root = newPlace();
  for (const row of rows) see(root, row, nestingLevel + 1);
  const leaves: Leaf[] = [];
  for (const [key, place] of root.properties) collect(place, [key], leaves);
  const hasOther = root.hasList || root.hasScalar;
  if (!hasOther && leaves.length > 0) return leaves;
  const data = { keys: ['data'], isRow: true, isComplex: root.hasObject || root.hasList };
  // rows of another kind would be blank in every column but this one
  return hasOther && leaves.length > 0
    ? [...leaves.filter(({ keys }) => keys.length > 1 || keys[0] !== '.'), data]
    : [data];
}

function see(place: RecordPlace, value: Json, levels: number): void {
  if (value === null) return;
  if (isList(value)) place.hasList = true;
  else if (!isObject(value)) place.hasScalar = true;
  else {
    place.hasObject = true;
    if (levels === 0) return;
    for (const [key, item] of entriesOf(value)) {
      const inner = place.properties.get(key) ?? newPlace();
      place.properties.set(key, inner);
      see(inner, item, levels - 1);
    }
  }
}

function collect(place: RecordPlace, keys: readonly string[], leaves: Leaf[]): void {
  const isOnlyObject = place.hasObject && !place.hasList && !place.hasScalar;
  if (isOnlyObject && place.properties.size > 0) {
    for (const [key, inner] of place.properties) collect(inner, [...keys, key], leaves);
  } else leaves.push({ keys, isRow: false, isComplex: place.hasObject || place.hasList });
}

function newPlace(): RecordPlace {
  return { hasObject: false, hasList: false, hasScalar: false, properties: new Map() };
}
