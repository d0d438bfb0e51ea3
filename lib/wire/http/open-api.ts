// The OpenAPI document.

/** `GET /hub/openapi.json` answers with an OpenAPI Object (https://spec.openapis.org/oas/v3.1.0#openapi-object). */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  /** The credentials that the hub wants; one that wants none has `[{}]`. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** By path, what is answered to each method. */
  readonly paths: Readonly<Record<string, object>>;
  readonly components: { readonly schemas: object; readonly securitySchemes: object };
}
