import { decodesJson } from './code/decoder.ts';
import { readCode } from './code/read-code.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, isSequence, type ManifestNode } from './node.ts';
import type { TemplateScope } from './scope.ts';
import type { TranslatedJson } from './translate/position.ts';

/** Returns the format of the answers, unless it is JSON. */
export function readFormat(
  retriever: ManifestComponent,
  scope: TemplateScope,
  key = 'decoder',
): Readonly<Record<string, TranslatedJson>> {
  const decoder = retriever.child(key);
  return decoder === undefined ? {} : formatOf(decoder, scope);
}

/** Adds the paths of rows in an answer that is a list of parts: code reads each of them as an answer. */
export function inEachPart(dataField: TranslatedJson): TranslatedJson {
  const paths = (isSequence(dataField) ? dataField : [dataField]).filter((path) => typeof path === 'string');
  return paths.flatMap((path) => {
    if (path.startsWith('$')) return [path, `$[*]${path.slice(1)}`];
    if (path === '.') return [path];
    return [
      path,
      `$[*]${path
        .split('.')
        .map((key) => `['${key}']`)
        .join('')}[*]`,
    ];
  });
}

function formatOf(
  decoder: ManifestComponent,
  scope: TemplateScope,
): Readonly<Record<string, TranslatedJson>> {
  const { findings } = scope;
  if (decoder.className !== undefined) {
    const isJson = readCode(decoder, scope, (type) => decodesJson(type, decoder, scope));
    if (isJson === true)
      findings.moreRows(
        'Answers are read as JSON: what the decoder in Python leaves out of long ones, if anything, is there.',
      );
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
  decoder: ManifestComponent,
  compression: string | undefined,
  scope: TemplateScope,
  otherKey = 'decoder',
): Readonly<Record<string, TranslatedJson>> {
  const within = decoder.child(otherKey) ?? decoder.child('decoder') ?? decoder.child('parser');
  const format = within === undefined ? {} : formatOf(within, scope);
  return compression === undefined ? format : { ...format, compression };
}

function csvOf(decoder: ManifestComponent): Readonly<Record<string, TranslatedJson>> {
  const options: Record<string, ManifestNode> = {};
  const delimiter = decoder.text('delimiter');
  if (delimiter !== undefined && delimiter !== ',') options['delimiter'] = delimiter.replaceAll('\\t', '\t');
  const encoding = decoder.text('encoding');
  if (encoding !== undefined && !/^utf[-_]?8(?:[-_]sig)?$/i.test(encoding)) options['encoding'] = encoding;
  return isMap(options) && Object.keys(options).length === 0 ? {} : { csv: options };
}
