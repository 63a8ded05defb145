import type { LakeCatalogue } from './catalogue.ts';
import type { LakeDatabase } from './database.ts';
import type { LakeLocks } from './locks.ts';
import type { LakeNames } from './names.ts';

/** Parts of an open lake. */
export interface LakeStore {
  database(): LakeDatabase;
  readonly catalogue: LakeCatalogue;
  readonly names: LakeNames;
  readonly locks: LakeLocks;
}
