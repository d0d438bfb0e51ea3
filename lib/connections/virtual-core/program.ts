// Compiles the settings of a virtual core: determines the names that each output reads, checks names, types and cycles, and sorts the
// outputs into evaluation order. All mistakes are reported together.
import {
  compileExpression,
  type Expression,
  ExpressionMistake,
  freeNames,
  isLanguageName,
} from '../../expression/expression.ts';
import { parameterIdMistake } from '../../model/address.ts';
import { formatCycle, sortByDependency } from '../../model/dependency-order.ts';
import { describe, messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { convert, type Value, type ValueType } from '../../model/value.ts';
import type { InputTypes } from '../connection.ts';
import type { SettingMistake } from '../setting.ts';
import { type ArgumentKind, blockTypes } from './blocks/blocks.ts';
import { type Logic, RisingEdge } from './blocks/logic.ts';
import { Cell, Unit } from './core-engine.ts';
import type { BlockOutput, CoreSettings, ExpressionOutput, Output } from './settings.ts';

/** A compiled core without any stored state. It must not be run if it contains mistakes. */
interface Program {
  readonly mistakes: readonly SettingMistake[];
  readonly inputs: ReadonlyMap<string, Cell>;
  /** The outputs of the core as units, in evaluation order. */
  readonly units: readonly Unit[];
}

export function compile(settings: CoreSettings, inputTypes: InputTypes): Program {
  const names = new Names(settings, inputTypes);
  const mistakes = [...names.mistakes];
  const { order, cycles } = sortByDependency(Object.keys(settings.outputs), (name) => names.outputsReadBy(name));
  for (const cycle of cycles)
    mistakes.push({ path: ['outputs', cycle[0]!], message: `expected no cycle, got ${formatCycle(cycle)}` });
  const cells = new Map(names.all().map((name) => [name, new Cell(name, names.get(name)!.type === 'T')]));
  const units = order.flatMap((name, rank) => {
    const output = settings.outputs[name]!;
    const path = ['outputs', name];
    const part = output.block === undefined ? compileExpressionOutput(output, names) : compileBlock(output, names);
    for (const mistake of part.mistakes) mistakes.push({ ...mistake, path: [...path, ...mistake.path] });
    if (part.logic === undefined) return [];
    const reads = part.reads.map((read) => (typeof read === 'string' ? cells.get(read)! : literal(read.value)));
    const gives = parametersOf(name, output).map(({ id }) => cells.get(id)!);
    return [new Unit(name, rank, reads, gives, part.logic)];
  });
  const inputs = new Map(Object.keys(settings.inputs).map((name) => [name, cells.get(name)!]));
  return { mistakes, inputs, units };
}

/** A compiled output. `reads` contains names and literals in the order of the logic's arguments. An output with mistakes has no logic. */
interface Part {
  readonly reads: readonly (string | { readonly value: Value })[];
  readonly logic: Logic | undefined;
  readonly mistakes: readonly SettingMistake[];
}

function literal(value: Value): Cell {
  return new Cell('', false, value);
}

function compileExpressionOutput({ expression, type }: ExpressionOutput, names: Names): Part {
  const path = ['expression'];
  const mistakes: SettingMistake[] = [];
  try {
    const identifiers = freeNames(expression).filter((name) => !isLanguageName(name) || names.namesOf(name).length > 0);
    const reads = identifiers.map((identifier) => {
      const [name, other] = names.namesOf(identifier);
      if (name === undefined)
        mistakes.push({
          path,
          offset: placeOf(identifier, expression),
          unknown: 'name',
          name: identifier,
          known: names.identifiers(),
        });
      else if (other !== undefined)
        mistakes.push({
          path,
          message: `expected an unambiguous name: ${identifier} stands for "${name}" and "${other}"`,
        });
      else if (isLanguageName(identifier))
        mistakes.push({ path, message: `expected a name other than ${identifier}, which is a reserved word` });
      return name ?? '';
    });
    if (mistakes.length > 0) return { reads, logic: undefined, mistakes };
    const types = reads.map((name) => names.get(name)!.type);
    const variables = identifiers.map((identifier, index) => [identifier, types[index] === 'T' ? 'B' : types[index]]);
    const { evaluate: compiled } = compileExpression(expression, Object.fromEntries(variables), type);
    return { reads, logic: createComputation(compiled, identifiers, type), mistakes };
  } catch (error) {
    const offset = error instanceof ExpressionMistake ? error.offset : undefined;
    return { reads: [], logic: undefined, mistakes: [{ path, message: messageOf(error), offset }] };
  }
}

/** Returns the offset of an identifier's first occurrence in an expression, ignoring string literals. */
function placeOf(identifier: string, expression: string): number {
  const tokens = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*/g;
  return [...expression.matchAll(tokens)].find(([token]) => token === identifier)?.index ?? 0;
}

function compileBlock(output: BlockOutput, names: Names): Part {
  const block = blockTypes[output.block]!;
  const mistakes: SettingMistake[] = [];
  const reads = Object.entries(block.arguments).map(([argument, kind]) => {
    const value = meaningOf(output[argument] ?? false, kind, names); // optional arguments default to false
    const mistake = argumentMistake(argument, value, kind, names);
    if (mistake !== undefined) mistakes.push(mistake);
    return typeof value === 'string' ? value : { value };
  });
  return { reads, logic: mistakes.length === 0 ? block.create() : undefined, mistakes };
}

/** Returns the literal or the name that an argument stands for. A string that is not a known name may be a literal, such as a duration. */
function meaningOf(written: Value, { readText }: ArgumentKind, names: Names): Value {
  if (typeof written !== 'string' || names.get(written) !== undefined) return written;
  return readText?.(written) ?? written;
}

function argumentMistake(
  argument: string,
  value: Value,
  { types, expected, isLiteral }: ArgumentKind,
  names: Names,
): SettingMistake | undefined {
  const path = [argument];
  if (typeof value !== 'string')
    return isLiteral(value) ? undefined : { path, message: `expected ${expected}, got ${describe(value)}` };
  const source = names.get(value);
  if (source === undefined) return { path, unknown: 'name', name: value, known: names.all() };
  if (source.type === undefined || types.includes(source.type)) return undefined;
  return { path, message: `expected ${expected}, got "${value}" (${source.type})` };
}

// The logic of a computed output, which evaluates an expression and converts the result to the output's type

/**
 * Creates the logic for an expression, whose identifiers are the arguments. An output of type T fires when the result becomes true. `step`
 * throws if the expression fails or if the result does not fit the type (NaN, infinite). The output then remains unchanged.
 */
function createComputation(expression: Expression, identifiers: readonly string[], type: ValueType): Logic {
  const outputs: Value[] = [false];
  const scope: Record<string, Value> = {};
  const edge = new RisingEdge();
  const memory: Pick<Logic, 'remember' | 'recall'> = {
    remember: () => ({ outputs: [], edges: [edge.wasFalse] }),
    recall: ({ edges }) => {
      edge.wasFalse = edges[0]!;
    },
  };
  return {
    outputs,
    wakeAt: Infinity,
    ...(type === 'T' ? memory : {}),
    step: (values) => {
      for (let index = 0; index < identifiers.length; index++) scope[identifiers[index]!] = values[index]!;
      const result = expression(scope);
      outputs[0] = type === 'T' ? edge.rises(result === true) : convert(type, result);
    },
  };
}

// The names that outputs of a virtual core can read: its inputs, its outputs, and the additional parameters of blocks (`lamp/elapsed`). In
// an expression, a name is written as an identifier: `_` replaces each character that is not a letter, a digit or `_`.

/** The origin of a name: an input, or a parameter of an output. */
interface Source {
  /** The value type; undefined if it is unknown because the input has an invalid address. */
  readonly type: ValueType | undefined;
  readonly output: string | undefined;
}

/** Returns the parameters of an output: first the output itself, then the additional parameters of its block. */
export function parametersOf(name: string, output: Output): ParameterDeclaration[] {
  const types = output.block === undefined ? { '': output.type } : blockTypes[output.block]!.outputs;
  return Object.entries(types).map(([suffix, type]) => ({ id: `${name}${suffix}`, type, access: 'read-only' }));
}

class Names {
  /** The mistakes about malformed or ambiguous names. */
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

  /** Returns the names that an identifier in an expression may stand for. If there are several names, the identifier is ambiguous. */
  namesOf(identifier: string): readonly string[] {
    return this.#namesOfIdentifier.get(identifier) ?? [];
  }

  /** Returns the known names that an output reads, or an empty list if its expression has a syntax error. */
  readBy(outputName: string): readonly string[] {
    let reads = this.#reads.get(outputName);
    if (reads === undefined) {
      reads = this.#findReads(this.#outputs.get(outputName)!);
      this.#reads.set(outputName, reads);
    }
    return reads;
  }

  /** Returns the names of the outputs that an output reads. */
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
      const owner = other.output === undefined ? 'an input' : `output "${other.output}"`;
      this.mistakes.push({ path, message: `expected a unique name: "${name}" already belongs to ${owner}` });
      return;
    }
    this.#sources.set(name, source);
    const identifier = name.replace(/[^\w]/gu, '_').replace(/^(?=\d)/, '_');
    const names = this.#namesOfIdentifier.get(identifier);
    if (names === undefined) this.#namesOfIdentifier.set(identifier, [name]);
    else names.push(name);
  }
}

/** Returns the inputs that a parameter depends on, directly or through other outputs. */
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
