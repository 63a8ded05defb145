import type { BodyBytes } from '../../../src/engine/formats/body.ts';
import type { FormatRows, Measured } from '../../../src/engine/formats/index.ts';
import type { Json } from '../../../src/lib/json/index.ts';

/** A body; with a size of pieces, it gives no more at once. */
export function bodyOf(text: string | Uint8Array, piece = Infinity): BodyBytes {
  const bytes = Buffer.from(text);
  const body = { bytes: bytes.length, read: (at: number, length: number) => bytes.subarray(at, at + length) };
  return Object.assign(body, { pieceBytes: piece });
}

/** All rows, after they were measured: the two must agree. */
export function take(rows: FormatRows): readonly Json[] {
  const measured = measure(rows);
  const all = [...rows.chunks()].flat();
  if (measured.rows !== all.length) throw new Error(`measured ${measured.rows} rows, and read ${all.length}`);
  return all;
}

export function measure(rows: FormatRows): Measured {
  const steps = rows.measure();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
