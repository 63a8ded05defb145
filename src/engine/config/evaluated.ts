import { ConfigError } from '../../lib/errors.ts';
import type { Contexts, Evaluate } from '../shared/evaluate.ts';
import { isHttpUrl } from '../http/url.ts';
import { entriesOf, isObject, objectOf, type AnyObject } from '../../lib/json/index.ts';
import type { EffectiveConfig } from './extractor-config.ts';

/** @throws {ExtractorError} when a function fails, or gives no http address */
export function evaluatedBaseUrl(node: string | AnyObject, evaluate: Evaluate, contexts: Contexts): string {
  const at = 'parameters.api.baseUrl';
  const value = typeof node === 'string' ? node : evaluate(node, contexts, at);
  if (typeof value === 'string' && isHttpUrl(value)) return value;
  const shown = typeof value === 'string' ? `“${value}”` : 'no text';
  throw new ConfigError(
    'config.invalid',
    `The function in \`baseUrl\` gave ${shown}, which is not a valid URL.`,
    {
      where: { path: at },
      hint: 'It must give an address that starts with http:// or https://.',
    },
  );
}

/**
 * Evaluates `api.http.headers` and those of `config`. @throws {ExtractorError} at the place where the header is written
 */
export function evaluatedHeaders(
  { headers, headerAt }: Pick<EffectiveConfig, 'headers' | 'headerAt'>,
  evaluate: Evaluate,
  contexts: Contexts,
): AnyObject {
  return objectOf(
    entriesOf(headers).map(([name, value]) => {
      const at = headerAt(name);
      const text = evaluate(value, contexts, at);
      if (!isObject(text)) return [name, text];
      throw new ConfigError('config.invalid', `The header “${name}” is an object and not a text.`, {
        where: { path: at },
        hint: 'Give a text, or a function such as {"function": "concat", "args": ["Bearer ", {"attr": "#token"}]}.',
      });
    }),
  );
}
