// A mistake in an expression.

import { HubError } from '../../model/error.ts';

export class ExpressionMistake extends HubError {
  /** Where it is: the offset in the text of the expression. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super('bad-flow', message);
    this.offset = offset;
  }

  /** The same at another place. */
  movedTo(offset: number): ExpressionMistake {
    return offset === this.offset ? this : new ExpressionMistake(this.message, offset);
  }
}
