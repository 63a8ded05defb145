import { RunError } from '../../../../lib/errors.ts';
import type { ManifestComponent } from '../component.ts';
import { TemplateError } from '../jinja/ast.ts';
import type { TemplateScope } from '../scope.ts';
import type { CodeClass } from './component-code.ts';
import { CodeRefused } from './refused.ts';

const NO_FILES =
  'only the manifest was given; gex import reads the files of Python beside it, or that of --components';

/** Reads a component that is a class of Python. One that is not understood is among the findings. */
export function readCode<T>(
  component: ManifestComponent,
  { findings, code }: TemplateScope,
  work: (type: CodeClass) => T,
): T | undefined {
  const { className = '' } = component;
  const not = (why: string): undefined => {
    findings.not(component.at, `Python code: ${className} (${why})`);
  };
  try {
    if (code === undefined) return not(NO_FILES);
    const type = code.find(className);
    if (type?.mistake !== undefined) throw type.module.file.syntaxError(type.mistake);
    return type === undefined ? not('no file beside the manifest has this class') : work(type);
  } catch (error) {
    if (error instanceof CodeRefused || error instanceof TemplateError || error instanceof RunError)
      return not(error.message);
    throw error;
  }
}
