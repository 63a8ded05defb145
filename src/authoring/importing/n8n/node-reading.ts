import { isSecretName } from '../../../lib/secrets.ts';
import { get, isMap, isSequence, type ManifestNode, type NodeMap } from '../airbyte/node.ts';
import type { ImportReason } from '../report.ts';
import type { RequestSecrets } from '../requests/assemble.ts';
import { readText, UnknownExpression } from './expressions.ts';

type Node = Readonly<Record<string, unknown>>;

/** The parameters of a node while it is imported. */
export class NodeReading {
  readonly reasons: ImportReason[] = [];
  readonly notes: string[] = [];
  readonly parameters: NodeMap;
  readonly path: string;
  readonly #secrets: RequestSecrets;

  constructor(parameters: NodeMap, path: string, secrets: RequestSecrets) {
    this.parameters = parameters;
    this.path = `${path}.parameters`;
    this.#secrets = secrets;
  }

  get(...keys: readonly string[]): ManifestNode | undefined {
    let value: ManifestNode | undefined = this.parameters;
    for (const key of keys) value = get(value, key);
    return value;
  }

  not(at: string, message: string, template?: string): void {
    this.reasons.push({
      path: `${this.path}.${at}`,
      message,
      ...(template === undefined ? {} : { template }),
    });
  }

  /** Returns a value that may be an expression. */
  text(value: ManifestNode | undefined, at: string): unknown {
    try {
      return readText(value ?? '', (name) => this.secret(name.toLowerCase(), name, `$${name}`));
    } catch (error) {
      if (!(error instanceof UnknownExpression)) throw error;
      this.not(at, 'The expression takes what other nodes give, or works something out', error.expression);
      return '';
    }
  }

  secret(name: string, title: string, value?: unknown): Node {
    return this.#secrets.take(name, title, value);
  }

  /** Returns the pairs of a list of names and values, or of JSON. */
  pairs(kind: 'body' | 'header' | 'query'): Node {
    const [list, specify, json] = {
      query: ['queryParameters', 'specifyQuery', 'jsonQuery'],
      header: ['headerParameters', 'specifyHeaders', 'jsonHeaders'],
      body: ['bodyParameters', 'specifyBody', 'jsonBody'],
    }[kind];
    if (list === undefined || specify === undefined || json === undefined) return {};
    if (this.get(specify) === 'json') {
      const value = this.json(json);
      return isMap(value) ? value : {};
    }
    const items = this.get(list, 'parameters');
    const out: Record<string, unknown> = {};
    for (const [index, item] of (isSequence(items) ? items : []).entries()) {
      const name = get(item, 'name');
      if (typeof name !== 'string' || name === '') continue;
      if (get(item, 'parameterType') === 'formBinaryData')
        this.not(`${list}.parameters[${index}]`, 'A file of another node is sent');
      const value = this.text(get(item, 'value'), `${list}.parameters[${index}].value`);
      if (name in out) this.not(`${list}.parameters[${index}]`, `“${name}” stands there twice`);
      out[name] =
        typeof value === 'string' && value !== '' && isSecretName(name)
          ? this.secret(name.toLowerCase().replaceAll('-', '_'), name, value)
          : value;
    }
    return out;
  }

  json(at: string): ManifestNode | undefined {
    const value = this.get(at);
    if (typeof value !== 'string') return value;
    if (/\{\{/.test(value)) {
      this.not(at, 'JSON with expressions in it', value);
      return undefined;
    }
    try {
      // a text without code is the same with and without the sign of an expression; JSON of a file is a node
      return JSON.parse(value.replace(/^=/, '')) as ManifestNode;
    } catch {
      this.not(at, 'No JSON', value);
      return undefined;
    }
  }
}
