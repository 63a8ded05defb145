import { createHash } from 'node:crypto';

/** Place that an encrypted value is bound to: it cannot be read anywhere else. */
export interface Scope {
  readonly project: string;
  readonly component: string;
  /** Configuration that the value is bound to; absent for every configuration of the component. */
  readonly configuration?: string | undefined;
}

/** Project of an embedded service, and this extractor in its catalogue. */
const DEFAULTS = { project: '1', component: 'ex-generic-v2' } as const;

/** Returns the scope of a process, from the environment variables of a component. */
export function scopeFrom(environment: Readonly<Record<string, string | undefined>>): Scope {
  return {
    project: environment['KBC_PROJECTID'] || DEFAULTS.project,
    component: environment['KBC_COMPONENTID'] || DEFAULTS.component,
    configuration: environment['KBC_CONFIGID'] || undefined,
  };
}

/** Returns the scopes whose values can be read in a place, the narrowest first. */
export function readableScopes({ project, component, configuration }: Scope): readonly Scope[] {
  const wide = { project, component };
  return configuration === undefined ? [wide] : [{ ...wide, configuration }, wide];
}

/** Returns the scope as one text that no other scope gives. */
export function scopeText({ project, component, configuration }: Scope): string {
  return JSON.stringify([project, component, configuration ?? null]);
}

/** Returns eleven characters that identify a scope without naming it. */
export function scopeHash(scope: Scope): string {
  return createHash('sha256').update(scopeText(scope)).digest().subarray(0, 8).toString('base64url');
}

/** Formats `project 1, component ex-generic-v2, configuration 42`. */
export function describeScope({ project, component, configuration }: Scope): string {
  const wide = `project ${project}, component ${component}`;
  return configuration === undefined ? wide : `${wide}, configuration ${configuration}`;
}
