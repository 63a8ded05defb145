import { TemplateError, type Expression } from './jinja/ast.ts';
import { literalOf, pythonText } from '../../../lib/python-literal.ts';
import { isMap, isSequence } from './node.ts';
import { call, textOut } from './translate/out.ts';
import type { TranslatedJson, TemplatePosition, Typed } from './translate/position.ts';
import { valueOf } from './translate/value.ts';

/** Marks the place of an expression inside of a text that is read as an object. */
const MARK = /\u{E000}(\d+)(?:\u{E001}|(\u{E002}))/u;

/** Tells if a text with values in it reads as an object or a list. */
export function isObjectText(expression: Expression): expression is Expression & { kind: 'join' } {
  if (expression.kind !== 'join') return false;
  const [first] = expression.parts.filter(
    (part) => part.kind !== 'constant' || pythonText(part.value).trim() !== '',
  );
  return first?.kind === 'constant' && /^\s*[[{]/.test(pythonText(first.value));
}

/** Parses a text such as `{"from": "{{ stream_interval.start_time }}"}` as an object with values in it. */
export function objectOf(
  expression: Expression & { kind: 'join' },
  position: TemplatePosition,
): TranslatedJson {
  const values: Typed[] = [];
  const text = expression.parts
    .map((part) => {
      if (part.kind === 'constant') return pythonText(part.value);
      values.push(valueOf(part, position));
      return `\u{E000}${values.length - 1}\u{E001}`;
    })
    .join('');
  const quoted = text.replaceAll(/(?<=[:[,]\s*)\u{E000}(\d+)\u{E001}(?=\s*[,}\]])/gu, "'\u{E000}$1\u{E002}'");
  const object = literalOf(quoted);
  if (typeof object === 'string') throw new TemplateError('a body that is a text and no object');
  return filled(outOf(object), values);
}

function filled(out: TranslatedJson, values: readonly Typed[]): TranslatedJson {
  if (typeof out === 'string') {
    const parts = out.split(/(\u{E000}\d+[\u{E001}\u{E002}])/u).filter((part) => part !== '');
    const made = parts.map((part): TranslatedJson => {
      const [, index, bare] = MARK.exec(part) ?? [];
      const value = index === undefined ? undefined : values[Number(index)];
      if (value === undefined) return part;
      if (bare !== undefined) return bareOut(value);
      return parts.length === 1 ? value.out : textOut(value);
    });
    return made.length === 1 ? (made[0] ?? '') : made.length === 0 ? '' : call('concat', ...made);
  }
  if (isSequence(out)) return out.map((item) => filled(item, values));
  if (isMap(out))
    return Object.fromEntries(Object.entries(out).map(([key, item]) => [key, filled(item, values)]));
  return out;
}

/** Returns a value without quotes around it, which is read as what it is: a text of digits is a number. */
function bareOut({ out, type }: Typed): TranslatedJson {
  if (!isMap(out) || type === 'list' || type === 'boolean') return out;
  // JSON of a value is that value
  if (out['function'] === 'json_encode' && isSequence(out['args'])) return out['args'][0] ?? null;
  const isText = out['attr'] !== undefined || (type === 'text' && out['function'] === 'date');
  return isText ? call('literal', out) : out;
}

/** Returns a value of a template as one of a configuration. */
export function outOf(value: Parameters<typeof pythonText>[0]): TranslatedJson {
  return valueOf({ kind: 'constant', value }, { text: '', reference: () => undefined }).out;
}
