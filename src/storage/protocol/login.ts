import { Type, type Static } from 'typebox';

/** State of a login that is kept between runs. */
export const LoginState = Type.Enum(['none', 'unused', 'active', 'endsSoon', 'ended'], {
  description:
    '`none`: nobody has logged in yet. `unused`: no run has used the token of the configuration yet. `endsSoon`: within three days, and nothing renews it. `ended`: a person has to log in again.',
});
export type LoginState = Static<typeof LoginState>;

/** Login of a configuration that is kept between runs; nothing of it is secret. */
export const ConfigurationLogin = Type.Object(
  {
    at: Type.String({ description: 'JSON path of its authentication.' }),
    row: Type.Optional(Type.String({ description: 'The first row that uses it.' })),
    isOfPerson: Type.Boolean({ description: 'A person can log in, in the browser.' }),
    state: LoginState,
    account: Type.Optional(Type.String({ description: 'Who logged in, where the provider says so.' })),
    renewed: Type.Optional(Type.String({ description: 'When somebody logged in, or a run renewed it.' })),
    isRenewed: Type.Optional(Type.Boolean({ description: 'Runs renew it by themselves.' })),
    endsAt: Type.Optional(Type.String({ description: 'When it ends, where the provider says so.' })),
    refused: Type.Optional(Type.String({ description: 'When the provider refused to renew it.' })),
  },
  { title: 'Login of a configuration' },
);
export type ConfigurationLogin = Static<typeof ConfigurationLogin>;

/** Body of `POST /console/logins`. */
export const LoginStart = Type.Object({
  document: Type.Optional(
    Type.Unsafe<unknown>({
      description: 'What `config.json` would hold, of a source that is not saved yet.',
    }),
  ),
  component: Type.Optional(Type.String({ description: '`ex-generic-v2` by default.' })),
  configuration: Type.Optional(Type.String({ description: 'Id of a saved one, in place of `document`.' })),
  branch: Type.Optional(Type.String({ description: 'Of that configuration.' })),
  row: Type.Optional(Type.String({ description: 'The row whose login is made.' })),
});
export type LoginStart = Static<typeof LoginStart>;

/** Login that a browser is to go for. */
export const StartedLogin = Type.Object({
  id: Type.String(),
  address: Type.String({ description: 'Of the provider: open it in this browser.' }),
  redirectUri: Type.String({ description: 'Where the provider sends the browser back to.' }),
  expires: Type.String(),
});
export type StartedLogin = Static<typeof StartedLogin>;

/** State of a login that was started. */
export const LoginProgress = Type.Object({
  status: Type.Enum(['waiting', 'exchanging', 'done', 'failed']),
  error: Type.Optional(Type.String({ description: 'Why it failed, in words.' })),
  login: Type.Optional(
    Type.Object({
      hasRefreshToken: Type.Boolean(),
      endsAt: Type.Optional(Type.String({ description: 'Of an access token that nothing renews.' })),
      logins: Type.Optional(
        Type.String({
          description:
            'Of a source that is not saved yet: JSON text for `component.logins` of its state, with the tokens encrypted.',
        }),
      ),
    }),
  ),
});
export type LoginProgress = Static<typeof LoginProgress>;
