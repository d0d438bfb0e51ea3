// The endpoints for editing flow files: their source text, change sets, and revisions.

import { z } from 'zod';
import { HubError } from '../../../model/error.ts';
import {
  confirmed,
  confirmRequest,
  type EditResult,
  editAnswer,
  editRequest,
  filledRecipe,
  openedSheet,
  otherSheets,
  recipeList,
  recipeRequest,
  revertRequest,
  revisionList,
  separation,
  separationRequest,
  source,
  sourceList,
} from '../../../wire/http/editing-shapes.ts';
import { text } from '../../../wire/http/shape.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { EditAnswer, Editing, EditRights, Rehearsal } from '../../editing.ts';
import type { HubPort } from '../../hub-port.ts';
import { decodePath } from '../input/request-path.ts';
import type { Principal } from '../users/principal.ts';
import { expectPresent } from '../users/view.ts';
import { action, badPath, type Endpoint, ownersOnly, page } from './endpoint.ts';
import { describeShadow } from './flow-files.ts';

const errors = {
  400: 'A name, a path or an edit is not valid',
  403: 'The user may not edit this file, or may not read, write or manage what the edit names; the message gives the location',
  404: 'File or revision not found',
  409: 'The file has been changed in the same place in the meantime, in which case conflicts contains both texts; or the change cannot run',
};

/** Restricts an endpoint on an open hub to programs on the hub's own machine, because an edit can open ports and write files. */
function ownEndpoint(endpoint: Endpoint): Endpoint {
  return { ...endpoint, serve: (context) => ownersOnly(context.settings, endpoint.serve(context)) };
}

