// A spot in a flow file that is checked: mistakes are told with the place that they are at.

import type { z } from 'zod';
import type { MistakeList, SettingPath } from '../../json5/mistake.ts';
import { messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import type { FlowFile } from '../files/flow-file.ts';

export class Spot {
  readonly file: FlowFile;
  readonly #path: SettingPath;
  readonly #mistakes: MistakeList;

  constructor(file: FlowFile, mistakes: MistakeList, path: SettingPath = []) {
    this.file = file;
    this.#path = path;
    this.#mistakes = mistakes;
  }

  /** A spot within this one: `at('rules', 2)`. */
  at(...path: SettingPath): Spot {
    return new Spot(this.file, this.#mistakes, [...this.#path, ...path]);
  }

  /** Adds a mistake. */
  add(message: string): void {
    this.#mistakes.add(this.file, this.#path, message);
  }

  /** What comes of work, or undefined after its error was added as a mistake. */
  attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.add(messageOf(error));
      return undefined;
    }
  }

  /** Checks data against a schema and adds each mistake; what it returns is told at `MistakeList.parse`. */
  parse<Schema extends z.ZodType>(schema: Schema, data: unknown, isLenient = false): z.output<Schema> | undefined {
    return this.#mistakes.parse(schema, data, this.file, this.#path, isLenient);
  }

  /** Finds `demo.json5:7:20` when it is asked, since that means to read the text again. */
  get place(): () => string {
    const { file } = this;
    const path = this.#path;
    return () => {
      const position = file.positionOf(path);
      return position === undefined ? file.name : `${file.name}:${position.line}:${position.column}`;
    };
  }
}

/** Finds the declaration of an address that stands at a spot, or undefined after it has added the mistake. */
export type FindDeclaration = (spot: Spot, address: string) => ParameterDeclaration | undefined;
