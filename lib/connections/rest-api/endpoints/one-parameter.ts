// GET /parameters/<address> (S-07): the value of a parameter.
import { HubError } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { toText, type Value } from '../../../model/value.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../net/uws.ts';
import { parameterValue } from '../../../wire/http/parameter-shapes.ts';
import { text } from '../../../wire/http/shape.ts';
import { acceptsJson, quickAcceptOf } from '../http/answer/accept.ts';
import { expectNoTag } from '../http/answer/conditional.ts';
import { beginValue } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import { decodePath } from '../input/request-path.ts';
import type { Principal } from '../users/principal.ts';
import { badPath, type Endpoint } from './endpoint.ts';

const start = '/parameters/';

export const endpoints: Endpoint[] = [
  {
    method: 'GET',
    path: `${start}{address}`,
    need: 'entry',
    id: 'readParameter',
    tag: 'parameters',
    summary: 'The value of a parameter',
    names: { address: 'Parameter address' },
    answers: {
      200: {
        description: 'The value as text, or as JSON if the client accepts it',
        content: { 'text/plain': text, 'application/json': parameterValue },
      },
    },
    errors: {
      400: badPath,
      404: 'Parameter not found',
      503: 'The state is unknown, or the parameter is a trigger',
    },
    serve: ({ readValue }) => readValue,
  },
];

/** The maximum number of cached paths per principal. */
const maxKnownPaths = 10_000;
const maxBodies = 1000;
/** The maximum length of cached paths and bodies, in characters. */
const maxKeptLength = 64;

type Body = ArrayBuffer | string;

/** A parameter that was found by its path, and the encoded forms of its last value. */
interface KnownPath {
  readonly parameter: Parameter;
  value: Value | undefined;
  asText: Body | undefined;
  asJson: Body | undefined;
}

/** Answers requests with the values of parameters. Clients read the same values repeatedly, so their paths and short bodies are cached. */
export class ParameterReader {
  /** The parameters, keyed by request path, for each principal. */
  #paths = new WeakMap<Principal, Map<string, KnownPath>>();
  /** The principal that sent the last request; `#lastPaths` contains the principal's paths. */
  #last: Principal | undefined;
  #lastPaths = new Map<string, KnownPath>();
  /** Short bodies as bytes, keyed by their text. Only the first `maxBodies` bodies are cached. */
  readonly #bodies = new Map<string, ArrayBuffer>();

  /**
   * Answers with the value of the parameter in the path. Errors: `bad-address`, `unknown-parameter`, `precondition-failed`, and
   * `state-unknown` (D-03).
   */
  answer(response: HttpResponse, request: HttpRequest, principal: Principal): void {
    expectNoTag(request);
    const url = request.getUrl();
    const paths = principal === this.#last ? this.#lastPaths : this.#pathsOf(principal);
    const path = paths.get(url) ?? find(url, principal, paths);
    const { parameter } = path;
    const { value } = parameter;
    if (value === undefined) throw new HubError('state-unknown', `${parameter.address}: the state is unknown`);
    if (path.value !== value) {
      path.value = value;
      path.asText = path.asJson = undefined;
    }
    const asJson = acceptsJson(quickAcceptOf(request));
    const body = (asJson ? path.asJson : path.asText) ?? this.#bodyOf(path, value, asJson);
    send(beginValue(response, asJson), body);
  }

  /** Clears the cached paths; to be called when a parameter has been removed. */
  forget(): void {
    this.#paths = new WeakMap();
    this.#last = undefined;
  }

  #pathsOf(principal: Principal): Map<string, KnownPath> {
    let paths = this.#paths.get(principal);
    if (paths === undefined) {
      paths = new Map();
      this.#paths.set(principal, paths);
    }
    this.#last = principal;
    this.#lastPaths = paths;
    return paths;
  }

  #bodyOf(path: KnownPath, value: Value, asJson: boolean): Body {
    const text = asJson ? JSON.stringify(value) : toText(value);
    if (text.length > maxKeptLength) return text;
    const body = this.#encode(text);
    if (asJson) path.asJson = body;
    else path.asText = body;
    return body;
  }

  #encode(text: string): Body {
    const known = this.#bodies.get(text);
    if (known !== undefined || this.#bodies.size >= maxBodies) return known ?? text;
    const bytes = encodeText(text);
    this.#bodies.set(text, bytes);
    return bytes;
  }
}

function find(url: string, { view }: Principal, paths: Map<string, KnownPath>): KnownPath {
  const address = decodePath(url.slice(start.length));
  const parameter = view.find(address);
  if (parameter === undefined) throw new HubError('unknown-parameter', `${address}: no parameter has this address`);
  const path = { parameter, value: undefined, asText: undefined, asJson: undefined };
  if (paths.size < maxKnownPaths) paths.set(url, path);
  return path;
}
