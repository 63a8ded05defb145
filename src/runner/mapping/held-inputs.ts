import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Type } from 'typebox';
import { writeFileAtomic } from '../../engine/sink/atomic.ts';
import { encodeExact, getKey, isObject, parseExact } from '../../lib/json/index.ts';
import type { Inputs } from './mapping-types.ts';
import { shapeOf } from './shape.ts';

/** Result of an input mapping, of a row whose output is held back. */
export type HeldInputs = Pick<Inputs, 'processed' | 'state'>;

const HeldFile = Type.Object({
  project: Type.String(),
  processedTags: Type.Array(Type.Object({ fileId: Type.Integer(), tags: Type.Array(Type.String()) })),
});

/**
 * Puts what is to be remembered of the inputs into an output that is held back: when it is pushed after all, the next
 * run takes what came into the storage since, as after a run that held nothing back. Nothing to remember is no file.
 *
 * @param project the storage that they are from
 */
export function holdInputs(out: string, { state, processed }: HeldInputs, project: string): void {
  if (state === undefined && processed.length === 0) return;
  const head = JSON.stringify({ project, processedTags: processed });
  // The state keeps its numbers and the order of its keys.
  const text = `${head.slice(0, -1)},"inputState":${encodeExact(state ?? null)}}\n`;
  writeFileAtomic(fileOf(out), text, 0o600);
}

/** Returns what is to be remembered of the inputs of an output; undefined where they are not from this storage. */
export function heldInputs(out: string, project: string): HeldInputs | undefined {
  const file = fileOf(out);
  if (!existsSync(file)) return undefined;
  const json = parseExact(readFileSync(file, 'utf8'));
  const shaped = shapeOf(HeldFile, json);
  if ('misfits' in shaped) throw new Error(`${file} is not what a run has written.`);
  if (shaped.value.project !== project) return undefined;
  const state = isObject(json) ? getKey(json, 'inputState') : undefined;
  return { state: state ?? undefined, processed: shaped.value.processedTags };
}

const fileOf = (out: string): string => path.join(out, 'inputs.json');
