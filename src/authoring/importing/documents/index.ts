import { RunError } from '../../../lib/errors.ts';
import { encodeExact } from '../../../lib/json/index.ts';
import { configurationOf, rowsKeys } from '../../init/configure.ts';
import type { RecordedRequest } from '../../init/requests.ts';
import { SecretStore } from '../../init/secret-store.ts';
import { readContent, type DocumentSource } from '../../init/source.ts';
import { targetOf, type FoundRequest } from '../../init/target.ts';
import { mapOf } from '../proof/stream-jobs.ts';
import type { Imported } from '../report.ts';
import { assembleRequests, type ImportedRequest } from '../requests/assemble.ts';

export interface ImportDocumentOptions {
  /** Name of the file in messages. */
  readonly file: string;
  readonly name: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const GUESSED = {
  postman: 'rows and pages are what the collection lets expect: --check says whether they come',
  har: 'the rows are those of the recorded answer, and there is no pagination: gex init finds how pages follow',
};

/**
 * Imports a Postman collection or a HAR file: the requests whose answers are lists, as `gex init` reads them.
 *
 * @throws {RunError} `import.invalid` for another document
 */
export async function importDocument(
  text: string,
  tool: 'har' | 'postman',
  options: ImportDocumentOptions,
): Promise<Imported> {
  const source = await readContent(text, options.file);
  if (tool === 'postman' && source.kind === 'document' && source.document.kind.startsWith('Postman'))
    return fromCollection(source, options);
  if (tool === 'har' && source.kind === 'recorded') return fromRecorded(source.requests, options);
  throw new RunError(
    'import.invalid',
    `The file is no ${tool === 'har' ? 'HAR file' : 'Postman collection'}.`,
    {
      where: { file: options.file },
      hint: 'gex init reads OpenAPI documents, and all of these.',
    },
  );
}

function fromCollection({ document }: DocumentSource, { file, name }: ImportDocumentOptions): Imported {
  const configuration = mapOf(JSON.parse(encodeExact(document.configuration)));
  return {
    configuration: { name, ...configuration },
    report: {
      source: file,
      streams: [
        ...document.lists.map(({ row, path, nextPage }) => ({
          stream: path,
          outcome: 'equal rows, other columns' as const,
          row,
          columns: [GUESSED.postman],
          reasons: [],
          notes: [nextPage],
        })),
        ...document.skipped.map(({ what, why }) => ({
          stream: what,
          outcome: 'not' as const,
          columns: [],
          reasons: [{ path: what, message: why }],
          notes: [],
        })),
      ],
      settings: [],
      notes: [...document.notes, ...document.variables.map(variableNote)],
    },
  };
}

function fromRecorded(
  requests: readonly RecordedRequest[],
  { file, name, environment }: ImportDocumentOptions,
): Imported {
  const vault = new SecretStore(environment);
  const [first] = requests;
  if (first === undefined)
    throw new RunError('import.invalid', 'No answer in the file is a list of rows.', {
      where: { file },
      hint: 'Record it with the network tab open while the page loads its data, and save it with contents.',
    });
  const read = requests.map(({ command, what, place }) => {
    const target = targetOf(command, { auth: undefined, headers: [] }, vault);
    const made = mapOf(JSON.parse(encodeExact(configurationOf(target, { rows: rowsKeys(place) }))));
    return { what, target, parameters: mapOf(made['parameters']), rows: place.rows.length };
  });
  const common = withCommonHeaders(read.map(({ parameters }) => mapOf(parameters['api'])));
  const baseUrl = String(common['baseUrl']);
  const { jobs: _jobs, ...shared } = mapOf(read[0]?.parameters['config']);
  const imported = assembleRequests({
    source: file,
    name,
    api: common,
    settings: {},
    open: [],
    notes: [...vault.missing, ...vault.unset].map(variableNote),
    requests: read.map(({ what, target, parameters, rows }): ImportedRequest => {
      const { jobs } = mapOf(parameters['config']);
      const [job] = Array.isArray(jobs) ? jobs.map(mapOf) : [];
      const own = withoutHeaders(headersOf(mapOf(parameters['api'])), headersOf(common));
      const isElsewhere = target.baseUrl !== baseUrl;
      return {
        name: target.dataType,
        job: {
          ...job,
          ...(Object.keys(own).length > 0 ? { headers: { ...own, ...mapOf(mapOf(job)['headers']) } } : {}),
          ...(isElsewhere ? { endpoint: `${target.baseUrl}${target.endpoint}` } : {}),
        },
        reasons: loginReasons(target, read[0]?.target).map((message) => ({ path: what, message })),
        columns: [GUESSED.har],
        notes: [...target.notes, `${rows} rows were recorded.`],
      };
    }),
  });
  const { configuration: inner } = imported.configuration;
  const parameters = mapOf(mapOf(inner)['parameters']);
  return {
    ...imported,
    configuration: {
      ...imported.configuration,
      configuration: { parameters: { ...parameters, config: { ...mapOf(parameters['config']), ...shared } } },
    },
  };
}

type Node = Readonly<Record<string, unknown>>;

/** Returns the settings of the first API with the headers that all requests have; each has its others itself. */
function withCommonHeaders(apis: readonly Node[]): Node {
  const [first = {}, ...others] = apis;
  const { headers: _, ...http } = mapOf(first['http']);
  const headers = Object.fromEntries(
    Object.entries(headersOf(first)).filter(([name, value]) =>
      others.every((api) => headersOf(api)[name] === value),
    ),
  );
  const { http: _http, ...api } = first;
  const listStyle = apis.map((one) => mapOf(one['http'])['lists']).find((style) => style !== undefined);
  const kept = {
    ...http,
    ...(listStyle === undefined ? {} : { lists: listStyle }),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  };
  return Object.keys(kept).length > 0 ? { ...api, http: kept } : api;
}

function headersOf(api: Node): Node {
  return mapOf(mapOf(api['http'])['headers']);
}

function withoutHeaders(headers: Node, known: Node): Node {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !Object.hasOwn(known, name)));
}

/** Tells what keeps a request from sending the login of the first one, which is that of the configuration. */
function loginReasons(target: FoundRequest, first: FoundRequest | undefined): readonly string[] {
  if (first === undefined) return [];
  if (encodeExact(target.secretHeaders) !== encodeExact(first.secretHeaders))
    return ['It sends other secret headers than the first request'];
  if (target.authentication === undefined) return [];
  if (new URL(target.baseUrl).origin !== new URL(first.baseUrl).origin)
    return ['It logs in to another host than the first request'];
  const isSame = encodeExact(target.authentication) === encodeExact(first.authentication ?? null);
  return isSame ? [] : ['It logs in in another way than the first request'];
}

function variableNote(variable: string): string {
  return `The value of $${variable} is not in the configuration: set it before a run.`;
}
