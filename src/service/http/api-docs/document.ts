/** What the page reads of an OpenAPI document. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
}

export interface OpenApiOperation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** The part of JSON Schema that the routes use. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** One operation of the page. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** Also below `/v2/storage/branch/<branch>`. */
  readonly isInBranches: boolean;
  readonly isPublic: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  /** Schema by status, of the answers that have a body. */
  readonly answers: readonly { readonly status: string; readonly schema: Schema | undefined }[];
}

const BRANCH = '/v2/storage/branch/{branch}';

/** The operations in the order of the document; the form below a branch is told and not listed again. */
export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) => {
    const plain = path.replace(BRANCH, '/v2/storage');
    if (plain !== path && plain in paths) return [];
    const isInBranches = path.replace('/v2/storage', BRANCH) in paths;
    return Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      summary: operation.summary ?? '',
      tag: operation.tags?.[0] ?? 'Other',
      isInBranches,
      isPublic: operation.security?.length === 0,
      parameters: operation.parameters ?? [],
      body: firstSchema(operation.requestBody?.content),
      answers: Object.entries(operation.responses)
        .filter(([status]) => /^\d+$/.test(status))
        .map(([status, response]) => ({ status, schema: firstSchema(response.content) })),
    }));
  });
}

function firstSchema(
  content: Readonly<Record<string, { readonly schema: Schema }>> | undefined,
): Schema | undefined {
  return Object.values(content ?? {})[0]?.schema;
}
