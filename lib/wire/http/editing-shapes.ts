// The shapes for editing: the contents of flow files, change sets, revisions, the uses of parameters, and the current value of an
// expression.

import { z } from 'zod';
import { reloadAnswer, ruleOutcome, shadowReport } from './operation.ts';
import {
  address,
  count,
  flag,
  named,
  type Shape,
  text,
  texts,
  time,
  value,
  valueOrNull,
  valueType,
  yes,
} from './shape.ts';

/** The maximum number of edits and of files in a request, and the maximum lengths of a comment and of an expression in characters. */
export const maxEdits = 1000;
export const maxEditedFiles = 32;
const maxComment = 1000;
const maxExpression = 10_000; // as in a rule
export const maxRecorded = 100;

const editableFile = {
  file: text,
  canEdit: flag,
  reason: text.describe('Why the file cannot be edited; empty if it can'),
};

/** The response to `GET /hub/sources`: `{"files":[{"file":"flows/studio.json5","canEdit":true,"reason":""}],"dashboards":{…}}`. */
export const sourceList = named(
  'Sources',
  z.strictObject({
    files: z.array(z.strictObject(editableFile)).describe('Flow files and templates'),
    dashboards: z
      .strictObject({
        folder: text.describe('The prefix of dashboard names'),
        canEdit: flag.describe('Whether dashboards can be added'),
        reason: text,
        files: z.array(z.strictObject(editableFile)),
      })
      .optional()
      .describe('The dashboards of this REST API; omitted if none can be edited'),
  }),
);
export type SourceList = Shape<typeof sourceList>;

/** The response to `GET /hub/source/<file>`: `{"file":"…","etag":"…","text":"{ … }","tree":{…},"made":[…],"canEdit":true,"reason":""}`. */
export const source = named(
  'Source',
  z.strictObject({
    ...editableFile,
    etag: text.describe('The base for an edit'),
    text: text.describe('With *** instead of secrets'),
    tree: z
      .custom<object>()
      .meta({ type: 'object' })
      .describe(
        'The values of the text: { path, key, kind, start, end, lead, tail, line, column, value, children }. Offsets count UTF-16 units; lead and tail enclose the comments and the comma of an item',
      )
      .optional(),
    made: z
      .array(z.strictObject({ path: text, by: z.enum(['each', 'instances']), names: texts }))
      .describe('The rules and connections that a template created from an item'),
  }),
);
export type SourceAnswer = Shape<typeof source>;

const op = z
  .strictObject({
    path: z.string({ error: 'a path such as rules[3].map' }).max(1000),
    set: z.unknown().optional(),
    insert: z.unknown().optional(),
    remove: z.literal(true, { error: 'true' }).optional(),
    move: z.string({ error: 'a path such as rules[0]' }).max(1000).optional(),
    text: z.string({ error: 'JSON5 text' }).optional(),
  })
  .refine((one) => ['set', 'insert', 'remove', 'move', 'text'].filter((kind) => kind in one).length === 1, {
    error: 'one of set, insert, remove, move, text',
  })
  .describe(
    'set: the new value; insert: a new item, whose place afterwards is path; remove: true; move: its place afterwards; text: the new value as JSON5 text',
  );
const fileEdit = {
  file: z.string({ error: 'the name of a flow file' }).max(1000),
  base: z.string({ error: 'the etag of a source; empty for a new file' }).max(100),
  ops: z.array(op, { error: 'a list of edits' }).max(maxEdits, { error: `at most ${maxEdits} edits` }),
};
const mode = z.enum(['check', 'shadow', 'save'], { error: 'one of "check", "shadow", "save"' });
const comment = z
  .string({ error: 'text' })
  .max(maxComment, { error: `at most ${maxComment} characters` })
  .optional();

/**
 * The body of `POST /hub/edit`: `{"file":"studio.json5","base":"…","ops":[{"path":"rules[3].map","set":"!value"}],"mode":"check"}`, or
 * `{"files":[…],"mode":"save"}`.
 */
