// `{"ping":1}` is answered with `{"pong":1}`.

import { z } from 'zod';
import { parse } from '../../../input/parse.ts';
import { encode } from '../frames.ts';
import type { Handler } from './handler.ts';

const schema = z.strictObject({ ping: z.number({ error: 'number' }) });

export const handlePing: Handler = (_, client, message) => {
  client.send(encode({ pong: parse(schema, message).ping }));
  return undefined;
};
