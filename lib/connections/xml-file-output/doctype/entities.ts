// The entities that an internal subset declares, and the references to them within it (XML 1.0 section 4.1). It holds the
// constraints Entity Declared, Parsed Entity, No Recursion, No External Entity References and No < in Attribute Values.

import { readReferences } from './references.ts';
import { Mistake } from './scanner.ts';

/** How deep entities may stand within entities. */
export const maxDepth = 20;

/** An entity: internal, with its replacement text; or in a file of its own, which is not read, as text or as other data. */
export type Entity = { readonly value: string } | 'external' | 'unparsed';

const predefined = ['amp', 'lt', 'gt', 'apos', 'quot'];

export class Entities {
  readonly #parameters = new Map<string, Entity>();
  readonly #generals = new Map<string, Entity>();
  /** Entities that have been found good for the value of an attribute. */
  readonly #checked = new Set(predefined);
  /** Whether entities may be declared in something that is not read. */
  #mayBeElsewhere = false;

  /** The names of the general entities; a template must not use them even so. */
  get names(): ReadonlySet<string> {
    return new Set(this.#generals.keys());
  }

  /** The first declaration counts (section 4.2). */
  declare(isParameter: boolean, name: string, entity: Entity): void {
    const entities = isParameter ? this.#parameters : this.#generals;
    if (!entities.has(name)) entities.set(name, entity);
  }

  /** From here on entities may be used that are not declared here. */
  open(): void {
    this.#mayBeElsewhere = true;
  }

  /** Finds a parameter entity; undefined: it may be declared elsewhere. Errors: `Mistake`, when it cannot be. */
  parameter(name: string, at: number): Entity | undefined {
    return this.#known(this.#parameters.get(name), `%${name};`, at);
  }

  /** Checks the default value of an attribute, which begins at a place of the text. Errors: `Mistake`. */
  checkAttribute(value: string, at: number, through: readonly string[] = []): void {
    for (const part of readReferences(value, at, 'attribute'))
      if (part.kind === 'entity' && !this.#checked.has(part.name)) this.#check(part.name, at, through);
  }

  #check(name: string, at: number, through: readonly string[]): void {
    const entity = this.#known(this.#generals.get(name), `&${name};`, at);
    checkDepth(through, name, at, `&${name};`);
    if (typeof entity === 'string')
      throw new Mistake(at, `expected an entity whose text stands in the template, got &${name};`);
    if (entity !== undefined)
      try {
        this.checkAttribute(entity.value, 0, [...through, name]);
      } catch (error) {
        throw error instanceof Mistake ? new Mistake(at, `in &${name};: ${error.message}`) : error;
      }
    this.#checked.add(name);
  }

  #known(entity: Entity | undefined, written: string, at: number): Entity | undefined {
    if (entity !== undefined || this.#mayBeElsewhere) return entity;
    throw new Mistake(at, `expected an entity that is declared before, got ${written}`);
  }
}

/** The constraint No Recursion, and the bound. Errors: `Mistake`. */
export function checkDepth(through: readonly string[], name: string, at: number, written: string): void {
  if (through.includes(name)) throw new Mistake(at, `expected no entity that refers to itself, got ${written}`);
  if (through.length >= maxDepth)
    throw new Mistake(at, `expected entities at most ${maxDepth} within each other, got ${written}`);
}