export const editRequest = named(
  'Edit',
  z.strictObject({
    file: fileEdit.file.optional(),
    base: fileEdit.base.optional(),
    ops: fileEdit.ops.optional(),
    files: z
      .array(z.strictObject(fileEdit), { error: 'a list of edited files' })
      .min(1, { error: 'at least one file' })
      .max(maxEditedFiles, { error: `at most ${maxEditedFiles} files` })
      .optional(),
    mode,
    comment: comment.describe('The reason, stored in the audit and with the revision'),
    renames: z
      .array(
        z.strictObject({
          from: z.string({ error: 'an address' }).max(1000).describe('The address that the change set removes'),
          to: z.string({ error: 'an address' }).max(1000).describe('The address that the change set declares'),
        }),
        { error: 'a list of renamed parameters' },
      )
      .max(maxEdits, { error: `at most ${maxEdits} renamed parameters` })
      .optional()
      .describe('The renamed parameters, which keep their values and their history'),
    rehearse: z
      .strictObject({
        rule: z.string({ error: 'the name of a rule' }).max(1000).describe('The current name; empty for a new rule'),
        recorded: z
          .array(
            z.strictObject({
              address: z.string({ error: 'an address' }).max(1000),
              value: z.union([z.number(), z.boolean(), z.string().max(1000)], { error: 'a value' }),
              time: z.number({ error: 'milliseconds since 1970' }).nonnegative(),
            }),
            { error: 'a list of events' },
          )
          .max(maxRecorded, { error: `at most ${maxRecorded} events` })
          .optional()
          .describe('Recorded changes of sources that the current rule does not have'),
      })
      .optional()
      .describe('With check: what the edited rule would have written in the most recent runs of the current rule'),
  }),
);

const rehearsed = z.strictObject({ outcome: ruleOutcome, result: valueOrNull.optional(), error: text.optional() });
const difference = reloadAnswer.shape.swapped.unwrap().shape;

/** The response to `POST /hub/edit`: `{"mode":"save","isSaved":true,"errors":[],"files":[…],"restarts":{…},"tests":{…},"revision":7}`. */
export const editAnswer = named(
  'Edited',
  z.strictObject({
    mode,
    isSaved: flag,
    errors: z
      .array(
        z.strictObject({ file: text, line: count.optional(), column: count.optional(), path: text, message: text }),
      )
      .describe('With errors, nothing is saved, and nothing runs in shadow'),
    warnings: texts,
    files: z.array(
      z.strictObject({
        file: text,
        etag: text.describe('The base for the next edit, after this one is saved'),
        text,
        difference: text.describe('In unified diff format'),
        isMerged: flag.describe('The file had been changed in the meantime, and both changes are kept'),
      }),
    ),
    restarts: z.strictObject({ ...difference, notes: texts }),
    tests: z.strictObject({
      passed: count,
      failed: z.array(z.strictObject({ name: text, place: text, timeline: text })),
      left: count.describe('The number of tests that did not run because the time limit was reached'),
    }),
    rehearsal: z
      .strictObject({
        runs: z.array(
          z.strictObject({
            time,
            source: address.optional(),
            value: value.optional(),
            was: rehearsed.optional(),
            would: rehearsed.optional(),
          }),
        ),
        assumed: z
          .array(address)
          .describe('Parameters whose past values are unknown; their current values are used instead'),
        reason: text.describe('Why runs are missing; empty if none are'),
      })
      .optional(),
    shadow: shadowReport.optional(),
    revision: count.optional(),
    probation: z
      .strictObject({ until: time })
      .describe('When the change is reverted, unless its author confirms it with POST /hub/edit/confirm')
      .optional(),
  }),
);
export type EditResult = Shape<typeof editAnswer>;

/** The body of `POST /hub/edit/separate`: `{"file":"_studio.json5","path":"rules[0]","made":1}`. */
export const separationRequest = named(
  'Separation',
  z.strictObject({
    file: fileEdit.file.describe('The template'),
    path: z.string({ error: 'a path such as rules[0]' }).max(1000),
    made: z.int({ error: 'a number' }).nonnegative().describe('The index of the item in `made` of the source, from 0'),
  }),
);
/**
 * The response to `POST /hub/edit/separate`: `{"files":[{"file":"studios.json5","base":"…","ops":[…]},…],"place":"s2.json5:4:5"}`. The
 * files are then sent to `POST /hub/edit`.
 */
export const separation = named(
  'Separated',
  z.strictObject({
    files: z.array(z.strictObject({ file: text, base: text, ops: z.array(op) })),
    place: text.describe('The position of the item in the new file'),
  }),
);
export type SeparationAnswer = Shape<typeof separation>;

/**
 * The body of `POST /hub/edit/sheet`: `{"file":"studio.json5","rule":"lamp","sheet":"k3x9","isOpen":true}`. The request is repeated every
 * 20 s while the sheet is open.
 */
export const openedSheet = named(
  'OpenedSheet',
  z.strictObject({
    file: fileEdit.file,
    rule: z.string({ error: 'the name of a rule' }).max(1000).describe('Empty: a new rule'),
    sheet: z
      .string({ error: 'text' })
      .min(1)
      .max(40, { error: 'at most 40 characters' })
      .describe('An ID that the page chooses'),
    isOpen: z.boolean({ error: 'true or false' }),
  }),
);
/** The response to `POST /hub/edit/sheet`: `{"others":[{"user":"anna","rule":"lamp","since":"…"}]}`. */
export const otherSheets = named(
  'OtherSheets',
  z.strictObject({ others: z.array(z.strictObject({ user: text, rule: text, since: time })) }),
);
export type OtherSheets = Shape<typeof otherSheets>;

