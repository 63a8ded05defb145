import { createHash } from 'node:crypto';

/** What an encrypted value is bound to: it cannot be read anywhere else. */
export interface Scope {
  readonly project: string;
  readonly component: string;
  /** Bound to this configuration alone; to every configuration of the component when absent. */
  readonly configuration?: string | undefined;
}

/** The project that an embedded service has, and this extractor in its catalogue. */
const DEFAULTS = { project: '1', component: 'ex-generic-v2' } as const;

/** The scope of a process, from the variables that a component is given. */
export function scopeFrom(environment: Readonly<Record<string, string | undefined>>): Scope {
  return {
    project: environment['KBC_PROJECTID'] || DEFAULTS.project,
    component: environment['KBC_COMPONENTID'] || DEFAULTS.component,
    configuration: environment['KBC_CONFIGID'] || undefined,
  };
}

/** The scopes whose values can be read in a place, the narrowest first. */
export function readableScopes({ project, component, configuration }: Scope): readonly Scope[] {
  const wide = { project, component };
  return configuration === undefined ? [wide] : [{ ...wide, configuration }, wide];
}

/** The scope as one text that no other scope gives. */
export function scopeText({ project, component, configuration }: Scope): string {
  return JSON.stringify([project, component, configuration ?? null]);
}

/** Tells scopes apart without naming them: eleven characters. */
export function scopeHash(scope: Scope): string {
  return createHash('sha256').update(scopeText(scope)).digest().subarray(0, 8).toString('base64url');
}

/** `project 1, component ex-generic-v2, configuration 42`. */
export function describeScope({ project, component, configuration }: Scope): string {
  const wide = `project ${project}, component ${component}`;
  return configuration === undefined ? wide : `${wide}, configuration ${configuration}`;
}
