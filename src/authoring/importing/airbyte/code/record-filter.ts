import type { ManifestComponent } from '../component.ts';
import { ParentFindings } from '../findings.ts';
import { constant, isConstant, type Expression } from '../jinja/ast.ts';
import { fold } from '../jinja/fold.ts';
import type { TemplateScope } from '../scope.ts';
import { bySettings } from './as-base.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass } from './code-run.ts';
import { chosen, explore, type Outcome } from './explore.ts';
import { shifted } from './moments.ts';
import { CodeRefused } from './refused.ts';
import { dict, isExpression, type CodeValue } from './values.ts';

const RECORD: Expression = { kind: 'name', name: 'record' };
const RECORDS: CodeValue = { kind: 'given', name: 'records' };

/**
 * Reads a filter of Python: the condition on which it keeps a record. What settings decide is decided
 * by those there are now.
 *
 * @throws {CodeRefused} for code that does anything else, such as to remember the records before
 */
export function keptRecords(type: CodeClass, filter: ManifestComponent, scope: TemplateScope): Expression {
  const ofSettings = bySettings(scope);
  const [base = '', ...others] = type.bases;
  if (!base.endsWith('.RecordFilter') || others.length > 0)
    throw new CodeRefused(`${type.module.path}: a class that extends ${type.bases.join(', ') || 'nothing'}`);
  const method = type.methods.get('filter_records');
  if (method === undefined)
    throw new CodeRefused(`${type.module.path}: ${type.name} without “filter_records”`);
  // a parent without a table only starts the same requests again
  const rest = scope.findings instanceof ParentFindings ? REMEMBERING : BASE;
  const kept = explore((decide): boolean => {
    const object = new CodeObject(type, filter, rest, (when) => {
      if (isSame(when, SEEN)) return decide(SEEN);
      if (isSame(when, UNSEEN)) return !decide(SEEN);
      return isOfRecord(when) ? decide(when) : ofSettings(when);
    });
    if (type.methods.has('__post_init__'))
      object.callMethod('__post_init__', { positional: [parametersOf(filter)], named: new Map() }, undefined);
    const named = new Map<string, CodeValue>([
      ['records', RECORDS],
      // the other tool gives no state to filters any more
      ['stream_state', dict()],
      ['stream_slice', { kind: 'name', name: 'stream_slice' }],
      ['next_page_token', { kind: 'name', name: 'next_page_token' }],
    ]);
    const given = object.call(method, { positional: [], named });
    if (given === RECORDS) return true;
    if (given.kind === 'items' && given.values.every(isRecord)) return given.values.length === 1;
    const { yielded } = object;
    const isOfEach = yielded.every(({ value, isAll }) => (isAll ? value === RECORDS : isRecord(value)));
    if (!isNothing(given) || !isOfEach || yielded.length > 1)
      throw object.refused(method.node, 'other records than those that it is given');
    return yielded.length === 1;
  });
  return fold(conditionOf(kept, scope), new Map());
}

/** Stands for whether a value came before, which a set of the filter says. */
const SEEN: Expression = { kind: 'name', name: 'a value that came before' };
const UNSEEN: Expression = { kind: 'unary', operator: 'not', of: SEEN };

const BASE: BaseClass = {
  method: (_, name) => (name === '__post_init__' ? constant(null) : undefined),
  attribute: () => undefined,
  compare: shifted,
  // any one of the records
  each: (list) => (list === RECORDS ? [RECORD] : undefined),
};

/** The class with a set of what came before. */
const REMEMBERING: BaseClass = {
  ...BASE,
  compare: (left, operator, right) => {
    if (right.kind !== 'set') return shifted(left, operator, right);
    if (operator === 'in') return SEEN;
    return operator === 'not in' ? UNSEEN : undefined;
  },
  call: (_, of, name) => (of.kind === 'set' && name === 'add' ? constant(null) : undefined),
};

function isRecord(value: CodeValue): boolean {
  return isExpression(value) && value.kind === 'name' && value.name === 'record';
}

/** Tells if a condition is about a record; what is about settings alone is decided by them. */
function isOfRecord(condition: Expression): boolean {
  return JSON.stringify(condition).includes('"name":"record"');
}

function isSame(a: Expression, b: Expression): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function isNothing(value: CodeValue): boolean {
  return isExpression(value) && isConstant(value) && value.value === null;
}

function conditionOf(outcome: Outcome<boolean>, scope: TemplateScope): Expression {
  if (outcome.kind === 'value') return constant(outcome.value);
  // an error ends the stream there, and here keeps nothing
  if (outcome.kind === 'error') throw new CodeRefused('records that end the run');
  const { when } = outcome;
  const [then, otherwise] = [conditionOf(outcome.then, scope), conditionOf(outcome.otherwise, scope)];
  if (!isSame(when, SEEN)) return chosen(when, then, otherwise);
  if (!isConstant(then) || then.value !== false)
    throw new CodeRefused('records that are kept for those before them');
  scope.findings.moreRows(
    'A parent row that comes again is asked for again; the other tool takes the first one with the same value.',
  );
  return otherwise;
}
