import { getKey, isList, isObject, type AnyObject, type Json } from '../../../lib/json/index.ts';
import { percentDecoded } from '../../../lib/percent.ts';

/** A description of an API: Swagger 2.0, OpenAPI 3.0 or 3.1. */
export class ApiDocument {
  readonly root: AnyObject;
  /** 2 for Swagger, 3 for OpenAPI. */
  readonly version: 2 | 3;
  /** References to other documents, which are not followed. */
  readonly outside = new Set<string>();

  constructor(root: AnyObject) {
    this.root = root;
    this.version = getKey(root, 'swagger') === undefined ? 3 : 2;
  }

  /** Returns the node, or the one that it refers to. */
  resolve(node: Json | undefined): AnyObject | undefined {
    let at = node;
    for (let hops = 0; isObject(at) && hops < MAX_HOPS; hops++) {
      const reference = getKey(at, '$ref');
      if (typeof reference !== 'string') return at;
      at = this.#at(reference);
    }
    return undefined;
  }

  object(node: AnyObject, key: string): AnyObject | undefined {
    return this.resolve(getKey(node, key));
  }

  list(node: AnyObject, key: string): readonly AnyObject[] {
    const value = getKey(node, key);
    return isList(value) ? value.map((item) => this.resolve(item)).filter((item) => item !== undefined) : [];
  }

  #at(reference: string): Json | undefined {
    if (!reference.startsWith('#')) {
      this.outside.add(reference);
      return undefined;
    }
    let at: Json | undefined = this.root;
    for (const part of reference.slice(1).split('/').slice(1)) {
      const key = percentDecoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      at = isObject(at) ? getKey(at, key) : isList(at) ? at[Number(key)] : undefined;
    }
    return at;
  }
}

/** References may lead in a circle. */
const MAX_HOPS = 20;

export function textAt(node: AnyObject | undefined, key: string): string | undefined {
  const value = node === undefined ? undefined : getKey(node, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function isApiDocument(value: Json): value is AnyObject {
  return (
    isObject(value) &&
    (typeof getKey(value, 'openapi') === 'string' || getKey(value, 'swagger') !== undefined) &&
    isObject(getKey(value, 'paths'))
  );
}
