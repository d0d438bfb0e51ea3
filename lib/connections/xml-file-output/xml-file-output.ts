// The connection type `xml-file-output`: writes a file from a template whenever one of the template's placeholders is set (S-14, D-09).
import { defer, EMPTY, merge, NEVER, type Observable, of, type SchedulerLike, timer } from 'rxjs';
import {
  catchError,
  concatMap,
  exhaustMap,
  finalize,
  ignoreElements,
  map,
  repeat,
  startWith,
  tap,
} from 'rxjs/operators';
import { z } from 'zod';
import { asFileError, readRegularFileSync } from '../../files/regular-file.ts';
import { HubError, messageOf } from '../../model/error.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { Backoff } from '../../model/time/backoff.ts';
import type { Value } from '../../model/value.ts';
import { claimFile } from '../claim.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType } from '../connection.ts';
import type { ResolvePath } from '../setting.ts';
import { sourceOfBytes, sourceOfText } from './encoding.ts';
import { leftoverAgeMs, reasonOf, removeLeftovers, replaceFile } from './replace-file.ts';
import { fillTemplate, isPlaceholderName, maxTemplateLength, parseTemplate, type Template } from './xml-template.ts';

const pathSetting = z.string({ error: 'the path of a file' }).min(1, { error: 'the path of a file' });

const settingsSchema = z
  .strictObject({
    filename: pathSetting.describe("The file to write; relative to the flow file's folder"),
    template: z
      .string({ error: 'an XML document with placeholders $Name' })
      .max(maxTemplateLength, { error: `an XML document of at most ${maxTemplateLength} characters` })
      .optional()
      .describe('The XML document; $Name in text, CDATA and attribute values is replaced; &#36; writes a literal $'),
    templateFile: pathSetting
      .optional()
      .describe("Instead of template: a file that contains the template; relative to the flow file's folder"),
  })
  .refine(({ template, templateFile }) => (template === undefined) !== (templateFile === undefined), {
    error: 'expected exactly one of `template` and `templateFile`',
  })
  .meta({ oneOf: [{ required: ['template'] }, { required: ['templateFile'] }] });
type XmlSettings = z.output<typeof settingsSchema>;

export const xmlFileOutput = defineConnectionType({
  type: 'xml-file-output',
  isExternal: true,
  isKept: true,
  settingsSchema,
  parameters: (settings, resolvePath) => readTemplateIfAny(settings, resolvePath)?.names.map(declare) ?? [],
  presume: (settings, parameterId, resolvePath) =>
    readTemplateIfAny(settings, resolvePath) === undefined && isPlaceholderName(parameterId)
      ? declare(parameterId)
      : undefined,
  files: ({ templateFile }, resolvePath) => (templateFile === undefined ? [] : [resolvePath(templateFile)]),
  claims: ({ filename }, resolvePath) => claimFile(resolvePath(filename)),
  run: (context) =>
    defer(() => {
      const { resolvePath, scheduler, finish } = context;
      const template = readTemplate(context.settings, resolvePath);
      const path = resolvePath(context.settings.filename);
      const values = new Map(context.restored as ReadonlyMap<string, string>);
      let isSet = false;
      const sets = template.names.map((name) =>
        inboxOf(context, name).pipe(
          tap((value) => {
            values.set(name, value as string);
            isSet = true;
          }),
        ),
      );
      const save = async () => {
        if (!isSet)
          await removeLeftovers(path); // the file already contains the restored values
        else await replaceFile(path, template.encoding.encode(fillTemplate(template, values)));
      };
      const sweep$ = timer(leftoverAgeMs, scheduler).pipe(
        concatMap(() => removeLeftovers(path)), // a crash just before this start may have left files that were still too new
        catchError(() => EMPTY),
        ignoreElements(),
      );
      return merge(keepSaved(merge(NEVER, ...sets), { save, scheduler, finish }), sweep$);
    }),
});

