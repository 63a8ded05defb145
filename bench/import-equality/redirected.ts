import { cpSync, existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readYaml } from '../../src/authoring/importing/airbyte/read-yaml.ts';

/**
 * Copies a connector with all its addresses behind ours, its pages short, and its specification in the manifest.
 *
 * @returns the manifest
 */
export function redirected(from: string, to: string, base: string): string {
  const folder = path.join(to, path.basename(from));
  cpSync(from, folder, { recursive: true });
  for (const file of globSync('**/*.{py,yaml,json}', { cwd: folder })) {
    const place = path.join(folder, file);
    if (!statSync(place).isFile()) continue;
    let text = behind(base, readFileSync(place, 'utf8'));
    if (file === 'manifest.yaml') text = text.replaceAll(/(page_size"?:\s*)\d+/g, '$12');
    writeFileSync(place, text);
  }
  const manifest = path.join(folder, 'manifest.yaml');
  const text = readFileSync(manifest, 'utf8');
  if (!/^"?spec"?:/m.test(text))
    for (const name of ['spec.json', 'spec.yaml']) {
      const file = path.join(folder, name);
      if (!existsSync(file)) continue;
      const spec = readYaml(behind(base, readFileSync(file, 'utf8')), name) as Readonly<
        Record<string, unknown>
      >;
      const asked = spec['connection_specification'] ?? spec['connectionSpecification'];
      writeFileSync(
        manifest,
        `${text}\nspec: ${JSON.stringify({ type: 'Spec', connection_specification: asked })}\n`,
      );
      break;
    }
  return manifest;
}

/** Puts our address in front of all others of a text. */
export function behind(base: string, text: string): string {
  return text.replaceAll(/https?:\/\/(?!json-schema)/g, `${base}/`);
}
