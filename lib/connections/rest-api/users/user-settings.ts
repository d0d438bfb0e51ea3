// The settings `users` and `anonymous`: the users of the hub, and the rights of each user.

import { z } from 'zod';
import { describe } from '../../../model/error.ts';
import { record } from '../../../model/record-schema.ts';
import { readPasswordText } from './passwords.ts';

const addressGlob = z
  .string({ error: 'a glob of addresses such as "s2/**"' })
  .refine((glob) => glob.includes('**') || /^[^/].*\/.*[^/]$/.test(glob), {
    error: ({ input }) =>
      `expected a glob of addresses such as "s2/**", got ${describe(input)}, which matches no address`,
  });
const globs = (about: string) => z.array(addressGlob).default([]).describe(`Globs for addresses: ${about}`);

const passwordText = z.string().superRefine((text, context) => {
  const mistake = readPasswordText(text).mistake;
  if (mistake !== undefined) context.addIssue(mistake);
});

const rightSettings = {
  read: globs('parameters that the user may read; default: none'),
  write: globs('parameters that the user may write; default: none'),
  deny: globs('parameters that the user may neither read nor write, regardless of read and write'),
  dashboards: z
    .array(z.string().min(1, { error: 'the name of a dashboard, or a glob of names such as "door*"' }))
    .default([])
    .describe('Names of dashboards, or globs of names, that the user may open; default: none'),
};

const userSettings = z
  .strictObject({
    password: passwordText
      .optional()
      .describe('Password for HTTP Basic and the sign-in page: the output of "patchbay password"; default: none'),
    token: z
      .string()
      .regex(/^[\x21-\x7e]+$/, { error: 'a token of printable characters without spaces' })
      .optional()
      .describe('Text that clients send after "Bearer "; default: none'),
    ...rightSettings,
    edit: z
      .array(z.string().min(1, { error: 'the name of a flow file, or a glob of names such as "studios/**"' }))
      .default([])
      .describe(
        'Names of flow files, or globs of names, that the user may edit in the browser; not included in manage',
      ),
    manage: z
      .boolean()
      .default(false)
      .describe('true: may switch rules and connections, and see the log, the audit, clients and users'),
    metrics: z.boolean().default(false).describe('true: may read /hub/metrics; included in manage'),
  })
  .superRefine(({ manage, read, deny }, context) => {
    if (!manage || (read.includes('**') && deny.length === 0)) return;
    const got = deny.length > 0 ? `deny: ${JSON.stringify(deny)}` : `read: ${JSON.stringify(read)}`;
    context.addIssue({
      code: 'custom',
      path: ['manage'],
      message: `expected read: ["**"] and no deny, because rules, log and audit show all parameters, got ${got}`,
    });
  });

/** The schema of a username, which also appears in page addresses, in the log and in the audit. */
const userName = z.string().refine((name) => /^[\p{L}\p{N}._@-]{1,64}$/u.test(name), {
  error: ({ input }) => `expected a name of 1 to 64 letters, digits and . _ @ -, got ${describe(input)}`,
});

export const usersSetting = record(userName, userSettings)
  .default({})
  .describe('Users by name, each with its rights; with at least one user, everything that is not granted is denied');

export const anonymousSetting = z
  .strictObject(rightSettings)
  .optional()
  .describe('The rights of clients without credentials once users are defined; default: the hub refuses such clients');

export type UserSettings = z.output<typeof userSettings>;
export type RightSettings = Pick<UserSettings, 'read' | 'write' | 'deny' | 'dashboards'>;
