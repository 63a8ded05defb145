import type { Pool } from 'pg';
import type { ExternalStoreOptions } from '../../objects/external-store.ts';

/** A lake of one machine: its catalogue in a file, and its Parquet files beside it. */
export interface LakeOfFolder {
  readonly kind: 'folder';
  /** Folder of the catalogue and the files; made when it is missing. */
  readonly folder: string;
}

/** A lake that any number of processes work on: its catalogue in PostgreSQL, its Parquet files in an object store. */
export interface LakeOfDatabase {
  readonly kind: 'database';
  readonly pool: Pool;
  /** `postgres://…`, as the service itself is given it. */
  readonly url: string;
  /** Schema of the service. The catalogue is in the one beside it: `gex_lake`. */
  readonly schema: string;
  readonly objects: Pick<
    ExternalStoreOptions,
    'bucket' | 'credentials' | 'endpoint' | 'isPathStyle' | 'region'
  >;
  /** Prefix of all keys of the service in the bucket; those of the lake begin with `lake/` behind it. */
  readonly root: string;
}

export type LakePlace = LakeOfDatabase | LakeOfFolder;

export const catalogueSchema = ({ schema }: Pick<LakeOfDatabase, 'schema'>): string => `${schema}_lake`;

/** Returns the address below which the Parquet files are. */
export function dataPath(place: LakePlace): string {
  return place.kind === 'folder'
    ? `${place.folder}/data/`
    : `s3://${place.objects.bucket}/${place.root}lake/`;
}
