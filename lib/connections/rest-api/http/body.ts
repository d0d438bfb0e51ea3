// Bodies of POST requests: their type, their JSON, and the answer to what they ask for.

import type { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import { readJsonObject } from '../../../model/json-object.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { parse } from '../input/parse.ts';
import { asHubError, keepResponse, readBody } from './exchange.ts';
import { beginValue, jsonType } from './headers.ts';
import { wantsJsonErrors } from './reply.ts';
import { send } from './send.ts';

/** The media type of a body in UTF-8, in small letters; empty for another charset. */
export function bodyTypeOf(request: HttpRequest): string {
  const [type = '', ...parameters] = request
    .getHeader('content-type')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8';
  return /^"?utf-?8"?$/.test(charset) ? type : '';
}

/** Reads the JSON object of a body; `keys` says what it has to have. Errors: `bad-request`. */
export function readObject(text: string, keys: string): object {
  return readJsonObject(text, { where: 'body', object: `an object with ${keys}` });
}

/** Answers a POST of a JSON object with what `act` makes of it. Errors: `body-type`; others are answered when the body is there. */
export function answerPost<Schema extends z.ZodObject>(
  { response, request, log }: { response: HttpResponse; request: HttpRequest; log: Log },
  schema: Schema,
  act: (body: z.output<Schema>) => object,
): void {
  const type = bodyTypeOf(request);
  if (type !== jsonType) throw new HubError('body-type', `Content-Type: expected ${jsonType} in UTF-8, got "${type}"`);
  const asJson = wantsJsonErrors(request.getUrl(), request.getHeader('accept'));
  const expected = Object.keys(schema.shape).join(', ');
  const exchange = keepResponse(response);
  readBody(exchange, request, (body) => {
    try {
      if (body instanceof HubError) throw body;
      const answer = act(parse(schema, readObject(body, expected)));
      exchange.reply(() => send(beginValue(response, true), `${JSON.stringify(answer)}\n`));
    } catch (error) {
      exchange.fail(asHubError(error, log), asJson);
    }
  });
}
