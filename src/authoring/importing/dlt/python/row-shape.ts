import type { TranslatedValue } from '../value.ts';
import { isObject } from './row-conditions.ts';

/** A value that is worked out of a row. */
export interface RowValue {
  readonly out: TranslatedValue;
  /** Its kind in every row; undefined where that is not known. */
  readonly kind?: 'text' | 'number' | 'boolean';
  /** It is the same in every row. */
  readonly isConstant?: true;
}

/** A row as steps make it, said of the row as the API gave it. */
export interface RowShape {
  /** Conditions that all must hold, or the row is left out. */
  readonly where: readonly TranslatedValue[];
  /** Values of fields at the top of the row; undefined for a field that is taken out. */
  readonly fields: ReadonlyMap<string, RowValue | undefined>;
  /** The other fields stay. */
  readonly keepsRest: boolean;
}

export const UNCHANGED: RowShape = { where: [], fields: new Map(), keepsRest: true };

/** Tells whether steps leave a field as the API gave it; it may lead into an object. */
export function isKept({ fields, keepsRest }: RowShape, path: string): boolean {
  const [root = ''] = path.replace(/^\$\.?/, '').split(/[.[]/);
  if (!fields.has(root)) return keepsRest;
  const out = fields.get(root)?.out;
  return typeof out === 'object' && out !== null && 'path' in out && out['path'] === root;
}

/** Returns `columns` and `exclude` of a job: columns are put into a row whose fields were left out. */
export function columnsOfShape({ fields, keepsRest }: RowShape): {
  readonly columns: Readonly<Record<string, TranslatedValue>>;
  readonly exclude: readonly string[];
} {
  const given = [...fields].flatMap(([name, value]) =>
    value === undefined ? [] : [[name, isObject(value.out) ? value.out : { value: value.out }] as const],
  );
  const gone = [...fields].flatMap(([name, value]) => (value === undefined ? [name] : []));
  return { columns: Object.fromEntries(given), exclude: keepsRest ? gone : ['*'] };
}

/** Returns a row with a field besides, or without it. */
export function withField(shape: RowShape, name: string, value: RowValue | undefined): RowShape {
  return { ...shape, fields: new Map([...shape.fields, [name, value]]) };
}
