import { dict, isExpression, type CodeValue } from './values.ts';

/** Returns what the function that signs a token gives. */
export function signedBy(
  positional: readonly CodeValue[],
  named: ReadonlyMap<string, CodeValue>,
  textOfValue: (value: CodeValue) => string | undefined,
): CodeValue | undefined {
  const [payload, key, method] = positional;
  const algorithm = textOfValue(named.get('algorithm') ?? method ?? { kind: 'constant', value: 'HS256' });
  const headers = named.get('headers') ?? dict();
  if (payload === undefined || key === undefined || algorithm === undefined) return undefined;
  if (headers.kind !== 'dict' || payload.kind !== 'dict' || !isSendable(key)) return undefined;
  return { kind: 'signed', payload, key, algorithm, headers };
}

function isSendable(key: CodeValue): boolean {
  return isExpression(key) || key.kind === 'written';
}
