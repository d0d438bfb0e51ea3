// GET /hub/openapi.json: what the hub answers over HTTP, as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0). lib/client/asyncapi.json
// describes the WebSocket.

import { KeptResults } from '../../../../model/kept-results.ts';
import { namedShapes } from '../../../../wire/http/shape.ts';
import { type JsonText, jsonTextOf } from '../../http/answer/reply.ts';
import type { Directory } from '../../users/directory.ts';
import { paths } from './paths.ts';
import { schemasOf } from './schemas.ts';

/** By what they depend on. */
const texts = new KeptResults<JsonText>(16);

/** The JSON of `openApiOf`, which is made once. */
export function openApiTextOf(...of: Parameters<typeof openApiOf>): JsonText {
  const [version, directory, getUpdates, cookieName] = of;
  const { hasPasswords, hasTokens, hasUsers, everybody, anonymous } = directory;
  const isOpen = everybody !== undefined || anonymous !== undefined;
  const key = JSON.stringify([version, hasPasswords, hasTokens, hasUsers, isOpen, getUpdates, cookieName]);
  return texts.get(key) ?? texts.keep(key, jsonTextOf(openApiOf(...of)));
}

/** The document of a hub, with the credentials that users have now, the cookie of who has signed in, and the methods that there are. */
function openApiOf(
  version: string,
  { hasPasswords, hasTokens, hasUsers, everybody, anonymous }: Directory,
  getUpdates: boolean,
  cookieName: string,
) {
  const schemes = {
    ...(hasPasswords ? { basic: { type: 'http', scheme: 'basic' } } : {}),
    ...(hasTokens ? { bearer: { type: 'http', scheme: 'bearer' } } : {}),
    ...(hasUsers ? { cookie: { type: 'apiKey', in: 'cookie', name: cookieName } } : {}),
  };
  const names = Object.keys(schemes);
  const needsNone = everybody !== undefined || anonymous !== undefined;
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
    security: [...names.map((name) => ({ [name]: [] })), ...(needsNone ? [{}] : [])],
    tags: [
      { name: 'parameters', description: 'Read and set values' },
      { name: 'operation', description: 'How the hub is doing, and what operators do with it' },
      { name: 'causes', description: 'Why things are as they are' },
      { name: 'past', description: 'What the store keeps' },
      { name: 'users', description: 'Who may come in, and who has' },
      { name: 'pages', description: 'For browsers' },
    ],
    paths: getUpdates ? paths : { ...paths, '/update': { post: paths['/update'].post } },
    components: { schemas: schemasOf(namedShapes), securitySchemes: schemes },
  };
}