export const endpoints = [
  page({
    path: '/hub/sources',
    need: 'edit',
    id: 'listSources',
    tag: 'editing',
    summary: 'The flow files and dashboards that the user may edit',
    answer: sourceList,
    async read({ hub, id, dashboards: { folder } }, { principal }) {
      const rights = rightsOf(principal, id);
      const editing = editingOf(hub);
      const dashboards = folder === undefined ? undefined : await editing.documents(folder, rights);
      return {
        files: [...(await editing.files(rights))],
        ...(dashboards && { dashboards: { ...dashboards, files: [...dashboards.files] } }),
      };
    },
  }),
  page({
    path: '/hub/source/{file}',
    need: 'edit',
    id: 'readSource',
    tag: 'editing',
    summary: 'The text of a flow file or dashboard, with the position of each value',
    names: { file: 'Name of the file, as in /hub/files' },
    answer: source,
    errors: { 400: badPath, 403: errors[403], 404: errors[404], 409: 'The file is too large, or not JSON5' },
    read: ({ hub, id }, { principal }, rest) => editingOf(hub).source(decodePath(rest), rightsOf(principal, id)),
  }),
  action({
    path: '/hub/edit',
    need: 'edit',
    id: 'edit',
    tag: 'editing',
    summary: 'Checks a change set of flow files or dashboards, runs it in shadow, or saves it atomically',
    isTraced: true,
    body: editRequest,
    answer: editAnswer,
    answered: 'Errors, differences, restarts, test results, and the revision if saved',
    errors,
    async act({ hub, id }, { file, base, ops, files, mode, comment = '', renames = [], rehearse }, { by, principal }) {
      const isSingle = file !== undefined && base !== undefined && ops !== undefined;
      if (isSingle === (files !== undefined))
        throw new HubError('bad-request', 'expected `file`, `base` and `ops`, or `files` with a list of such objects');
      const edits = isSingle ? [{ file, base, ops }] : files!;
      const rehearsed = rehearse && { rehearse: { rule: rehearse.rule, recorded: rehearse.recorded ?? [] } };
      const request = { files: edits, mode, comment, renames, ...rehearsed };
      const answer = await editingOf(hub).edit(request, by, rightsOf(principal, id));
      if (mode === 'shadow' || rehearse !== undefined) expectPresent(principal); // the answer contains values
      return describe(answer);
    },
  }),
  action({
    path: '/hub/edit/separate',
    need: 'edit',
    id: 'separateInstance',
    tag: 'editing',
    summary: 'The change set for POST /hub/edit that moves an instance of a template to its own file; changes nothing',
    body: separationRequest,
    answer: separation,
    answered: 'The change set',
    errors: { ...errors, 409: 'A file has the name of the instance, or a file contains a secret' },
    async act({ hub, id }, item, { principal }) {
      const { files, place } = await editingOf(hub).separate(item, rightsOf(principal, id));
      return { files: files.map(({ ops, ...file }) => ({ ...file, ops: [...ops] })), place };
    },
  }),
  action({
    path: '/hub/edit/sheet',
    need: 'edit',
    id: 'openSheet',
    tag: 'editing',
    summary:
      'Shows other editors of the same file that the user has a rule open; expires 90 seconds after the last request',
    body: openedSheet,
    answer: otherSheets,
    answered: 'The rules in the file that other users have open',
    errors: { 403: errors[403], 404: errors[404] },
    async act({ hub, id }, sheet, { by, principal }) {
      const others = await editingOf(hub).noteSheet(sheet, principal.name || by.name, rightsOf(principal, id));
      return { others: others.map(({ since, ...other }) => ({ ...other, since: toIsoTime(since) })) };
    },
  }),
  action({
    path: '/hub/edit/confirm',
    need: 'edit',
    id: 'confirmEdit',
    tag: 'editing',
    summary: 'Keeps a change to a REST API or to users, which is otherwise reverted after 30 seconds',
    body: confirmRequest,
    answer: confirmed,
    answered: 'The change has been kept',
    errors: {
      403: 'The change was made by another user, or over another REST API',
      404: 'No such change is waiting for confirmation',
    },
    act({ hub, id }, { revision }, { principal }) {
      editingOf(hub).confirm(revision, rightsOf(principal, id));
      return { revision };
    },
  }),
  page({
    path: '/hub/revisions',
    need: 'edit',
    id: 'listRevisions',
    tag: 'editing',
    summary: 'The most recently saved change sets, newest first',
    query: z.object({ file: text.optional().describe('Only the change sets of this file') }),
    answer: revisionList,
    errors: { 400: 'The query is not valid' },
    read({ hub, id }, { principal, query }) {
      const file = new URLSearchParams(query).get('file');
      const all = editingOf(hub).revisions(rightsOf(principal, id));
      const meant = file === null ? all : all.filter(({ files }) => files.some((one) => one.file === file));
      return { revisions: meant.map(({ time, ...revision }) => ({ ...revision, time: toIsoTime(time) })) };
    },
  }),
  action({
    path: '/hub/revisions/{revision}/revert',
    need: 'edit',
    id: 'revertRevision',
    tag: 'editing',
    summary: 'Reverts a change set and keeps later changes. Restores text, not values',
    names: { revision: 'Number of the revision' },
    isTraced: true,
    body: revertRequest,
    answer: editAnswer,
    answered: 'The same as for POST /hub/edit',
    errors,
    async act({ hub, id }, { mode = 'save', comment = '' }, { by, principal, rest }) {
      const [, number] = /^(\d{1,9})\/revert$/.exec(rest) ?? [];
      if (number === undefined) throw new HubError('not-found', `${rest}: expected <number>/revert`);
      return describe(await editingOf(hub).revert(Number(number), mode, comment, by, rightsOf(principal, id)));
    },
  }),
  page({
    path: '/hub/recipes',
    need: 'edit',
    id: 'listRecipes',
    tag: 'editing',
    summary: 'The recipes of the cookbook, with the variables to fill',
    answer: recipeList,
    read: async ({ hub }) => ({ recipes: [...(await hub.recipes())] }),
  }),
  action({
    path: '/hub/recipes/{recipe}',
    need: 'edit',
    id: 'fillRecipe',
    tag: 'editing',
    summary: 'The text of a new flow file from a recipe, for POST /hub/edit; changes nothing',
    names: { recipe: 'Name of the recipe, such as tally/two-microphones' },
    body: recipeRequest,
    answer: filledRecipe,
    answered: 'The name and the text of the file',
    errors: { 400: 'The recipe, the name or a variable is not valid' },
    act: ({ hub }, { as, set }, { principal, rest }) =>
      hub.fillRecipe(decodePath(rest), as, set, (address) => principal.view.mayAskFor(address)),
  }),
].map(ownEndpoint);

/** Returns the editor of the hub. Errors: `not-found` if the hub has no editor. */
function editingOf({ editing }: Pick<HubPort, 'editing'>): Editing {
  if (editing !== undefined) return editing;
  throw new HubError('not-found', 'this hub was not started from flow files');
}

function describe({ shadow, rehearsal, probation, ...answer }: EditAnswer): EditResult {
  return {
    ...answer,
    ...(rehearsal && { rehearsal: describeRehearsal(rehearsal) }),
    ...(shadow && { shadow: describeShadow(shadow) }),
    ...(probation && { probation: { until: toIsoTime(probation.until) } }),
  };
}

function describeRehearsal({ runs, ...rehearsal }: Rehearsal): NonNullable<EditResult['rehearsal']> {
  return { ...rehearsal, runs: runs.map(({ time, ...run }) => ({ ...run, time: toIsoTime(time) })) };
}

/**
 * Returns the edit rights of a principal. On an open hub, every admitted client may edit everything. `via` names the REST API connection.
 */
export function rightsOf({ rights, view, name }: Principal, via: string): EditRights {
  return {
    ...{ user: name, via },
    isOwner: rights?.isOwner ?? true,
    mayEdit: (names) => rights?.mayEdit(names) ?? true,
    mayRead: (address) => view.mayAskFor(address),
    mayWrite: (address) => rights?.mayAskToWrite(address) ?? true,
  };
}
