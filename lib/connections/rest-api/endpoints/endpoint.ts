// An endpoint is one value: path, right, request, answer and handler. The route and the entry in the OpenAPI document are derived from this
// value.
import type { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Immutable } from '../../../wire/http/shape.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Archive } from '../../persistence.ts';
import type { Dashboards } from '../dashboards/served-dashboards.ts';
import type { Handler } from '../http/admission.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { expectNoTag } from '../http/answer/conditional.ts';
import { beginValue, jsonType } from '../http/answer/headers.ts';
import type { JsonText } from '../http/answer/reply.ts';
import { send } from '../http/answer/send.ts';
import { bodyTypeOf, type Paced, readBody, readObject, wrongBodyType } from '../http/body.ts';
import { cutWith, keepResponse } from '../http/exchange.ts';
import { createOwnerCheck, type Entry, type Sender } from '../http/guard/entry.ts';
import { type Lines, type Page, type PageRequest, servePage } from '../http/page.ts';
import { keepRequest } from '../http/postponed-requests.ts';
import { asHubError, joinedHeaders, parse } from '../input/parse-input.ts';
import type { PastShares } from '../limits/past-shares.ts';
import { shareOf } from '../limits/rates.ts';
import { remoteAddressOf, schemeOf } from '../proxies/trusted-proxies.ts';
import type { Settings } from '../settings.ts';
import type { ServerParts } from '../sockets/socket-protocol.ts';
import type { Sockets } from '../sockets/sockets.ts';
import { followTrace } from '../tracing/traceparent.ts';
import type { Principal } from '../users/principal.ts';
import type { Need } from '../users/rights.ts';
import { expectPresent } from '../users/view.ts';

/** The context in which the handlers of endpoints are created: the hub, and the parts of the server. */
export interface Context extends ServerParts {
  /** The Connection ID of the REST API. */
  readonly id: string;
  readonly sockets: Sockets;
  readonly entry: Entry;
  /** Answers `GET /parameters/<address>` with the value of the parameter. */
  readonly readValue: Handler;
  readonly resolvePath: (path: string) => string;
  /** Returns whether the server has begun to stop. */
  readonly isStopping: () => boolean;
  readonly originOf: (principal: Principal, address: string) => Origin;
  /** The absolute path of the folder with the built console. */
  readonly consoleFolder: string;
  readonly dashboards: Dashboards;
  readonly pastShares: PastShares;
  /** All endpoints, for the list of requests and the OpenAPI document. */
  readonly endpoints: readonly Endpoint[];
}

/** The properties of an endpoint that the OpenAPI document describes. */
export interface About {
  /** The path in OpenAPI notation. Braces with one or more names stand for the rest of the path: `/hub/explain/{address}`. */
  readonly path: `/${string}`;
  /** The right that a client needs. `entry` means that the answer contains only what the principal may see. */
  readonly need: Need;
  /** If true, the request does not count towards `requestsPerUser`. */
  readonly isUnmetered?: true;
  /** The `operationId` in the OpenAPI document. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  /** The descriptions of the path parameters, keyed by their names in the braces. */
  readonly names?: Readonly<Record<string, string>>;
  readonly query?: z.ZodObject;
  /** The reasons for errors, keyed by HTTP status. Errors that any request may cause are omitted. */
  readonly errors?: Readonly<Record<number, string>>;
}

export interface Endpoint extends About {
  readonly method: 'GET' | 'POST';
  /** If true, GET has an effect, so requests from pages of other sites are refused, and HEAD is not supported. */
  readonly getWrites?: true;
  /** The schemas of the request body, keyed by media type. */
  readonly body?: Readonly<Record<string, z.ZodType>>;
  /** If true, the work for a request is traced as part of the trace to which the request belongs. */
  readonly isTraced?: true;
  /** The successful answers, keyed by HTTP status. */
  readonly answers: Readonly<Record<number, AnswerInfo>>;
  /** Returns whether a server with these settings has the endpoint; if omitted, every server has the endpoint. */
  readonly isThere?: (settings: Settings) => boolean;
  /** Creates the handler, once for each server. */
  readonly serve: (context: Context) => Handler;
}

