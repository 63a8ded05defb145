// Loads the parts of the program in dist/chunks. They are scripts and no modules, since of a script the runtime gives out
// what it has compiled after it has run: the functions that a run calls then come from a file, and are not compiled again
// by every process. A build writes that file for the runtime it is built with; for others it lies where the runtime has
// its own.
const { readFileSync, renameSync, rmSync, statSync, writeFileSync } = process.getBuiltinModule('node:fs');
const { getCompileCacheDir } = process.getBuiltinModule('node:module');
const path = process.getBuiltinModule('node:path');
const { pathToFileURL } = process.getBuiltinModule('node:url');
const { Script } = process.getBuiltinModule('node:vm');
const v8 = () => process.getBuiltinModule('node:v8');

const FOLDER = path.join(import.meta.dirname, '../dist/chunks');
/** An import calls much that no run does: what it compiles is kept apart, so that runs need not read it. */
const APART = process.argv[2] === 'import' ? 'import-' : '';
const RUNTIME = `${process.version}-${process.platform}-${process.arch}`;
/** Exports of the chunks that were loaded, by their names. */
const loaded = new Map();
/** Scripts that had nothing compiled, or not all, with the files for it. */
const uncompiled = new Map();
/** Version and flags of V8 when the first of them was loaded. */
let flags;

/** Returns what a chunk exports. */
export function chunk(name) {
  let exports = loaded.get(name);
  if (exports === undefined) {
    exports = evaluate(name);
    loaded.set(name, exports);
  }
  return exports;
}

/** Loads a chunk where a module would have `import()`. */
export const later = async (name) => chunk(name);

/** Imports what is no chunk. */
const bring = (name) => import(name);

function evaluate(name) {
  const file = path.join(FOLDER, name);
  // chunks are plain ASCII
  const source = readFileSync(file, 'latin1');
  const script = compiled(file, source);
  return script.runInThisContext()(chunk, later, bring, pathToFileURL(file).href, FOLDER);
}

/** Makes a script from what was compiled of it, if there is such a thing: for this runtime, with its flags. */
function compiled(file, source) {
  const shipped = () => scriptFrom(`${file}.${RUNTIME}`, file, source);
  const ofRuns = APART === '' ? shipped() : undefined;
  if (ofRuns !== undefined) return ofRuns;
  const own = ownFile(file);
  const known = own && scriptFrom(own, file, source);
  if (known !== undefined) return known;
  const script = (APART === '' ? undefined : shipped()) ?? new Script(source, { filename: file });
  if (own !== undefined) {
    if (uncompiled.size === 0) {
      flags = v8().cachedDataVersionTag();
      process.once('exit', keep);
    }
    uncompiled.set(own, script);
  }
  return script;
}

function scriptFrom(compiledFile, filename, source) {
  try {
    const script = new Script(source, { filename, cachedData: readFileSync(compiledFile) });
    return script.cachedDataRejected ? undefined : script;
  } catch {
    return undefined;
  }
}

/** Returns the file among those of the runtime; undefined where it keeps none, or the folder is not this user's. */
function ownFile(file) {
  const folder = getCompileCacheDir?.();
  if (folder === undefined) return undefined;
  try {
    const { uid, mode } = statSync(folder);
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined;
    const { size, mtimeMs } = statSync(file);
    return path.join(folder, `gex-${APART}${path.basename(file)}-${size}-${Math.floor(mtimeMs)}`);
  } catch {
    return undefined;
  }
}

/** Writes at the end of the process what it has compiled. Without these files the next one begins later, and that is all. */
function keep(exitCode) {
  // one that failed has called little of what others will
  if (exitCode !== 0) return;
  // a process that begins without the flags that were set meanwhile would refuse all of it
  if (v8().cachedDataVersionTag() !== flags) return;
  for (const [file, script] of uncompiled) {
    const under = `${file}.${process.pid}`;
    try {
      // to the disk, as a name without its content would stop the runtime
      writeFileSync(under, script.createCachedData(), { mode: 0o600, flag: 'wx', flush: true });
      renameSync(under, file);
    } catch {
      rmSync(under, { force: true });
    }
  }
}
