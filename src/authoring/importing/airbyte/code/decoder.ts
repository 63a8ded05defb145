import { children } from '../../python/nodes.ts';
import type { ManifestComponent } from '../component.ts';
import { constant } from '../jinja/ast.ts';
import type { TemplateScope } from '../scope.ts';
import { bySettings, refuseOthers } from './as-base.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import type { BaseClass } from './code-run.ts';
import { evaluate } from './evaluate.ts';

const BASE: BaseClass = {
  method: (_, name) => (name === '__post_init__' ? constant(null) : undefined),
  attribute: () => undefined,
};

/**
 * Checks that a decoder of Python hands an answer to the parser of JSON of the other tool. It may read long answers by
 * itself, piece by piece.
 *
 * @throws {CodeRefused} for code that reads no JSON, or reads it by itself alone
 */
export function decodesJson(type: CodeClass, decoder: ManifestComponent, scope: TemplateScope): true {
  refuseOthers(type, 'Decoder', (name) =>
    /^(?:__post_init__|decode|is_stream_response|_[a-z]\w*)$/.test(name),
  );
  const object = new CodeObject(type, decoder, BASE, bySettings(scope));
  if (type.methods.has('__post_init__'))
    object.callMethod('__post_init__', { positional: [parametersOf(decoder)], named: new Map() }, undefined);
  const method = type.methods.get('decode');
  const { file } = type.module;
  const parsers = (method === undefined ? [] : file.nodesIn('CallExpression', method.node)).flatMap(
    (call) => {
      const [callee] = children(call);
      const [of, sign, name] = callee === undefined ? [] : children(callee);
      const isParse = sign?.name === '.' && name !== undefined && file.text(name) === 'parse';
      return isParse && of !== undefined ? [evaluate(object, of, new Map([['self', { kind: 'self' }]]))] : [];
    },
  );
  const isJson = parsers.some((parser) => parser.kind === 'module' && parser.path.endsWith('.JsonParser'));
  if (!isJson) throw object.refused(method?.node, 'answers that are not handed to the parser of JSON');
  return true;
}
