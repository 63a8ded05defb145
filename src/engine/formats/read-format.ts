import { isJsonPath, type Json, type Path } from '../../lib/json/index.ts';
import { shownText } from '../../lib/shown-text.ts';
import { isErrorText } from '../shared/error-text.ts';
import { partOf, type BodyBytes } from './body.ts';
import { csvRows } from './csv.ts';
import { charsetOf, joinedRemarks, type TextRemarks } from './charset.ts';
import { formatOf, typeOf, type About } from './detect.ts';
import { jsonLines } from './json-lines.ts';
import { textLines } from './lines.ts';
import { broken, type FormatRows, type Measured } from './rows.ts';
import type { Format, FormatSettings } from './format-settings.ts';
import { xmlRows } from './xml.ts';

export interface ReadFormatOptions {
  readonly settings: FormatSettings;
  readonly about: About;
  /** `dataField` of the job. */
  readonly dataField: Path | undefined;
  readonly isExact: boolean;
  readonly redact: (text: string) => string;
  /** Reads a file of an archive that is one JSON document. */
  readonly readJson: (bytes: Uint8Array) => FormatRows;
}

/** Maximum size of a JSON file in an archive, in bytes: all of it is held in memory. */
const MOST_JSON_BYTES = 2 ** 29;

/**
 * Returns the rows of a body in another format than JSON; undefined for JSON, which is read as a whole page.
 *
 * @throws {RecordError} `response.broken` for a body that is plainly something else
 */
export function readFormat(body: BodyBytes, options: ReadFormatOptions): FormatRows | undefined {
  const { settings, about } = options;
  const members = about.unpacked?.members;
  if (members !== undefined) return remarked(allOf(membersOf(body, members, options)), options);
  const format = formatOf(settings, about, body.read(0, 64));
  return format === 'json' ? undefined : remarked(rowsOf(body, format, options), options);
}

/** Adds a remark that the declared charset is unknown, for the formats that are read without it. */
function remarked(rows: FormatRows, { about, settings }: ReadFormatOptions): FormatRows {
  const { unknown } = charsetOf(about.headers);
  if (unknown === undefined || settings.csv.encoding !== undefined) return rows;
  return {
    ...rows,
    chunks: () => rows.chunks(),
    *measure() {
      const measured = yield* rows.measure();
      return { ...measured, text: { ...measured.text, unknown } };
    },
  };
}

function membersOf(
  body: BodyBytes,
  members: readonly { readonly name: string; readonly bytes: number }[],
  options: ReadFormatOptions,
): readonly FormatRows[] {
  let from = 0;
  return members.map(({ name, bytes }) => {
    const part = partOf(body, from, bytes);
    from += bytes;
    const format = formatOf(options.settings, options.about, part.read(0, 64), name);
    if (format !== 'json') return named(rowsOf(part, format, options), name);
    if (bytes > MOST_JSON_BYTES)
      throw broken(`“${name}” of the zip file is one JSON document of ${bytes} bytes, which is too large.`);
    return named(options.readJson(part.read(0, bytes)), name);
  });
}

function rowsOf(body: BodyBytes, format: Exclude<Format, 'json'>, options: ReadFormatOptions): FormatRows {
  const { settings, about, dataField, isExact, redact } = options;
  const charset = charsetOf(about.headers).label;
  if (format === 'jsonl')
    return jsonLines(body, {
      dataField: isRoot(dataField) ? undefined : dataField,
      charset,
      isExact,
      redact,
    });
  refuseOthers(body, format, options);
  if (format === 'xml')
    return xmlRows(body, { settings: settings.xml, path: elementsOf(dataField), charset });
  if (!isRoot(dataField))
    throw broken(
      `The response is ${format === 'lines' ? 'text' : format.toUpperCase()}, in which there is no “${dataField?.text ?? ''}”: each ${format === 'lines' ? 'line' : 'record'} is a row.`,
      'Leave “dataField” out; or, if the API should answer JSON, ask it for that, perhaps by the header “Accept”.',
    );
  if (format === 'lines') return textLines(body, settings.csv.encoding ?? charset);
  return csvRows(body, { settings: settings.csv, format, charset });
}

function isRoot(dataField: Path | undefined): boolean {
  return dataField === undefined || dataField.keys?.length === 0 || dataField.text === '.';
}

function elementsOf(dataField: Path | undefined): readonly string[] | undefined {
  if (dataField === undefined || isRoot(dataField)) return undefined;
  if (dataField.keys === undefined || isJsonPath(dataField.text))
    throw broken(
      `“dataField” of XML is a path of elements, and not “${dataField.text}”.`,
      'Write the names of the elements from the root on, joined by ".", such as "feed.entry".',
    );
  return dataField.keys;
}

/** Throws for a page for people or an error in JSON, which would read as CSV of one column. Such a page may be XML. */
function refuseOthers(body: BodyBytes, format: Format, options: ReadFormatOptions): void {
  const { about, dataField, redact } = options;
  const beginning = Buffer.from(body.read(0, 2048)).toString('utf8');
  const text = beginning.trimStart();
  const isPage =
    format === 'xml'
      ? isRoot(dataField) && /^<(?:!doctype\s+html|html[\s>])/i.test(text)
      : /^<(?:!--|(?:!doctype\s+html|html|head|body|title|\?xml|error)\b)/i.test(text);
  const isJson = /(?:^|[/+])json$/.test(typeOf(about.headers)) && /^[{[]/.test(text);
  const isError = (format === 'csv' || format === 'tsv') && isErrorText(text);
  if (format === 'lines' || (!isPage && !isJson && !isError)) return;
  const start = shownText(redact(text.replace(/\s+/g, ' ')))
    .slice(0, 200)
    .toWellFormed();
  throw broken(
    `The response should be ${format.toUpperCase()}, and is ${isError ? 'a text about an error' : isJson ? 'JSON' : format === 'xml' ? 'a page' : 'a page or XML'}. It begins with: ${start}`,
    isJson || isError
      ? 'The API answered something else, perhaps an error: read it, and correct the request or “format”.'
      : 'The API answered with a page for people: check baseUrl, the endpoint and the authentication.',
  );
}

/** Adds the name of the file to its errors. */
function named(rows: FormatRows, name: string): FormatRows {
  const telling = <T>(steps: () => Generator<T, Measured>): (() => Generator<T, Measured>) =>
    function* () {
      try {
        return yield* steps();
      } catch (error) {
        if (error instanceof Error)
          error.message = `${error.message} It is in “${shownText(name)}” of the zip file.`;
        throw error;
      }
    };
  const chunks = telling<readonly Json[]>(function* () {
    yield* rows.chunks();
    return { rows: 0, envelope: null };
  });
  return {
    *chunks() {
      yield* chunks();
    },
    measure: telling(() => rows.measure()),
  };
}

/** Joins the rows of several files, one after the other. */
function allOf(parts: readonly FormatRows[]): FormatRows {
  return {
    *chunks() {
      for (const part of parts) yield* part.chunks();
    },
    *measure() {
      let rows = 0;
      // no single file speaks for all, but one without rows may be an error
      let envelope: Json = null;
      const warnings: string[] = [];
      let text: TextRemarks | undefined;
      for (const part of parts) {
        const measured = yield* part.measure();
        rows += measured.rows;
        if (parts.length === 1 || (envelope === null && measured.rows === 0)) ({ envelope } = measured);
        if (measured.warning !== undefined) warnings.push(measured.warning);
        text = joinedRemarks(text, measured.text);
      }
      return {
        rows,
        envelope,
        text,
        ...(warnings.length === 0 ? {} : { warning: warnings.join('. ') }),
      };
    },
  };
}
