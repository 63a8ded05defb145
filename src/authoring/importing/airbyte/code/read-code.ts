import { RunError } from '../../../../lib/errors.ts';
import type { ManifestComponent } from '../component.ts';
import { TemplateError } from '../jinja/ast.ts';
import type { TemplateScope } from '../scope.ts';
import type { CodeClass } from './component-code.ts';
import { CodeRefused } from './refused.ts';

/** Reads a component that is a class of Python. One that is not understood is among the findings. */
export function readCode<T>(
  component: ManifestComponent,
  { findings, code }: TemplateScope,
  work: (type: CodeClass) => T,
): T | undefined {
  const { className = '' } = component;
  const not = (why?: string): undefined => {
    findings.not(component.at, `Python code: ${className}${why === undefined ? '' : ` (${why})`}`);
  };
  try {
    const type = code?.find(className);
    if (type?.mistake !== undefined) throw type.module.file.syntaxError(type.mistake);
    return type === undefined ? not() : work(type);
  } catch (error) {
    if (error instanceof CodeRefused || error instanceof TemplateError || error instanceof RunError)
      return not(error.message);
    throw error;
  }
}
