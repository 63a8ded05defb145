import { children, groups } from '../../python/nodes.ts';
import type { NodeMap } from '../node.ts';
import { PythonFile, type PythonNode } from '../../python/python-file.ts';

/** Reads a file beside the manifest by its path from there; undefined where there is none. */
export type ReadFileBeside = (path: string) => string | undefined;

/** A class of a file of Python. */
export interface CodeClass {
  readonly name: string;
  readonly module: CodeModule;
  /** Names of its bases, with their modules: `airbyte_cdk….HttpRequester`. */
  readonly bases: readonly string[];
  readonly methods: ReadonlyMap<string, CodeMethod>;
  /** Values that the names of its body are given; undefined for one that only has a type. */
  readonly fields: ReadonlyMap<string, PythonNode | undefined>;
  /** The class of the same file that it extends. */
  readonly parent?: CodeClass;
  /** Something in it that the parser does not know. */
  readonly mistake?: PythonNode;
}

export interface CodeMethod {
  readonly name: string;
  /** The class of the file that it is written in. */
  readonly of: string;
  readonly node: PythonNode;
  readonly parameters: readonly CodeParameter[];
  readonly body: readonly PythonNode[];
  readonly decorators: readonly string[];
}

interface CodeParameter {
  readonly name: string;
  /** One star for `*args`, two for `**kwargs`. */
  readonly stars: number;
  readonly fallback?: PythonNode;
}

/** A function outside of the classes, with the file that it is written in. */
export interface OwnFunction {
  readonly module: CodeModule;
  readonly method: CodeMethod;
}

/** Finds a function by the path that a file imports it by; undefined for one of another package. */
type FindDefinition = (path: string, from: string) => OwnFunction | undefined;

/** A file of Python: its classes, imports and values. */
export class CodeModule {
  readonly file: PythonFile;
  readonly path: string;
  readonly classes = new Map<string, CodeClass>();
  /** Names of other modules, with their paths. */
  readonly imports = new Map<string, string>();
  readonly constants = new Map<string, PythonNode>();
  /** Functions outside of the classes. */
  readonly functions = new Map<string, CodeMethod>();
  /** Names of `import a.b`, which are their own paths. */
  readonly plainImports = new Set<string>();

  /** The manifest that the file stands beside. */
  readonly manifest: NodeMap;
  readonly #beside: FindDefinition;
  readonly #read: ReadFileBeside;

  constructor(
    text: string,
    path: string,
    manifest: NodeMap,
    { beside, read }: { readonly beside: FindDefinition; readonly read: ReadFileBeside },
  ) {
    this.path = path;
    this.manifest = manifest;
    this.#beside = beside;
    this.#read = read;
    this.file = new PythonFile(text, path);
    const [top] = this.file.nodes('Script');
    for (const node of top === undefined ? [] : children(top)) this.#statement(node);
  }

  /** Returns the path of a name of this file: that of its module where it is imported. */
  pathOf(name: string): string {
    const [first = '', ...rest] = name.split('.');
    return [this.imports.get(first) ?? first, ...rest].join('.');
  }

  /** Returns a function of this file or of another one of the package; undefined for any other name. */
  functionOf(name: string): OwnFunction | undefined {
    const own = this.functions.get(name);
    if (own !== undefined) return { module: this, method: own };
    const path = this.imports.get(name);
    return path === undefined ? undefined : this.#beside(path, this.path);
  }

  /** Returns the text of a file beside the manifest. */
  textBeside(path: string): string | undefined {
    return this.#read(path);
  }

  /** Returns a function inside of another one. */
  functionAt(node: PythonNode): CodeMethod {
    return this.#method(node, '', []);
  }