function declare(id: string): ParameterDeclaration {
  return { id, type: 'S', access: 'write-only' };
}

/** Reads and parses the template of a connection. Errors: `cannot-start`, which names the path, or the line and column. */
function readTemplate({ template, templateFile }: XmlSettings, resolvePath: ResolvePath): Template {
  if (template !== undefined) return parseTemplate(sourceOfText('template', template));
  const path = resolvePath(templateFile as string);
  return parseTemplate(sourceOfBytes(path, readTemplateFile(path)));
}

/**
 * Reads and parses the template of a connection. Returns undefined if this fails, because an invalid template must not prevent the hub from
 * loading. The connection reports the error when it starts.
 */
function readTemplateIfAny(settings: XmlSettings, resolvePath: ResolvePath): Template | undefined {
  try {
    return readTemplate(settings, resolvePath);
  } catch {
    return undefined;
  }
}

function readTemplateFile(path: string): Buffer {
  try {
    return readRegularFileSync(path, maxTemplateLength);
  } catch (error) {
    const { message, cause } = asFileError(error);
    const expected = `expected ${path} to be a file of at most ${maxTemplateLength} bytes, got ${message}`;
    const reason = cause === undefined ? expected : `cannot read ${path}: ${reasonOf(cause)}`;
    throw new HubError('cannot-start', `templateFile: ${reason}`, { cause: error });
  }
}

/**
 * Returns an Observable of the values written to a placeholder. Errors: `cannot-start` if the placeholder was added after the flow file was
 * loaded.
 */
function inboxOf({ inbox }: ConnectionContext<XmlSettings>, name: string): Observable<Value> {
  try {
    return inbox(name);
  } catch (error) {
    const message = `the template contains $${name}, which was added after the flow file was loaded: reload the flow file`;
    throw new HubError('cannot-start', message, { cause: error });
  }
}

// Keeps the file up to date with the latest state. Only one save is in progress at a time. Further requests are combined into one save, and
// a failed save is repeated until it succeeds.

const backoffTimes = { firstMs: 500, longestMs: 5000 };

interface KeepSavedOptions {
  /** Saves the latest state to the file. */
  save(): Promise<void>;
  readonly scheduler: SchedulerLike;
  /** Called on unsubscribe with a promise for the save in progress and for a further save if the latest state has not been saved. */
  finish(work: Promise<unknown>): void;
}

/** Calls `save` at startup and after each change. Emits the connection's state after each attempt. Cold, never errors. */
export function keepSaved(changes$: Observable<unknown>, options: KeepSavedOptions): Observable<ConnectionEvent> {
  const { save, scheduler, finish } = options;
  return defer(() => {
    let isStale = false;
    const backoff = new Backoff(backoffTimes);
    let pauseMs = 0;
    let saving = Promise.resolve();
    const save$ = defer(() => {
      isStale = false;
      saving = save();
      return saving;
    }).pipe(
      map((): ConnectionEvent => {
        backoff.reset();
        pauseMs = 0;
        return { state: 'running' };
      }),
      catchError((error) => {
        pauseMs = backoff.next();
        isStale = true;
        return of<ConnectionEvent>({ state: 'degraded', reason: messageOf(error) });
      }),
      repeat({ delay: () => (isStale ? after(pauseMs, scheduler) : EMPTY) }),
    );
    const saveLast = () => (isStale ? save() : undefined);
    return changes$.pipe(
      startWith(undefined),
      tap(() => {
        isStale = true;
      }),
      exhaustMap(() => save$),
      finalize(() => finish(saving.then(saveLast, save))),
    );
  });
}

/** Emits once after a pause of `pauseMs` milliseconds, or immediately if `pauseMs` is 0. */
function after(pauseMs: number, scheduler: SchedulerLike): Observable<unknown> {
  return pauseMs === 0 ? of(undefined) : timer(pauseMs, scheduler);
}
