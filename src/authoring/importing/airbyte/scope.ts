import { TemplateError, type Expression } from './jinja/ast.ts';
import type { ComponentCode, ReadFileBeside } from './code/component-code.ts';
import type { ManifestComponent } from './component.ts';
import type { ManifestFindings } from './findings.ts';
import { shown, type ManifestNode } from './node.ts';
import type { ConnectorSettings } from './airbyte-settings.ts';
import {
  accessOf,
  pathText,
  type TranslatedJson,
  type TemplatePosition,
  type Reference,
  type Typed,
} from './translate/position.ts';
import { FieldNames } from './field-names.ts';
import { call } from './translate/out.ts';
import { valueOf } from './translate/value.ts';
import type { PythonValue } from '../../../lib/python-literal.ts';

/** The settings, findings and names that the templates of a stream are translated with. */
export interface TemplateScope {
  readonly settings: ConnectorSettings;
  readonly findings: ManifestFindings;
  /** The Python code beside the manifest. */
  readonly code?: ComponentCode | undefined;
  /** Reads the files of schemas beside the manifest. */
  readonly readBeside?: ReadFileBeside | undefined;
  /** References for the keys of a slice: `start_time`, `parent_slice.id`, `extra_fields.name`. */
  readonly slots: ReadonlyMap<string, Reference>;
  /** Says, with `lists`, that a list is among the parameters, each item of which is one. */
  readonly sent?: { lists: boolean };
  /** Names that only some templates know. */
  readonly extra?: (name: string, keys: readonly (string | number)[]) => Reference | undefined;
}

const SLICES: ReadonlySet<string> = new Set(['stream_slice', 'stream_interval', 'stream_partition']);
/** Parts of a slice that have the same names in them. */
const SLICE_PARTS: ReadonlySet<string> = new Set([
  'cursor_slice',
  'partition',
  '_partition',
  '_cursor_slice',
]);

/** Templates of requests. */
export function requestPosition(
  { settings, slots, extra }: TemplateScope,
  text = 'the request',
): TemplatePosition {
  return {
    text,
    isTrue: (name, keys) => {
      if (!SLICES.has(name)) return undefined;
      if (keys.length === 0) return slots.size > 0;
      return isAbsent(slots, keys) ? false : undefined;
    },
    reference(name, keys) {
      const special = extra?.(name, keys);
      if (special !== undefined) return special;
      if (name === 'config') return settingOf(settings, keys);
      if (SLICES.has(name)) return slotOf(slots, keys);
      if (name === 'next_page_token')
        throw new TemplateError('the token of the next page inside of an expression');
      if (name === 'stream_state') throw new TemplateError('stream_state, which templates no longer have');
      return undefined;
    },
  };
}

/**
 * Templates that see one record; `added` are the fields that were added to it before, and `names` those that its fields
 * were given.
 */
export function recordPosition(
  scope: TemplateScope,
  added: ReadonlyMap<string, Typed> = new Map(),
  names: FieldNames = new FieldNames(),
): TemplatePosition {
  const request = requestPosition(scope, 'the record');
  return {
    ...request,
    hasUndefined: true,
    text: 'the record',
    reference(name, keys) {
      // a key that no slice has is an empty value, which takes the place of the field of the row
      if (SLICES.has(name) && keys.length === 1 && isAbsent(scope.slots, keys)) return { out: null };
      if (name !== 'record') return request.reference(name, keys);
      const known = added.get(keys.join('.'));
      if (known !== undefined) return known;
      const out = keys.length === 0 && names.isChanged ? undefined : fieldSource(names, keys, 'path');
      if (out === undefined) throw new TemplateError('fields that have other names by then');
      return { out };
    },
  };
}

/** Templates that see an answer. */
export function responsePosition(scope: TemplateScope, pageSize?: ManifestNode): TemplatePosition {
  const request = requestPosition(scope, 'the response');
  return {
    ...request,
    text: 'the response',
    reference(name, keys) {
      switch (name) {
        case 'response':
          return { out: { response: pathText(keys) } };
        case 'headers':
          return headerOf(keys);
        case 'last_record':
          return { out: { last: pathText(keys) } };
        case 'last_records':
          if (keys[0] === -1 && keys.length > 1) return { out: { last: pathText(keys.slice(1)) } };
          return undefined;
        case 'last_page_size':
          return { out: { answer: 'rows' }, type: 'number' };
        case 'page_size':
          return pageSize === undefined ? undefined : { out: pageSize, type: 'number' };
        case 'request_url':
          return { out: { answer: 'url' }, type: 'text' };
        default:
          return request.reference(name, keys);
      }
    },
  };
}

/** Returns the source of a field by the names that it may have; undefined where they can't be told. */
export function fieldSource(
  names: FieldNames,
  keys: readonly (string | number)[],
  word: 'path' | 'parent',
): TranslatedJson | undefined {
  const sources = names.pathsOf(keys)?.map((path): TranslatedJson => ({ [word]: pathText(path) }));
  return sources === undefined || sources.length > 1 ? sources && { firstOf: sources } : sources[0];
}

function settingOf(settings: ConnectorSettings, keys: readonly (string | number)[]): Reference {
  if (keys.length === 0) throw new TemplateError('the settings as a whole');
  return settings.reference(keys);
}