/** The body of `POST /hub/edit/confirm`: `{"revision":7}`. */
export const confirmRequest = named('Confirmation', z.strictObject({ revision: z.int({ error: 'a number' }) }));
export const confirmed = named('Confirmed', z.strictObject({ revision: count }));

/**
 * The response to `GET /hub/revisions`: `{"revisions":[{"revision":7,"time":"…","user":"api desk 10.0.0.7","comment":"","files":[…]}]}`,
 * newest first.
 */
export const revisionList = named(
  'Revisions',
  z.strictObject({
    revisions: z.array(
      z.strictObject({
        revision: count,
        time,
        user: text,
        comment: text,
        files: z.array(z.strictObject({ file: text, difference: text })),
      }),
    ),
  }),
);
export type RevisionList = Shape<typeof revisionList>;

/** The body of `POST /hub/revisions/7/revert`: `{"mode":"check"}` for a preview, or `{}`. */
export const revertRequest = named('Revert', z.strictObject({ mode: mode.optional(), comment }));

/**
 * The response to `GET /hub/recipes`:
 * `{"recipes":[{"name":"tally/two-microphones","about":[…],"variables":[{"name":"mic1","usual":"desk/mic1",…}]}]}`.
 */
export const recipeList = named(
  'Recipes',
  z.strictObject({
    recipes: z.array(
      z.strictObject({
        name: text,
        about: texts.describe('The purpose'),
        variables: z.array(
          z.strictObject({
            name: text,
            about: text,
            usual: text.describe('The value in the cookbook'),
            isAddress: z.exactOptional(yes),
            type: z.exactOptional(valueType),
          }),
        ),
      }),
    ),
  }),
);
export type RecipeList = Shape<typeof recipeList>;

/** The body of `POST /hub/recipes/tally/two-microphones`: `{"as":"tally-1","set":{"mic1":"desk/mic/1/on"}}`. */
export const recipeRequest = named(
  'RecipeFilling',
  z.strictObject({
    as: z.string({ error: 'a name of a-z, 0-9 and -' }).max(100),
    set: z.record(z.string().max(100), z.string({ error: 'text' }).max(1000)),
  }),
);
/** The response to `POST /hub/recipes/<name>`: `{"file":"tally-1.json5","text":"…"}`, a new file for `POST /hub/edit`. */
export const filledRecipe = named('FilledRecipe', z.strictObject({ file: text, text }));
export type FilledRecipe = Shape<typeof filledRecipe>;

const addressText = z.string({ error: 'an address' }).max(1000);

/** The body of `POST /hub/evaluate`: `{"expression":"a && b > 0.5","from":{"a":"desk/mic","b":"desk/level"}}`. */
export const evaluation = named(
  'Evaluation',
  z.strictObject({
    expression: z
      .string({ error: 'an expression' })
      .max(maxExpression, { error: `at most ${maxExpression} characters` }),
    from: z
      .union([addressText, z.array(addressText).max(256), z.record(z.string().max(100), addressText)], {
        error: 'an address, a list of addresses, or an object of addresses by name',
      })
      .optional(),
  }),
);

/** The response to `POST /hub/evaluate`: `{"value":true,"type":"B","reason":""}`. */
export const evaluated = named(
  'Evaluated',
  z.strictObject({
    value: valueOrNull.describe('null: the expression currently has no value'),
    type: valueType.optional(),
    reason: text.describe('Why the expression has no value; empty if it has one'),
  }),
);
export type Evaluated = Shape<typeof evaluated>;

/**
 * The response to `GET /hub/usages?address=desk/lamp`:
 * `{"address":"desk/lamp","rules":[…],"connections":[…],"dashboards":["studio"],"tests":[…]}`.
 */
export const usages = named(
  'Usages',
  z.strictObject({
    address,
    rules: z.array(
      z.strictObject({ name: text, file: text, place: text, as: z.array(z.enum(['from', 'to', 'reads'])) }),
    ),
    connections: z
      .array(
        z.strictObject({
          id: text,
          type: text,
          as: texts.describe('The names of the inputs; for a store: history, snapshot <name>'),
        }),
      )
      .describe('Connections that read the parameter, such as alarms and logic, and stores that record its history'),
    dashboards: texts,
    tests: z.array(z.strictObject({ name: text, file: text, place: text })),
  }),
);
export type Usages = Shape<typeof usages>;
