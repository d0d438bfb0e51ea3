// GET /hub/openapi.json: the HTTP API as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), generated from the endpoints.
// lib/client/asyncapi.json describes the WebSocket API.

import { z } from 'zod';
import { KeptResults } from '../../../model/kept-results.ts';
import { problem as problemShape } from '../../../wire/http/problem.ts';
import { namedShapes, text } from '../../../wire/http/shape.ts';
import { maxBodyBytes } from '../../../wire/limits.ts';
import { type JsonText, jsonTextOf } from '../http/answer/reply.ts';
import { type Context, type Endpoint, isNeeded, page, tags } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/openapi.json',
    need: 'entry',
    id: 'readOpenApi',
    tag: 'operation',
    summary: 'This document',
    answer: z.custom<object>().meta({ type: 'object' }),
    read: openApiTextOf,
  }),
];

/** The generated documents, by the properties that determine their content. */
const texts = new KeptResults<JsonText>(16);

/** Returns the OpenAPI document of a hub. The document is generated once for each combination of kinds of credentials. */
function openApiTextOf({ hub: { version }, settings, entry, endpoints }: Context): JsonText {
  const { hasPasswords, hasTokens, hasUsers, everybody, anonymous } = entry.directory;
  const needsNone = everybody !== undefined || anonymous !== undefined;
  const schemes = {
    ...(hasPasswords && { basic: { type: 'http', scheme: 'basic' } }),
    ...(hasTokens && { bearer: { type: 'http', scheme: 'bearer' } }),
    ...(hasUsers && { cookie: { type: 'apiKey', in: 'cookie', name: entry.cookieName } }),
  };
  const there = endpoints.filter(({ isThere }) => isThere?.(settings) ?? true);
  const key = JSON.stringify([version, schemes, needsNone, there.map(({ id }) => id)]);
  return texts.get(key) ?? texts.keep(key, jsonTextOf(openApiOf(version, there, schemes, needsNone)));
}

function openApiOf(version: string, endpoints: readonly Endpoint[], securitySchemes: object, needsNone: boolean) {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {};
    paths[endpoint.path]![endpoint.method.toLowerCase()] = operationOf(endpoint);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Patchbay',
      version,
      description:
        'The parameters of a hub, and its operation. In a path, keep the slashes of an address, <Connection ID>/<Parameter ID>, ' +
        'and percent-encode each part between them. Endpoints that send an ETag answer 304 to If-None-Match while nothing has changed.',
    },
    servers: [{ url: '/' }],
    security: [...Object.keys(securitySchemes).map((name) => ({ [name]: [] })), ...(needsNone ? [{}] : [])],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: namedSchemas(), securitySchemes },
  };
}

function operationOf({ id, tag, summary, need, names = {}, query, isTraced, body, answers, errors = {} }: Endpoint) {
  const parameters = [
    ...Object.entries(names).map(([name, description]) => parameter('path', name, description, text, true)),
    ...Object.entries(query?.shape ?? {}).map(([name, shape]) =>
      parameter('query', name, shape.description!, shape, isNeeded(shape)),
    ),
    ...(isTraced ? [parameter('header', 'traceparent', followsTrace, text, false)] : []),
  ];
  const problems = { ...mayMeet, ...(body && ofBodies), ...errors };
  const unavailable = errors[503] === undefined ? passwords : `${errors[503]}; or ${passwords.replace('Too', 'too')}`;
  return {
    ...((need === 'nothing' || need === 'own') && { security: [] }), // no user credentials are needed
    operationId: id,
    tags: [tag],
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: contentOf(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, { description, headers, content }]) => [
          status,
          {
            description,
            ...(headers && { headers: Object.fromEntries(headers.map((name) => [name, { schema: schemaOf(text) }])) }),
            ...(content && { content: contentOf(content) }),
          },
        ]),
      ),
      ...Object.fromEntries(
        Object.entries({ ...problems, 503: unavailable }).map(([status, description]) => [
          status,
          { description, content: contentOf({ 'application/problem+json': problemShape, 'text/plain': text }) },
        ]),
      ),
    },
  };
}

const followsTrace = 'The trace that the request follows (W3C Trace Context)';
const passwords = 'Too many passwords are waiting for comparison; see Retry-After';

/** The errors that any request may cause: a malformed request, wrong credentials, or a foreign Host or Origin. */
const mayMeet = {
  401: 'The credentials are missing or wrong',
  403: 'A foreign Host, a page of another site, a read-only parameter, or a missing right',
  412: 'If-Match does not name the current state, or the state is newer than If-Unmodified-Since',
  429: 'Too many requests or writes, or too many wrong credentials from this address; see Retry-After',
};

const ofBodies = {
  400: 'The body is not valid',
  413: `The body is larger than ${maxBodyBytes / 1024} KiB`,
  415: 'The body has another media type',
};

function parameter(
  place: 'path' | 'query' | 'header',
  name: string,
  description: string,
  shape: z.ZodType,
  required: boolean,
) {
  const { description: _, ...schema } = schemaOf(shape);
  return { name, in: place, required, description, schema };
}

function contentOf(shapes: Readonly<Record<string, z.ZodType | undefined>>) {
  return Object.fromEntries(
    Object.entries(shapes).map(([type, shape]) => [type, shape === undefined ? {} : { schema: schemaOf(shape) }]),
  );
}

const options = {
  io: 'input',
  unrepresentable: 'any',
  override({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) {
    // JavaScript's safe-integer bounds carry no information.
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  },
} as const;

const uri = (id: string) => `#/components/schemas/${id}`;

/** Returns the JSON Schema of a shape, or a reference if the shape has a name. */
function schemaOf(shape: z.ZodType): z.core.JSONSchema.BaseSchema {
  const name = namedShapes.get(shape)?.id;
  return name === undefined ? bare(z.toJSONSchema(shape, options)) : { $ref: uri(name) };
}

function namedSchemas() {
  const { schemas } = z.toJSONSchema(namedShapes, { ...options, uri });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema)]));
}

function bare({ $id, $schema, ...schema }: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  return schema;
}