export const tags = {
  parameters: 'Read and set values',
  operation: 'The state of the hub, and the actions of operators',
  editing: 'Edit the flow files',
  causes: 'The causes of values',
  past: 'The data of the store',
  users: 'Users, devices and signing in',
  pages: 'For browsers',
};
type Tag = keyof typeof tags;

interface AnswerInfo {
  readonly description: string;
  readonly headers?: readonly string[];
  /** The schemas of the body, keyed by media type; undefined stands for any bytes. */
  readonly content?: Readonly<Record<string, z.ZodType | undefined>>;
}

/** The content of a page: finished JSON, or data; a list may be produced item by item. */
type Made<Data> =
  | Immutable<Data>
  | JsonText
  | (Data extends readonly (infer Item)[] ? Iterable<Immutable<Item>> | Lines<Immutable<Item>> : never);

interface JsonPage<Data> extends About {
  readonly answer: z.ZodType<Data>;
  /** Returns the content of the page, or a promise if the data arrives later. */
  readonly read: (
    context: Context,
    request: PageRequest,
    /** The part of the path in place of the braces, percent-encoded. */
    rest: string,
  ) => Made<NoInfer<Data>> | Promise<Made<NoInfer<Data>>>;
}

/**
 * Defines a `GET` endpoint that answers with JSON and an ETag: the JSON is produced in slices, and the answer is 304 if nothing has
 * changed.
 */
export function page<Data>({ answer, read, ...about }: JsonPage<Data>): Endpoint {
  const start = startOf(about.path).length;
  return {
    ...about,
    method: 'GET',
    answers: fresh({ 'application/json': answer }),
    serve: (context) => {
      const readPage = (request: PageRequest) => read(context, request, request.path.slice(start)) as Page;
      return servePage(readPage, context.queue, context.log);
    },
  };
}

/** Returns the descriptions of two answers: 200 with an ETag, and 304 for a client that already has the content with this ETag. */
export function fresh(content: AnswerInfo['content'] & object, description = 'The current state'): Endpoint['answers'] {
  return {
    200: { description, headers: ['ETag'], content },
    304: { description: 'The state still matches If-None-Match' },
  };
}

/** A request for an action, and the client that sent the request. */
export interface Asked {
  readonly principal: Principal;
  /** The client as the origin of changes. */
  readonly by: Origin;
  /** The address and the cookies of the client. */
  readonly sender: Sender;
  readonly userAgent: string;
  readonly response: HttpResponse;
  /** The part of the path in place of the braces, percent-encoded. */
  readonly rest: string;
}

interface JsonAction<Body extends z.ZodObject, Answer extends z.ZodType> extends About {
  readonly isTraced?: true;
  readonly setsCookie?: true;
  readonly body: Body;
  readonly answer: Answer;
  /** The description of the successful answer. */
  readonly answered: string;
  readonly act: (
    context: Context,
    body: z.output<Body>,
    asked: Asked,
  ) => Immutable<z.output<Answer>> | Promise<Immutable<z.output<Answer>>>;
}

/** Defines a `POST` endpoint that takes a JSON object, checks it against `body`, and then runs the action. */
export function action<Body extends z.ZodObject, Answer extends z.ZodType>({
  body,
  answer,
  answered,
  setsCookie,
  act,
  ...about
}: JsonAction<Body, Answer>): Endpoint {
  const start = startOf(about.path).length;
  return {
    ...about,
    method: 'POST',
    body: { 'application/json': body },
    answers: {
      200: {
        description: answered,
        ...(setsCookie && { headers: ['Set-Cookie'] }),
        content: { 'application/json': answer },
      },
    },
    serve: (context) => (response, request, principal) => {
      const { queue, log, originOf } = context;
      const sender = senderOf(response, request);
      const by = followTrace(originOf(principal, sender.address), request);
      const rest = request.getUrl().slice(start);
      const asked: Asked = { principal, by, sender, userAgent: request.getHeader('user-agent'), response, rest };
      answerPost({ response, request, principal, queue, log }, body, (read) => act(context, read, asked) as object);
    },
  };
}

