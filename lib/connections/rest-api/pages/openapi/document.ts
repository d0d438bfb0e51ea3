// GET /hub/openapi.json: what the hub answers over HTTP, as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0). lib/client/asyncapi.json
// describes the WebSocket.

import type { OpenApiDocument } from '../../../../wire/http/open-api.ts';
import type { Settings } from '../../settings.ts';
import { isOpen } from '../../users/accounts.ts';
import { paths } from './paths.ts';
import { schemas } from './schemas.ts';

/** The document of a hub, with the credentials that its settings want, the cookie of who has signed in, and the methods that they leave. */
export function openApiOf(version: string, settings: Settings, cookieName: string): OpenApiDocument {
  const { username, password, token, users, anonymous, getUpdates } = settings;
  const all = Object.values(users);
  const hasBasic = username !== '' || password !== '' || all.some((user) => user.password !== undefined);
  const hasBearer = token !== '' || all.some((user) => user.token !== undefined);
  const schemes = {
    ...(hasBasic ? { basic: { type: 'http', scheme: 'basic' } } : {}),
    ...(hasBearer ? { bearer: { type: 'http', scheme: 'bearer' } } : {}),
    ...(all.length > 0 ? { cookie: { type: 'apiKey', in: 'cookie', name: cookieName } } : {}),
  };
  const names = Object.keys(schemes);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Patchbay',
      version,
      description:
        'Parameters, and the hub that holds them. An address, <Connection ID>/<Parameter ID>, is put into a path as it is, ' +
        'with each part between slashes percent-encoded. What answers with an ETag answers 304 to it while nothing is new.',
    },
    servers: [{ url: '/' }],
    security: [...names.map((name) => ({ [name]: [] })), ...(isOpen(settings) || anonymous !== undefined ? [{}] : [])],
    tags: [
      { name: 'parameters', description: 'Read and set values' },
      { name: 'operation', description: 'How the hub is doing, and what operators do with it' },
      { name: 'causes', description: 'Why things are as they are' },
      { name: 'past', description: 'What the store keeps' },
      { name: 'users', description: 'Who may come in, and who has' },
      { name: 'pages', description: 'For browsers' },
    ],
    paths: getUpdates ? paths : { ...paths, '/update': { post: paths['/update'].post } },
    components: { schemas, securitySchemes: schemes },
  };
}
