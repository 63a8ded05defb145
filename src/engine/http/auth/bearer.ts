import { object, typeNamed, value } from '../kinds.ts';
import { withHeader } from '../../shared/message.ts';
import { signing, type AuthType } from './auth.ts';
import { headerText, requiredText } from './values.ts';

/** A fixed bearer token (RFC 6750): `{"type": "bearer", "#token": "abc"}` sends `Authorization: Bearer abc`. */
export const bearer: AuthType = {
  type: 'bearer',
  options: object('Bearer token', 'Sends a fixed token as `Authorization: Bearer …`.', {
    required: ['type'],
    anyOf: [{ required: ['#token'] }, { required: ['token'] }],
    properties: {
      type: typeNamed('bearer', 'A fixed bearer token.'),
      '#token': value('Token', 'The token, or a function that gives it (it sees `attr`).', [
        'eyJhbGciOi',
        { attr: '#token' },
      ]),
      token: value('Token, not hidden', 'The same as `#token`, stored in plain text. `#token` wins.', [
        { attr: '#token' },
      ]),
    },
    examples: [{ type: 'bearer', '#token': 'eyJhbGciOi' }],
  }),

  create(node, context) {
    const token = headerText(requiredText(node, ['#token', 'token'], context), `${context.at}.#token`);
    return signing((request) => ({
      ...request,
      headers: withHeader(request.headers, 'Authorization', `Bearer ${token}`),
    }));
  },
};
