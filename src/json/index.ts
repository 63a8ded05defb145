export * from './value.ts';
export * from './dig.ts';
export * from './encode.ts';
export { isJsonPath } from './json-path.ts';
export * from './parse.ts';
export * from './serialize.ts';
export * from './text.ts';
export * from './scan.ts';
