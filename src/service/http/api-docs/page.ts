import { operationsOf, type OpenApi, type Operation, type Schema } from './document.ts';
import { curlExample } from './example.ts';
import { anchor, code, pathText, prose, text } from './markup.ts';
import { sampleOf } from './sample.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

/** An OpenAPI document as a page that needs nothing else, and no script but for the search. */
export function docsPage(document: OpenApi): (origin: string) => string {
  const page = pageOf(document);
  return (origin) => page.replace(ORIGIN, () => text(origin));
}

/** Stands where the address of the service goes, as the reader knows it. */
const ORIGIN = '@origin@';

function pageOf(document: OpenApi): string {
  const groups = groupsOf(operationsOf(document));
  const { title, description } = document.info;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${text(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${text(title)}</h1>
<p>${prose(description)}</p>
<p class="links"><a href="v2/storage/openapi.json">OpenAPI document</a><a href="v2/storage">Index</a><a href="health">Health</a></p>
</header>
<div class="find"><input id="find" type="search" placeholder="Find an operation, a path, a field…  ( / )" aria-label="Find" autocomplete="off"><output id="count"></output></div>
<div class="columns">
<nav aria-label="Groups">
${groups.map(([tag, operations]) => `<a href="#${anchor(tag)}">${text(tag)}<small>${operations.length}</small></a>`).join('\n')}
</nav>
<main>
${start()}
${groups.map(([tag, operations]) => group(tag, operations)).join('\n')}
<p id="nothing" hidden>Nothing matches.</p>
</main>
</div>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** As one works with them; the rest follows in the order of the document. */
const ORDER = ['Index', 'Files', 'Importer', 'Buckets', 'Tables', 'Import', 'Export', 'Jobs', 'Components'];
const LAST = ['Service', 'Not supported'];

function groupsOf(operations: readonly Operation[]): [string, Operation[]][] {
  const groups = Map.groupBy(operations, ({ tag }) => tag);
  return [...groups].sort(([a], [b]) => rank(a) - rank(b));
}

const start = (): string => `<section class="start">
<h2>Start</h2>
<p>Every request but the index and the health has a token. The first start of the service printed the master token; <code>gex serve --new-token</code> makes a further one.</p>
${code(`export STORAGE_URL=${ORIGIN} STORAGE_TOKEN=…
curl "$STORAGE_URL/v2/storage/tokens/verify" -H "X-StorageApi-Token: $STORAGE_TOKEN"`)}
<p>Bodies are JSON, forms or multipart. An answer with status 202 is a job: ask for its <code>url</code> until its <code>status</code> is <code>success</code> or <code>error</code>. Errors are JSON with <code>error</code>, <code>code</code> and <code>exceptionId</code>, which the log of the service knows.</p>
</section>`;

function rank(tag: string): number {
  return ORDER.includes(tag) ? ORDER.indexOf(tag) : ORDER.length + LAST.indexOf(tag) + 1;
}

function group(tag: string, operations: readonly Operation[]): string {
  return `<section id="${anchor(tag)}"><h2>${text(tag)}</h2>\n<div class="list">${operations.map(entry).join('\n')}</div></section>`;
}

function entry(operation: Operation): string {
  const { method, path, summary, parameters, body, answers, isInBranches, isPublic } = operation;
  const notes = [
    isPublic ? 'Needs no token.' : '',
    isInBranches
      ? `Also in a branch: <code>${text(path.replace('/v2/storage', '/v2/storage/branch/{branch}'))}</code>.`
      : '',
  ].filter((note) => note !== '');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  return `<details id="${anchor(`${method} ${path}`)}">
<summary><b class="${method}">${method}</b><code>${pathText(path)}</code><span>${prose(summary)}</span></summary>
<div class="detail">
${notes.length === 0 ? '' : `<p class="notes">${notes.join(' ')}</p>`}
${code(curlExample(operation))}
${fields('Query', inQuery)}
${fields('Body', bodyFields(body))}
${answers.map(answer).join('\n')}
</div>
</details>`;
}

interface Field {
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

function bodyFields(body: Schema | undefined): Field[] {
  const required = body?.required ?? [];
  return Object.entries(body?.properties ?? {})
    .map(([name, schema]) => ({
      name,
      schema,
      required: required.includes(name),
      description: schema.description ?? '',
    }))
    .sort((a, b) => Number(b.required) - Number(a.required));
}

function fields(title: string, list: readonly Field[]): string {
  if (list.length === 0) return '';
  const rows = list.map(({ name, required, description, schema }) => {
    const mark = required === true ? ' <em>required</em>' : '';
    const what = description === undefined || description === '' ? '' : `<p>${prose(description)}</p>`;
    const type = typeText(schema);
    const kind = type === ANYTHING && what !== '' ? '' : `<span>${text(type)}</span>`;
    return `<tr><th><code>${text(name)}</code>${mark}</th><td>${kind}${what}</td></tr>`;
  });
  return `<h3>${title}</h3><table>${rows.join('')}</table>`;
}

function answer({ status, schema }: Operation['answers'][number]): string {
  if (schema === undefined) return status === '204' ? '<h3>Answer 204</h3><p>Done; without a body.</p>' : '';
  const fieldsOfIt = JSON.stringify(sampleOf(schema), null, 2);
  const isLong = fieldsOfIt.length > 600;
  return `<h3>Answer ${text(status)}</h3>${isLong ? `<details class="more"><summary>Show its fields</summary>${code(fieldsOfIt)}</details>` : code(fieldsOfIt)}`;
}

function typeText(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => String(value)).join(' | ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeText))].join(' or ');
  const { minimum, maximum } = schema;
  const range = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ].filter((part) => part !== '');
  const name =
    schema.type === 'array'
      ? `list of ${schema.items === undefined ? ANYTHING : typeText(schema.items)}`
      : (TYPES[schema.type ?? ''] ?? ANYTHING);
  return [name, ...range].join(', ');
}

const ANYTHING = 'anything';

const TYPES: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  integer: 'whole number',
  null: 'null',
  number: 'number',
  object: 'object',
  string: 'text',
};
