import type * as Sqlite from 'node:sqlite';

let loaded: typeof Sqlite | undefined;

/**
 * Loads SQLite of the runtime without its warning. Older versions of the runtime call the module experimental on
 * stderr, where a component writes only errors; an import would warn, too.
 */
export function sqlite(): typeof Sqlite {
  if (loaded !== undefined) return loaded;
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => {};
  try {
    return (loaded = process.getBuiltinModule('node:sqlite'));
  } finally {
    process.emitWarning = emitWarning;
  }
}
