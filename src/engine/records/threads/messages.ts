import type { Json } from '../../../lib/json/index.ts';
import type { ChunkPlace } from '../chunk-lines.ts';
import type { RowLook } from '../look.ts';
import type { ItemPlan } from '../plan.ts';
import type { SeenPlaces } from '../raw-rows.ts';
import type { FirstValue } from '../types/seen-values.ts';
import type { PlanData } from './plan-data.ts';

/** A table that is open, for writing lines to it. */
export interface TableData {
  readonly name: string;
  /** Quoted cells of the extra columns. */
  readonly cells: readonly string[];
  readonly entries: readonly (readonly [string, Json])[];
}

/** A part of the rows of a page whose lines are made by themselves. */
export interface LinesAsked {
  /** Names the plan among all that were given. */
  readonly plan: number;
  /** The plan, when it is not the one of the part before. */
  readonly data: PlanData | undefined;
  /** Open tables, in the order of the plans; undefined for those that are not. */
  readonly tables: readonly (TableData | undefined)[];
  /** Name that the column of the link has got. */
  readonly alias: string | undefined;
  readonly look: RowLook;
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly place: ChunkPlace;
  readonly wanted: readonly string[];
  /** The lines are wanted by nobody. */
  readonly isPractice?: true;
}

/** The lines of a part. */
export interface LinesMade {
  /** Tables that got rows, as they were opened, by their numbers in the order of the plans. */
  readonly opened: readonly number[];
  readonly batches: readonly { readonly table: number; readonly bytes: Uint8Array; readonly rows: number }[];
  readonly seen: SeenPlaces;
  /** Kinds of values by table and cell, where types are wanted. */
  readonly values: readonly (readonly (readonly FirstValue[])[])[];
}

/** Words of a thread: it has started, it has practised, or the lines of the part that it was given first. */
export type WorkerMessage = 'started' | 'practised' | PartMade;

/** The lines of a part, undefined where they cannot be made so, and its bytes: their memory is used again. */
export interface PartMade {
  readonly made: LinesMade | undefined;
  readonly bytes: Uint8Array;
}

/** A part of the rows of a page, before it is given away. */
export type RowsAsked = Omit<LinesAsked, 'plan' | 'data' | 'isPractice'>;

/** Threads that make lines, see `line-threads.ts`. */
export interface LineMakers {
  /**
   * Counts the rows of a page.
   *
   * @returns whether threads are there for it, or want it for practice
   */
  takes(bytes: number): 'none' | 'practice' | 'all';
  /** Lets threads make the lines of a part that is written here, so that they are fast when they are needed. */
  practise(plan: ItemPlan, part: RowsAsked): void;
  /** Makes the lines of the parts of a page; undefined for one that cannot be made so. */
  make(plan: ItemPlan, parts: readonly RowsAsked[]): Promise<readonly (LinesMade | undefined)[]>;
}
