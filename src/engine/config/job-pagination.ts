import type { Job } from '../jobs/index.ts';
import type { Json } from '../../lib/json/index.ts';
import type { ApiConfig } from './api-config.ts';
import { withDefaults } from './scroll-defaults.ts';

/** The options of a pagination, and their JSON path. */
export interface JobPagination {
  readonly options: Json;
  readonly at: string;
}

/** The pagination of a job: its own, else that of the API. */
export function paginationOf(
  { pagination, at }: Pick<Job, 'pagination' | 'at'>,
  api: Pick<ApiConfig, 'pagination' | 'defaultOptions'>,
): JobPagination {
  return pagination === undefined
    ? { options: api.pagination ?? null, at: 'parameters.api.pagination' }
    : { options: withDefaults(pagination, api.defaultOptions), at: `${at}.pagination` };
}