function slotOf(
  slots: ReadonlyMap<string, Reference>,
  keys: readonly (string | number)[],
): Reference | undefined {
  const inner = keys.filter((key) => !SLICE_PARTS.has(String(key)));
  const whole = slots.get(inner.join('.')) ?? slots.get(`extra_fields.${inner.join('.')}`);
  if (whole !== undefined) return whole;
  for (let count = inner.length - 1; count > 0; count--) {
    const found = slots.get(inner.slice(0, count).join('.'))?.inside?.(inner.slice(count));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keys that a slice may have although nothing here stands for them. */
const NEVER_ABSENT: ReadonlySet<string> = new Set([
  '',
  'extra_fields',
  'parent_slice',
  'start_time',
  'end_time',
]);

/** Tells if no slice has a key, such as that of a parent that is not asked for. */
function isAbsent(slots: ReadonlyMap<string, Reference>, keys: readonly (string | number)[]): boolean {
  const [first = ''] = keys.filter((key) => !SLICE_PARTS.has(String(key)));
  if (NEVER_ABSENT.has(String(first))) return false;
  return [...slots.keys()].every(
    (name) => name !== first && !name.startsWith(`${first}.`) && !name.endsWith(`.${first}`),
  );
}

function headerOf(keys: readonly (string | number)[]): Reference | undefined {
  const [name, relation, part] = keys;
  if (typeof name !== 'string') return undefined;
  if (name.toLowerCase() !== 'link' || relation === undefined) return { out: { header: name }, type: 'text' };
  if (typeof relation !== 'string') return undefined;
  if (part === undefined || part === 'url') return { out: { link: relation }, type: 'text' };
  return { out: { link: relation, attribute: String(part) }, type: 'text' };
}

/**
 * Translates a template to a value. One without a counterpart whose settings are all known is computed now, and a note
 * says so.
 *
 * @param change what is made of an expression before
 * @throws {TemplateError} for what can't be had
 */
export function translated(
  value: ManifestNode,
  component: ManifestComponent,
  scope: TemplateScope,
  position: TemplatePosition,
  change: (expression: Expression) => Expression = (expression) => expression,
): Typed {
  const expression = component.expression(value);
  try {
    return valueOf(change(expression), position);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const fixed = withSettings(expression, component, scope);
    if (fixed === undefined) throw wanting(error, expression, scope);
    const typed = valueOf(change(fixed), position);
    noteFixed(scope, value);
    return typed;
  }
}

/**
 * Returns the text of a template, which is read again in Python: one that is nothing but a setting whose value is given is
 * what this reads as, so that `1.50` is sent as 1.5.
 *
 * @param takes what it may read as; any other value is the text as it is
 */
export function readAsText(
  expression: Expression,
  typed: Typed,
  { settings }: TemplateScope,
  takes: (value: PythonValue) => boolean = () => true,
): Typed {
  const reading = readingOf(expression, settings);
  if (reading === undefined || typed.type === 'list' || !takes(reading.value)) return typed;
  return { out: call('python_text', call('python_value', typed.out)), type: 'text' };
}

/** Returns what a template that is nothing but a setting reads as in Python, where that is not its text. */
export function readingOf(
  expression: Expression,
  settings: ConnectorSettings,
): { readonly value: PythonValue } | undefined {
  const access = accessOf(expression);
  return access?.name === 'config' ? settings.readingOf(access.keys) : undefined;
}

/** Returns an error that says with which settings a template might be worked out. */
export function wanting(
  error: TemplateError,
  expression: Expression,
  { settings }: TemplateScope,
): TemplateError {
  const open = settings.isGiven ? [] : settings.openIn(expression);
  if (open.length === 0) return error;
  const names = open.map((name) => `“${name}”`).join(', ');
  return new TemplateError(`${error.message}; import it with --settings that have ${names}`);
}

/**
 * Returns the expression with the settings put in, for which a list may have the examples of its specification; undefined
 * if none of its settings is known.
 */
export function withSettings(
  expression: Expression,
  component: ManifestComponent,
  scope: TemplateScope,
): Expression | undefined {
  for (const name of scope.settings.takeExamples(expression))
    scope.findings.note(
      `“${name}” is taken for the examples of the specification, as no settings are given: import it with --settings that have your own.`,
    );
  return withKnown(expression, component, scope);
}

/** Returns the expression with the known settings put in; undefined if it has none. */
export function withKnown(
  expression: Expression,
  component: ManifestComponent,
  scope: TemplateScope,
): Expression | undefined {
  const put = scope.settings.substituted(expression);
  if (JSON.stringify(put) === JSON.stringify(expression)) return undefined;
  return component.folded(put);
}

export function noteFixed(scope: TemplateScope, template: ManifestNode): void {
  scope.findings.note(`Worked out with the settings as they are now: ${shown(template)}`);
}

/** Computes a template whose value must be known now. */
export function known(
  value: ManifestNode,
  component: ManifestComponent,
  scope: TemplateScope,
): Expression & { kind: 'constant' } {
  const expression = component.expression(value);
  if (expression.kind === 'constant') return expression;
  const fixed = withSettings(expression, component, scope);
  if (fixed?.kind !== 'constant') throw new TemplateError('a value that is known only while it runs');
  noteFixed(scope, value);
  return fixed;
}