function senderOf(response: HttpResponse, request: HttpRequest): Sender {
  const [cookie = ''] = joinedHeaders(request, 'cookie');
  return { address: remoteAddressOf(response), isSecure: schemeOf(response) === 'https', cookie };
}

/** Returns the part of a path before the braces: `/hub/explain/{address}` → `/hub/explain/`. */
export function startOf(path: string): string {
  const brace = path.indexOf('{');
  return brace < 0 ? path : path.slice(0, brace);
}

/** Returns whether a query parameter with this shape is required. */
export function isNeeded(shape: z.ZodType): boolean {
  return !shape.safeParse(undefined).success;
}

/** Answers a request, before returning or later; resolves when the answer is complete. */
type Serve = (response: HttpResponse, request: HttpRequest, paced: Paced) => Promise<void>;

/**
 * Creates a handler whose answer begins in a slice and may take a long time to send. The answer is cut off if the principal loses access in
 * the meantime.
 */
export function later(serve: Serve, { queue, log }: Pick<Context, 'queue' | 'log'>): Handler {
  return (response, request, principal) => {
    const share = shareOf(principal, remoteAddressOf(response));
    let asked = request;
    let isLate = false;
    let isGone = false;
    const begin = () => {
      const stay = cutWith(principal, response);
      void serve(response, asked, { queue, share })
        .catch((error) => asHubError(error, log))
        .finally(stay);
    };
    const advance = () => {
      if (isLate && !isGone) response.cork(begin);
      else if (!isLate) begin();
      return false;
    };
    queue.do({ share, line: undefined, advance }, () => {
      isLate = true;
      asked = keepRequest(request);
      response.onAborted(() => {
        isGone = true;
      });
    });
  };
}

/** The description of the 400 answer to a path that is not percent-encoded UTF-8. */
export const badPath = 'The path is not percent-encoded UTF-8';

/** Wraps a handler so that only owners get an answer. Other principals get the error `forbidden`. */
export function ownersOnly(settings: Settings, serve: Handler): Handler {
  const expectOwner = createOwnerCheck(settings);
  return (response, request, principal) => {
    expectOwner(request, remoteAddressOf(response));
    serve(response, request, principal);
  };
}

/** Returns a part of the hub's store. Errors: `not-found` if the hub runs no store, or if the store lacks this part. */
export function archived<Part extends keyof Archive>(
  { persistence: { archive } }: Pick<HubPort, 'persistence'>,
  part: Part,
): NonNullable<Archive[Part]> {
  if (archive === undefined) throw new HubError('not-found', 'this hub has no store');
  const found = archive[part];
  if (found === undefined) throw new HubError('not-found', `this hub's store has no ${part}`);
  return found;
}

// Answers a POST whose body is a JSON object.

/** A POST request, the principal that sent the request, and the means to answer it. */
interface Post extends Pick<Paced, 'queue'> {
  readonly response: HttpResponse;
  readonly request: HttpRequest;
  readonly principal: Principal;
  readonly log: Log;
}

/**
 * Answers a POST of a JSON object. Errors: `body-type`; later any error from `act`, and `unauthorized` if the principal has lost access in
 * the meantime.
 */
function answerPost<Schema extends z.ZodObject>(
  { response, request, principal, queue, log }: Post,
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
  const share = shareOf(principal, remoteAddressOf(response));
  readBody(exchange, request, { share, queue }, (body) => {
    try {
      if (body instanceof HubError) throw body;
      expectPresent(principal);
      const answer = act(parse(schema, readObject(body, expected)));
      if (answer instanceof Promise) answer.then(reply).catch(fail);
      else reply(answer);
    } catch (error) {
      fail(error);
    }
  });
}
