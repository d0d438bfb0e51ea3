// Holds answers of a hub against its OpenAPI document: the status must be there, the type of the body too, and the body must be as its schema
// says. Times are ISO 8601 in UTC, with milliseconds.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from './http.ts';
import { api } from './hub.ts';

export interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly maximum?: number } }[];
  readonly responses: Readonly<
    Record<string, { description: string; content?: Readonly<Record<string, { schema?: object }>> }>
  >;
}

export interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: readonly object[];
}

const rule = { name: 'loop?', from: 'desk/a', map: '10 / value', to: ['desk/b', 'desk/text'] };
/** A hub that has something to answer at each path but those of a domain: flow files and dashboards, one of them broken. */
export const describedFiles = {
  'flow.json5': {
    connections: {
      api: { ...api, dashboards: '_boards' },
      desk: { type: 'dummy', parameters: ['a,I', 'b,F', 'text', 'flag,B,true', 'go,T'] },
      off: { type: 'timer', enabled: false },
      hooks: { type: 'webhook', in: { door: { token: 'open-sesame', values: { open: { type: 'I' } } } } },
      mixer: { type: 'companion', module: 'none.tgz', simulate: true },
      store: { type: 'store', folder: '_data', snapshots: { 'studio-1': { include: ['desk/**'] } } },
    },
    rules: [
      { folder: 'f', rules: [rule] },
      { name: 'off', enabled: false, from: 'desk/go', to: 'desk/flag' },
    ],
  },
  '_boards/one.json5': "{ title: 'One', widgets: [] }",
  '_boards/bad.json5': '{',
};

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export class AnswerCheck {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false }).addFormat('date-time', isoTime);
  readonly #known = new Map<string, ValidateFunction>();

  constructor(document: Document) {
    this.#document = document;
    this.#ajv.addSchema(document, 'hub');
  }

  /** What is wrong with the answer to a method, in small letters, at a path of the document; undefined: nothing. */
  mistakeOf(path: string, method: string, { status, headers, text }: Answer): string | undefined {
    const response = this.#document.paths[path]?.[method]?.responses[status];
    if (response === undefined) return `the document has no ${status}: ${text}`;
    const { content } = response;
    const [type = ''] = (headers['content-type'] ?? '').split(';');
    if (content === undefined) return text === '' ? undefined : `expected no body, got ${text}`;
    if (content['*/*'] !== undefined) return undefined;
    if (!(type in content)) return `the document has no ${type} for ${status}: ${text}`;
    if (content[type]!.schema === undefined) return undefined;
    const validate = this.#validatorOf(['paths', path, method, 'responses', String(status), 'content', type, 'schema']);
    const isRight = validate(type.endsWith('json') ? JSON.parse(text) : text);
    return isRight ? undefined : `${JSON.stringify(validate.errors)}: ${text}`;
  }

  #validatorOf(place: readonly string[]): ValidateFunction {
    const parts = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `hub#/${parts.join('/')}`;
    const validate = this.#known.get($ref) ?? this.#ajv.compile({ $ref });
    this.#known.set($ref, validate);
    return validate;
  }
}
