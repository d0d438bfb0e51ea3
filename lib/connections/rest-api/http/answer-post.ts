// The answer to a POST of a JSON object.

import type { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { asHubError } from '../input/fault-gate.ts';
import { parse } from '../input/parse.ts';
import { shareOf } from '../limits/rates.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import { expectPresent } from '../users/present.ts';
import type { Visitor } from '../users/visitor.ts';
import { acceptOf, wantsJsonErrors } from './answer/accept.ts';
import { expectNoTag } from './answer/conditional.ts';
import { beginValue, jsonType } from './answer/headers.ts';
import { send } from './answer/send.ts';
import { bodyTypeOf, type Paced, readBody, readObject, wrongBodyType } from './body.ts';
import { keepResponse } from './exchange.ts';

/** A POST, and who sends it. */
interface Post extends Pick<Paced, 'queue'> {
  readonly response: HttpResponse;
  readonly request: HttpRequest;
  readonly visitor: Visitor;
  readonly log: Log;
}

/**
 * Answers a POST of a JSON object with what `act` returns. Errors: `body-type`; others are answered when the body has come: `unauthorized`
 * if the visitor has had to leave meanwhile.
 */
export function answerPost<Schema extends z.ZodObject>(
  { response, request, visitor, queue, log }: Post,
  schema: Schema,
  act: (body: z.output<Schema>) => object | Promise<object>,
): void {
  expectNoTag(request);
  if (bodyTypeOf(request) !== jsonType) throw wrongBodyType(request, jsonType);
  const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
  const expected = Object.keys(schema.shape).join(', ');
  const exchange = keepResponse(response);
  const reply = (answer: object) =>
    exchange.reply(() => {
      beginValue(response, true);
      for (const cookie of (response.cookies as string[] | undefined) ?? []) response.writeHeader('Set-Cookie', cookie);
      send(response, `${JSON.stringify(answer)}\n`);
    });
  const fail = (error: unknown) => exchange.fail(asHubError(error, log), asJson);
  const share = shareOf(visitor, remoteAddressOf(response));
  readBody(exchange, request, { share, queue }, (body) => {
    try {
      if (body instanceof HubError) throw body;
      expectPresent(visitor);
      const answer = act(parse(schema, readObject(body, expected)));
      if (answer instanceof Promise) answer.then(reply).catch(fail);
      else reply(answer);
    } catch (error) {
      fail(error);
    }
  });
}
