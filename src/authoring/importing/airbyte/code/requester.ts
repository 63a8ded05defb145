import type { ManifestComponent } from '../component.ts';
import { constant, isConstant, type Expression } from '../jinja/ast.ts';
import { isMap } from '../node.ts';
import type { TemplateScope } from '../scope.ts';
import { accessOf } from '../translate/position.ts';
import { bySettings, REQUEST_METHODS, requesterAttribute } from './as-base.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass, Decide } from './code-run.ts';
import { explore, type Outcome } from './explore.ts';
import { CodeRefused } from './refused.ts';
import { dict, isExpression, type CodeMap, type CodeReader, type CodeValue } from './values.ts';

/** The parts of a request that code makes, by the keys of the manifest that they stand for. */
export type CodeRequest = ReadonlyMap<RequestKey, ReadonlyMap<string, Expression>>;

type RequestKey = (typeof PARTS)[keyof typeof PARTS];

/** The methods that give a part of the request, with the key of the manifest that each stands for. */
const PARTS = {
  get_request_params: 'request_parameters',
  get_request_headers: 'request_headers',
  get_request_body_json: 'request_body_json',
  get_request_body_data: 'request_body_data',
} as const;

/** Arguments of these methods, which templates know by the same names. */
const GIVEN = ['stream_state', 'stream_slice', 'next_page_token'];

/** Parts of a slice that are reached as attributes. */
const SLICE_PARTS: ReadonlySet<string> = new Set(['partition', 'cursor_slice', 'extra_fields']);

/**
 * Reads the parameters, headers and body that a requester of Python makes. A part that it leaves to the class that it
 * extends is what the manifest says, where the code hands that on, and nothing where it does not.
 *
 * @throws {CodeRefused} for code that makes anything but a dictionary
 */
export function codeRequest(
  type: CodeClass,
  requester: ManifestComponent,
  scope: TemplateScope,
): CodeRequest {
  const parts = new Map<RequestKey, ReadonlyMap<string, Expression>>();
  for (const [method, key] of Object.entries(PARTS)) {
    // nobody says anything of it
    if (!type.methods.has(method) && requester.get(key) === undefined) continue;
    const outcome = explore((decide) => partOf(type, requester, scope, method, deciding(scope, decide)));
    const made = merged(outcome);
    if (made !== undefined) parts.set(key, made);
  }
  return parts;
}

/** Works one part out; undefined where it is what the manifest says. */
function partOf(
  type: CodeClass,
  requester: ManifestComponent,
  scope: TemplateScope,
  method: string,
  decide: Decide,
): ReadonlyMap<string, Expression> | undefined {
  const object = new CodeObject(type, requester, baseOf(scope), decide);
  if (type.methods.has('__post_init__'))
    object.callMethod(
      '__post_init__',
      { positional: [parametersOf(requester)], named: new Map() },
      undefined,
    );
  const key = PARTS[method as keyof typeof PARTS];
  if (!type.methods.has(method)) return isHandedOn(object, key) ? undefined : new Map();
  const named = new Map(GIVEN.map((name): [string, CodeValue] => [name, { kind: 'name', name }]));
  const value = object.callMethod(method, { positional: [], named }, undefined);
  const { node } = type.methods.get(method) ?? {};
  if (isExpression(value) && isConstant(value) && value.value === null) return new Map();
  if (value.kind !== 'dict') throw object.refused(node, 'parts of a request that are no dictionary');
  return new Map([...value.entries].map(([name, item]) => [name, object.expressionOf(item, node)]));
}

/** Tells if the class that the code extends gets to know a key of the manifest. */
function isHandedOn({ attributes, component }: CodeReader, key: string): boolean {
  if (component.get(key) === undefined) return true;
  const provider = attributes.get('request_options_provider') ?? attributes.get('_request_options_provider');
  return provider?.kind === 'options' && provider.keys.has(key);
}

function baseOf(scope: TemplateScope): BaseClass {
  return {
    method: (object, name) => {
      if (name === '__post_init__') return constant(null);
      if (!REQUEST_METHODS.has(name)) return undefined;
      const key = PARTS[name as keyof typeof PARTS];
      const { component } = object;
      return isHandedOn(object, key) ? rendered(component, key) : dict();
    },
    attribute: requesterAttribute,
    part: (of, name) =>
      SLICE_PARTS.has(name) && isSlice(of) ? { kind: 'item', of, key: constant(name) } : undefined,
    call: (_, of, name, { positional: [key, fallback = constant(null)] }) => {
      if (name !== 'get' || !isSlice(of) || key?.kind !== 'constant') return undefined;
      const access = accessOf(of);
      const field = [...(access?.keys ?? []), key.value].map(String).join('.');
      // what a slice has besides is known, and anything else is not there
      return access?.keys[0] === 'extra_fields' && !scope.slots.has(field) ? fallback : undefined;
    },
    compare: (left, operator, right) => {
      if ((operator !== 'in' && operator !== 'not in') || !isSlice(right) || !isExpression(left))
        return undefined;
      if (!isConstant(left) || typeof left.value !== 'string') return undefined;
      const { value } = left;
      const isThere = [...scope.slots.keys()].some((name) => name === value || name.startsWith(`${value}.`));
      return constant(isThere === (operator === 'in'));
    },
  };
}

function isSlice(value: CodeValue): value is Expression {
  if (!isExpression(value)) return false;
  const access = accessOf(value);
  return access?.name === 'stream_slice' && access.keys.every((key) => SLICE_PARTS.has(String(key)));
}

/** Returns a map of the manifest with its templates. */
function rendered(component: ManifestComponent, key: string): CodeMap {
  const value = component.get(key);
  if (value === undefined) return dict();
  if (!isMap(value)) throw new CodeRefused(`“${key}” that is one text`);
  return dict(
    Object.entries(value).map(([name, item]): [string, Expression] => [name, component.expression(item)]),
  );
}

/** Decides conditions on settings by those there are now; what the slice and the token say is followed both ways. */
function deciding(scope: TemplateScope, decide: Decide): Decide {
  const ofSettings = bySettings(scope);
  return (when) => {
    const text = JSON.stringify(when);
    if (/"name":"(?:next_page_token|stream_state)"/.test(text)) return decide(when);
    if (isSlice(when)) return scope.slots.size > 0;
    return text.includes('"name":"stream_slice"') ? decide(when) : ofSettings(when);
  };
}

/** Joins what the ways of the code give: a value that one of them has not is left out there. */
function merged(
  outcome: Outcome<ReadonlyMap<string, Expression> | undefined>,
): ReadonlyMap<string, Expression> | undefined {
  if (outcome.kind === 'value') return outcome.value;
  if (outcome.kind === 'error') throw new CodeRefused('a request that ends in an error');
  const [then, otherwise] = [merged(outcome.then), merged(outcome.otherwise)];
  if (then === undefined && otherwise === undefined) return undefined;
  if (then === undefined || otherwise === undefined)
    throw new CodeRefused('a request that is made in two ways');
  const names = [...new Set([...then.keys(), ...otherwise.keys()])];
  return new Map(
    names.map((name) => {
      const [a = constant(null), b = constant(null)] = [then.get(name), otherwise.get(name)];
      const isSame = JSON.stringify(a) === JSON.stringify(b);
      return [name, isSame ? a : { kind: 'choose', when: outcome.when, then: a, otherwise: b }];
    }),
  );
}
