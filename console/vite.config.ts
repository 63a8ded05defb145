import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const target = fileURLToPath(new URL('../dist/console', import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The page is told by the service below which path it stands.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: target,
    emptyOutDir: true,
    target: 'es2023',
    // No address but that of a file: the policy of the page allows no others for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The editor, which is loaded when it is needed.
    chunkSizeWarningLimit: 800,
  },
  plugins: [noNode(), apiDocs(), compressed()],
  logLevel: 'warn',
});

/** Refuses modules of Node, for which a browser would get empty ones. */
function noNode(): Plugin {
  return {
    name: 'no-node',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^node:/ },
      handler(module, importer) {
        throw new Error(
          `${importer ?? 'A page'} needs ${module}, which no browser has: import what the console needs from a module without it.`,
        );
      },
    },
  };
}

/** Files of the API documentation page, as their package has them, with its licence. */
const API_DOCS = {
  'assets/swagger-ui.js': import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'assets/swagger-ui.css': import.meta.resolve('swagger-ui-dist/swagger-ui.css'),
  'swagger-ui.LICENSE': import.meta.resolve('swagger-ui-dist/LICENSE'),
  'swagger-ui.NOTICE': import.meta.resolve('swagger-ui-dist/NOTICE'),
};

function apiDocs(): Plugin {
  return {
    name: 'api-docs',
    generateBundle() {
      for (const [fileName, from] of Object.entries(API_DOCS))
        this.emitFile({ type: 'asset', fileName, source: readFileSync(fileURLToPath(from)) });
    },
  };
}

/** Compresses each file in the forms that the service may send, at the highest level, once for all. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    // not when the bundle is closed: it is closed after an error too, which a missing folder would then hide
    writeBundle() {
      const assets = `${target}/assets`;
      for (const name of readdirSync(assets)) {
        if (/\.(?:br|gz)$/.test(name)) continue;
        const bytes = readFileSync(`${assets}/${name}`);
        writeFileSync(`${assets}/${name}.gz`, gzipSync(bytes, { level: 9 }));
        const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        writeFileSync(`${assets}/${name}.br`, brotliCompressSync(bytes, { params }));
      }
    },
  };
}