  #decoratorsOf(node: PythonNode): readonly string[] {
    if (node.name !== 'DecoratedStatement') return [];
    return children(node).flatMap((part) =>
      part.name === 'Decorator' ? [this.file.oneLine(part).slice(1)] : [],
    );
  }

  #statement(node: PythonNode): void {
    const inner = node.name === 'DecoratedStatement' ? (node.lastChild ?? node) : node;
    if (inner.name === 'ClassDefinition') {
      const made = this.#class(inner);
      this.classes.set(made.name, made);
    }
    if (inner.name === 'FunctionDefinition') {
      const made = this.#method(inner, '', this.#decoratorsOf(node));
      this.functions.set(made.name, made);
    }
    if (inner.name === 'ImportStatement') this.#import(children(inner).map((part) => this.file.text(part)));
    const [name, sign, value] = children(inner).filter((part) => part.name !== 'TypeDef');
    if (inner.name !== 'AssignStatement' || name?.name !== 'VariableName' || sign?.name !== 'AssignOp')
      return;
    if (value !== undefined) this.constants.set(this.file.text(name), value);
  }

  /** Keeps the names of `import a.b as c` and `from a.b import c as d`. */
  #import(words: readonly string[]): void {
    const at = words.indexOf('import');
    const from = words[0] === 'from' ? words.slice(1, at).join('') : undefined;
    const names = words
      .slice(at + 1)
      .filter((word) => word !== '(' && word !== ')')
      .join(' ')
      .split(/ ?, ?/);
    for (const name of names) {
      const [path = '', alias] = name.split(' as ').map((part) => part.replaceAll(' ', ''));
      if (path === '') continue;
      if (from !== undefined) this.imports.set(alias ?? path, `${from}.${path}`);
      else if (alias !== undefined) this.imports.set(alias, path);
      else this.plainImports.add(path.split('.')[0] ?? path);
    }
  }

  #class(node: PythonNode): CodeClass {
    const [mistake] = this.file.nodesIn('⚠', node);
    const [, name, ...rest] = children(node);
    const own = name === undefined ? '' : this.file.text(name);
    const list = rest.find((part) => part.name === 'ArgList');
    const body = rest.find((part) => part.name === 'Body');
    const bases =
      list === undefined ? [] : groups(list).flatMap((group) => (group.length === 1 ? group : []));
    const methods = new Map<string, CodeMethod>();
    const fields = new Map<string, PythonNode | undefined>();
    for (const statement of body === undefined ? [] : children(body)) {
      const decorated = statement.name === 'DecoratedStatement';
      const inner = decorated ? statement.lastChild : statement;
      if (inner?.name === 'FunctionDefinition') {
        const method = this.#method(inner, own, this.#decoratorsOf(statement));
        methods.set(method.name, method);
      }
      if (inner?.name !== 'AssignStatement') continue;
      const [field, ...parts] = children(inner);
      if (field?.name !== 'VariableName') continue;
      const value = parts.at(-1);
      fields.set(this.file.text(field), value?.name === 'TypeDef' ? undefined : value);
    }
    const [base] = bases;
    const parent =
      base === undefined || bases.length > 1 ? undefined : this.classes.get(this.file.text(base));
    return {
      name: own,
      module: this,
      bases: parent?.bases ?? bases.map((each) => this.pathOf(this.file.text(each))),
      methods: new Map([...(parent?.methods ?? []), ...methods]),
      fields: new Map([...(parent?.fields ?? []), ...fields]),
      ...(parent === undefined ? {} : { parent }),
      ...(mistake === undefined ? {} : { mistake }),
    };
  }

  #method(node: PythonNode, of: string, decorators: readonly string[]): CodeMethod {
    const parts = children(node);
    const name = parts.find((part) => part.name === 'VariableName');
    const list = parts.find((part) => part.name === 'ParamList');
    const body = parts.find((part) => part.name === 'Body');
    return {
      name: name === undefined ? '' : this.file.text(name),
      of,
      node,
      parameters: (list === undefined ? [] : groups(list)).flatMap((group) => this.#parameter(group)),
      body: body === undefined ? [] : children(body).slice(1),
      decorators,
    };
  }

  #parameter(group: readonly PythonNode[]): readonly CodeParameter[] {
    const [first] = group;
    const stars = first?.name === '*' ? 1 : first?.name === '**' ? 2 : 0;
    const name = group.find((part) => part.name === 'VariableName');
    if (name === undefined) return [];
    const sign = group.findIndex((part) => part.name === 'AssignOp');
    const fallback = sign === -1 ? undefined : group[sign + 1];
    return [{ name: this.file.text(name), stars, ...(fallback === undefined ? {} : { fallback }) }];
  }
}

/** The classes of Python that a manifest names, from the files beside it. */
export class ComponentCode {
  readonly #read: ReadFileBeside;
  readonly #manifest: NodeMap;
  /** The folder of the manifest, as imports name it. */
  #package: string | undefined;
  readonly #modules = new Map<string, CodeModule | undefined>();

  constructor(read: ReadFileBeside, manifest: NodeMap) {
    this.#read = read;
    this.#manifest = manifest;
  }

  /**
   * Returns the class of `source_x.components.Name`: the package is the folder of the manifest, or a folder in it.
   *
   * @throws {RunError} `import.invalid` for a file that is no Python
   */
  find(className: string): CodeClass | undefined {
    if (!/^[\w.]+$/.test(className)) return undefined;
    const parts = className.split('.');
    const name = parts.at(-1) ?? '';
    const folders = parts.slice(0, -1);
    [this.#package] = folders;
    for (const inner of [folders.slice(1), folders, ['components']]) {
      const found = this.#inFile(inner, name, 0);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #inFile(module: readonly string[], name: string, depth: number): CodeClass | undefined {
    const whole = module.join('/');
    const files = [
      ...(whole === '' ? [] : [`${whole}.py`]),
      whole === '' ? '__init__.py' : `${whole}/__init__.py`,
    ];
    for (const file of files) {
      const found = this.#module(file);
      if (found === undefined) continue;
      const own = found.classes.get(name);
      if (own !== undefined) return own;
      const from = found.imports.get(name);
      // another file of the package: `from .cursor import Name`
      if (from === undefined || !from.startsWith('.') || depth > 2) continue;
      const path = from.slice(1).split('.');
      const below = file.endsWith('__init__.py') ? module : module.slice(0, -1);
      return this.#inFile([...below, ...path.slice(0, -1)], path.at(-1) ?? name, depth + 1);
    }
    return undefined;
  }

  /** Finds a function that a file imports from the package: by `.common.name`, or with the package in front. */
  #imported(path: string, from: string): OwnFunction | undefined {
    const dots = /^\.*/.exec(path)?.[0].length ?? 0;
    const [first, ...rest] = path.slice(dots).split('.');
    if (dots === 0 && first !== this.#package) return undefined;
    const folder = from.split('/').slice(0, -dots);
    const whole = dots === 0 ? rest : [...folder, first ?? '', ...rest];
    const name = whole.at(-1) ?? '';
    const module = whole.slice(0, -1).join('/');
    for (const file of [`${module}.py`, `${module === '' ? '' : `${module}/`}__init__.py`]) {
      const method = file === '.py' ? undefined : this.#module(file)?.functions.get(name);
      const found = this.#module(file);
      if (method !== undefined && found !== undefined) return { module: found, method };
    }
    return undefined;
  }

  #module(file: string): CodeModule | undefined {
    if (!this.#modules.has(file)) {
      const text = this.#read(file);
      const beside: FindDefinition = (path, from) => this.#imported(path, from);
      this.#modules.set(
        file,
        text === undefined
          ? undefined
          : new CodeModule(text, file, this.#manifest, { beside, read: this.#read }),
      );
    }
    return this.#modules.get(file);
  }
}
