export * from './value.ts';
export * from './dig.ts';
export * from './parse.ts';
export * from './serialize.ts';
export * from './text.ts';
