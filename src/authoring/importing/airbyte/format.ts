import type { Component } from './component.ts';
import { isMap, type Node } from './node.ts';
import type { Scope } from './scope.ts';
import type { Out } from './translate/position.ts';

/** Returns the format of the answers, unless it is JSON. */
export function readFormat(
  retriever: Component,
  scope: Scope,
  key = 'decoder',
): Readonly<Record<string, Out>> {
  const decoder = retriever.child(key);
  return decoder === undefined ? {} : formatOf(decoder, scope);
}

function formatOf(decoder: Component, scope: Scope): Readonly<Record<string, Out>> {
  const { findings } = scope;
  if (decoder.className !== undefined) {
    findings.not(decoder.at, `Python code: ${decoder.className}`);
    return {};
  }
  switch (decoder.type) {
    case 'JsonDecoder':
      return {};
    case 'JsonlDecoder':
      return { format: 'jsonl' };
    case 'XmlDecoder':
      return { format: 'xml' };
    case 'IterableDecoder':
      findings.column('“line” is the column of each line, and not “record”');
      return { format: 'lines' };
    case 'CsvDecoder':
      if (decoder.get('set_values_to_none') !== undefined)
        findings.column('words that stand for nothing are kept as they are');
      return { format: 'csv', ...csvOf(decoder) };
    case 'GzipDecoder':
      return inner(decoder, 'gzip', scope);
    case 'ZipfileDecoder':
      return inner(decoder, 'zip', scope);
    case 'CompositeRawDecoder':
      return inner(decoder, undefined, scope, 'parser');
    default:
      findings.not(decoder.at, `No counterpart: the decoder ${decoder.type}`);
      return {};
  }
}

function inner(
  decoder: Component,
  compression: string | undefined,
  scope: Scope,
  otherKey = 'decoder',
): Readonly<Record<string, Out>> {
  const within = decoder.child(otherKey) ?? decoder.child('decoder') ?? decoder.child('parser');
  const format = within === undefined ? {} : formatOf(within, scope);
  return compression === undefined ? format : { ...format, compression };
}

function csvOf(decoder: Component): Readonly<Record<string, Out>> {
  const options: Record<string, Node> = {};
  const delimiter = decoder.text('delimiter');
  if (delimiter !== undefined && delimiter !== ',') options['delimiter'] = delimiter.replaceAll('\\t', '\t');
  const encoding = decoder.text('encoding');
  if (encoding !== undefined && !/^utf-?8$/i.test(encoding)) options['encoding'] = encoding;
  return isMap(options) && Object.keys(options).length === 0 ? {} : { csv: options };
}
