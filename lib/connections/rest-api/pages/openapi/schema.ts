// Schemas (JSON Schema 2020-12) that know the type that they describe: where a schema and the type of the wire disagree, it does
// not compile. Enumerations and properties are compared, what may be left out as well; bounds and descriptions are not.

declare const described: unique symbol;

/** A schema of `Type`, and of no wider or narrower one. */
export interface Schema<Type> {
  readonly [described]: (value: Type) => Type;
}

type OptionalKey<Type> = { [Key in keyof Type]-?: object extends Pick<Type, Key> ? Key : never }[keyof Type];

/** The schemas of properties, each of which is there. */
export type Properties<Type, Key extends keyof Type = keyof Type> = {
  readonly [K in Key]-?: Schema<Exclude<Type[K], undefined>>;
};

/** A schema as it is written; `Type` is what its author says it describes. */
export function schema<Type>(json: object): Schema<Type> {
  return json as Schema<Type>;
}

/** The same schema with a sentence about it. */
export function describe<Type>(described: Schema<Type>, description: string): Schema<Type> {
  return schema({ ...described, description });
}

/** One of these texts; all that the type has. */
export function oneOf<const Text extends string>(texts: readonly Text[], description?: string): Schema<Text> {
  return schema({ enum: texts, ...(description !== undefined && { description }) });
}

/** An object of exactly these properties, of which those of `optional` may be left out. */
export function object<Type>(
  required: Properties<Type, Exclude<keyof Type, OptionalKey<Type>>>,
  ...[optional]: [OptionalKey<Type>] extends [never] ? [] : [optional: Properties<Type, OptionalKey<Type>>]
): Schema<Type> {
  return schema({
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  });
}

export function list<Item>(items: Schema<Item>): Schema<readonly Item[]> {
  return schema({ type: 'array', items });
}

export function anyOf<One, Other>(one: Schema<One>, other: Schema<Other>): Schema<One | Other> {
  return schema({ anyOf: [one, other] });
}
