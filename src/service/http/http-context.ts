import type { Context } from '../domain/context.ts';
import type { Admission } from './limits/admission.ts';

/** Dependencies of the routes. */
export interface HttpContext extends Context {
  readonly admission: Admission;
}
