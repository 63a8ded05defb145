import { Type, type Static } from 'typebox';

/** Query of `GET runs/<id>/requests`. */
export const RunRequestsQuery = Type.Object({
  isBad: Type.Optional(
    Type.Boolean({ description: 'Only those that got no answer, or one with a status from 400 on.' }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 0,
      description: 'Requests to leave out: `next` of the last answer.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000, default: 100 })),
});

/** A request as it went out, and what came of it: each attempt is one. */
export const RunRequest = Type.Object({
  number: Type.Integer({
    description:
      'Of the requests of the run, from 1, through all of its attempts: the ones between are not kept.',
  }),
  request: Type.String({ description: 'Method and address, without secrets.' }),
  isLogin: Type.Optional(Type.Boolean({ description: 'True for a login.' })),
  body: Type.Optional(Type.String({ description: 'The beginning of what was sent, without secrets.' })),
  at: Type.String({ description: 'When the answer had come, or was given up.' }),
  ms: Type.Integer(),
  status: Type.Optional(Type.Integer()),
  bytes: Type.Optional(Type.Integer()),
  text: Type.Optional(Type.String({ description: 'How an answer with a status from 400 on begins.' })),
  failure: Type.Optional(Type.String({ description: 'Why there was no answer.' })),
});
export type RunRequest = Static<typeof RunRequest>;

/** Requests of a run, also while it goes on, logins and further attempts among them. */
export const RunRequests = Type.Object(
  {
    requests: Type.Array(RunRequest, {
      description:
        'A part of them, in the order of their answers: the first thousands, and those that failed.',
    }),
    total: Type.Integer({ description: 'How many can be asked for.' }),
    bad: Type.Integer({ description: 'Those among them that failed.' }),
    next: Type.Integer({ description: 'The offset to go on from.' }),
  },
  { title: 'Run requests' },
);
export type RunRequests = Static<typeof RunRequests>;

/** Tells whether a request got no answer, or a bad one. */
export const isBadRequest = ({ status }: Pick<RunRequest, 'status'>): boolean =>
  status === undefined || status >= 400;
