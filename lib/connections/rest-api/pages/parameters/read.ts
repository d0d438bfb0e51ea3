// GET /parameters/<address> (S-07): the value of a parameter.

import { HubError } from '../../../../model/error.ts';
import type { Parameter } from '../../../../model/parameter.ts';
import { toText, type Value } from '../../../../model/value.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../../net/uws.ts';
import type { HubPort } from '../../../hub-port.ts';
import { acceptsJson } from '../../http/answer/accept.ts';
import { beginValue } from '../../http/answer/headers.ts';
import { send } from '../../http/answer/send.ts';
import { decodePath } from '../../http/path.ts';

export const parametersPath = '/parameters/';
const acceptHeader = encodeText('accept');

const maxKnownPaths = 10_000;
const maxBodies = 1000;
/** Longer ones are not kept. */
const maxKeptLength = 64;

type Body = ArrayBuffer | string;

/** A path that leads to a parameter, and how its value was told last. */
interface KnownPath {
  readonly parameter: Parameter;
  value: Value | undefined;
  asText: Body | undefined;
  asJson: Body | undefined;
}

/** Answers with values. Clients ask for the same ones again and again, so it keeps their paths and short bodies. */
export class ParameterReader {
  readonly #hub: HubPort;
  readonly #paths = new Map<string, KnownPath>();
  /** The first short bodies, as bytes. */
  readonly #bodies = new Map<string, ArrayBuffer>();

  constructor(hub: HubPort) {
    this.#hub = hub;
  }

  /** Answers with the value. Errors: `bad-address`, `unknown-parameter`, and `state-unknown` (D-03). */
  answer(response: HttpResponse, request: HttpRequest): void {
    const url = request.getUrl();
    const path = this.#paths.get(url) ?? this.#find(url);
    const { parameter } = path;
    const { value } = parameter;
    if (value === undefined) throw new HubError('state-unknown', `${parameter.address}: the state is unknown`);
    if (path.value !== value) {
      path.value = value;
      path.asText = path.asJson = undefined;
    }
    const asJson = acceptsJson(request.getHeader(acceptHeader));
    const body = (asJson ? path.asJson : path.asText) ?? this.#tell(path, value, asJson);
    send(beginValue(response, asJson), body);
  }

  /** Forgets all paths, since a parameter is no more. */
  forget(): void {
    this.#paths.clear();
  }

  #find(url: string): KnownPath {
    const address = decodePath(url.slice(parametersPath.length));
    const parameter = this.#hub.find(address);
    if (parameter === undefined)
      throw new HubError('unknown-parameter', `${address}: there is no parameter of this address`);
    const path = { parameter, value: undefined, asText: undefined, asJson: undefined };
    if (this.#paths.size < maxKnownPaths) this.#paths.set(url, path);
    return path;
  }

  #tell(path: KnownPath, value: Value, asJson: boolean): Body {
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
