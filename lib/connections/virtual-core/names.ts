// The names that outputs of a Virtual Core can read: its inputs, its outputs, and the further parameters of blocks
// (`lamp/elapsed`). In an expression a name is written as an identifier: every character that is no letter, digit or _
// becomes _.

import { freeNames } from '../../expression/expression.ts';
import { parameterIdMistake } from '../../model/address.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import type { ValueType } from '../../model/value.ts';
import type { InputTypes } from '../connection.ts';
import type { SettingMistake } from '../setting.ts';
import { blockTypes } from './blocks/blocks.ts';
import type { CoreSettings, Output } from './settings.ts';

/** What a name stands for: an input, or a parameter of the output that gives it. */
export interface Source {
  /** Undefined: the address of the input is a mistake, so its type is not known. */
  readonly type: ValueType | undefined;
  readonly output: string | undefined;
}

/** The parameters of an output: its own first, then the further ones of its block. */
export function parametersOf(name: string, output: Output): ParameterDeclaration[] {
  const types = output.block === undefined ? { '': output.type } : blockTypes[output.block]!.outputs;
  return Object.entries(types).map(([suffix, type]) => ({ id: `${name}${suffix}`, type, access: 'read-only' }));
}

export class Names {
  /** Names that are malformed, or that stand for two things. */
  readonly mistakes: SettingMistake[] = [];
  readonly #outputs: ReadonlyMap<string, Output>;
  readonly #sources = new Map<string, Source>();
  readonly #namesOfIdentifier = new Map<string, string[]>();
  readonly #reads = new Map<string, readonly string[]>();

  constructor(settings: CoreSettings, inputTypes: InputTypes) {
    this.#outputs = new Map(Object.entries(settings.outputs));
    for (const name of Object.keys(settings.inputs))
      this.#add(name, { type: inputTypes.get(name), output: undefined }, ['inputs', name]);
    for (const [name, output] of this.#outputs)
      for (const { id, type } of parametersOf(name, output)) this.#add(id, { type, output: name }, ['outputs', name]);
  }

  get(name: string): Source | undefined {
    return this.#sources.get(name);
  }

  all(): string[] {
    return [...this.#sources.keys()];
  }

  identifiers(): string[] {
    return [...this.#namesOfIdentifier.keys()];
  }

  /** The names that an identifier of an expression may stand for; if there are several, the expression is a mistake. */
  namesOf(identifier: string): readonly string[] {
    return this.#namesOfIdentifier.get(identifier) ?? [];
  }

  /** The known names that an output reads; none if its expression has bad syntax. */
  readBy(outputName: string): readonly string[] {
    let reads = this.#reads.get(outputName);
    if (reads === undefined) {
      reads = this.#findReads(this.#outputs.get(outputName)!);
      this.#reads.set(outputName, reads);
    }
    return reads;
  }

  /** The outputs that an output reads. */
  outputsReadBy(outputName: string): string[] {
    return this.readBy(outputName).flatMap((name) => this.#sources.get(name)!.output ?? []);
  }

  #findReads(output: Output): string[] {
    if (output.block !== undefined)
      return Object.keys(blockTypes[output.block]!.arguments)
        .map((argument) => output[argument])
        .filter((value) => typeof value === 'string' && this.#sources.has(value)) as string[];
    try {
      return freeNames(output.expression).flatMap((identifier) => this.namesOf(identifier));
    } catch {
      return [];
    }
  }

  #add(name: string, source: Source, path: string[]): void {
    const idMistake = parameterIdMistake(name);
    if (idMistake !== undefined) this.mistakes.push({ path, message: idMistake });
    const other = this.#sources.get(name);
    if (other !== undefined) {
      const owner = other.output === undefined ? 'an input' : `of output "${other.output}"`;
      this.mistakes.push({ path, message: `expected each name once, "${name}" is also ${owner}` });
      return;
    }
    this.#sources.set(name, source);
    const identifier = name.replace(/[^\w]/gu, '_').replace(/^(?=\d)/, '_');
    const names = this.#namesOfIdentifier.get(identifier);
    if (names === undefined) this.#namesOfIdentifier.set(identifier, [name]);
    else names.push(name);
  }
}

/** Tells which inputs a parameter depends on, directly or through other outputs. */
export function followInputs(settings: CoreSettings): (parameterId: string) => Set<string> {
  let names: Names | undefined;
  return (parameterId) => {
    names ??= new Names(settings, new Map());
    const inputs = new Set<string>();
    const seen = new Set([parameterId]);
    for (const name of seen) {
      const source = names.get(name);
      if (source === undefined) continue;
      if (source.output === undefined) inputs.add(name);
      else for (const read of names.readBy(source.output)) seen.add(read);
    }
    return inputs;
  };
}
