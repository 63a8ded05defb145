import { Type, type Static } from 'typebox';

/** One wrong field of a request. */
export const FieldError = Type.Object({
  key: Type.String({ description: 'Name of the field, such as `include` or `whereFilters[0][values]`.' }),
  message: Type.String(),
});
export type FieldError = Static<typeof FieldError>;

/** The body of every answer with a status from 400. */
export const ErrorBody = Type.Object(
  {
    status: Type.Literal('error'),
    error: Type.String({ description: 'What is wrong, for people.' }),
    code: Type.String({ description: 'What is wrong, for programs; empty when no token was sent.' }),
    exceptionId: Type.String({ description: 'Found again in the log of the service.' }),
    params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
    errors: Type.Optional(Type.Array(FieldError)),
  },
  { title: 'Error' },
);
export type ErrorBody = Static<typeof ErrorBody>;
