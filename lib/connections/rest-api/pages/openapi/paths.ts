// The paths of the OpenAPI document. The hub answers HEAD wherever GET only reads, so HEAD is not listed.

import { keptEntries, logLevels } from '../../../../model/reports/log-entry.ts';
import { maxListedClients, maxParameters } from '../../../../wire/http/limits.ts';
import {
  about,
  badPath,
  bodyRefusals,
  file,
  fresh,
  inPath,
  inQuery,
  json,
  needsNothing,
  notNow,
  problem,
  ref,
  refusals,
  toSignIn,
  traceHeader,
  updated,
} from './parts.ts';
import { storePaths } from './store-paths.ts';
import { userPaths } from './user-paths.ts';

export const paths = {
  '/parameters/{address}': {
    get: {
      ...about('readParameter', 'parameters', 'The value of a parameter'),
      parameters: [inPath('address', 'Address of the parameter')],
      responses: {
        '200': {
          description: 'The value as text, or as JSON where that is accepted',
          content: { 'text/plain': { schema: { type: 'string' } }, ...json(ref('Value')) },
        },
        '404': problem('There is no such parameter'),
        ...badPath,
        ...refusals,
        '503': notNow('Its state is unknown, or it is a trigger'),
      },
    },
  },
  '/update': {
    get: {
      ...about('updateByGet', 'parameters', 'Sets a parameter, or fires a trigger'),
      parameters: [
        inQuery('parameter', { type: 'string' }, 'Address of the parameter', true),
        inQuery('value', { type: 'string' }, 'The new value', true),
        traceHeader,
      ],
      responses: updated(),
    },
    post: {
      ...about('update', 'parameters', 'Sets a parameter, or fires a trigger'),
      parameters: [traceHeader],
      requestBody: {
        required: true,
        content: { ...json(ref('Update')), 'application/x-www-form-urlencoded': { schema: ref('Update') } },
      },
      responses: { ...updated(), ...bodyRefusals() },
    },
  },
  '/hub': {
    get: {
      ...about('goToHub', 'pages', 'Goes to /hub/'),
      responses: { '302': { description: 'To /hub/, or to /hub/sign-in' }, ...refusals },
    },
  },
  '/hub/': {
    get: {
      ...about('openConsole', 'pages', 'The console; the contents as text where it is switched off or not built'),
      responses: {
        '200': {
          description: 'A page',
          content: { 'text/html': { schema: { type: 'string' } }, 'text/plain': { schema: { type: 'string' } } },
        },
        '302': toSignIn,
        '304': { description: 'The same as what If-None-Match or If-Modified-Since names' },
        ...refusals,
      },
    },
  },
  '/hub/console/{file}': {
    get: {
      ...about('readConsoleFile', 'pages', 'A file of the console'),
      parameters: [inPath('file', 'Path of the file')],
      responses: { ...file(), '404': problem('There is no such file'), ...refusals },
    },
  },
  '/hub/client.js': {
    get: {
      ...about('readClient', 'pages', 'The client library for browsers, a module'),
      responses: { ...file(), '404': problem('It has not been built'), ...refusals },
    },
  },
  '/hub/clients': {
    get: {
      ...about(
        'listClients',
        'operation',
        `The WebSocket clients of this connection, slow ones first, at most ${maxListedClients}`,
      ),
      responses: fresh('Clients'),
    },
  },
  '/hub/hubs': {
    get: {
      ...about('listHubs', 'operation', 'The domain that the hub is in: hubs, who owns what, lag, lease and link'),
      responses: { ...fresh('Domain'), '404': problem('The hub is in no domain') },
    },
  },
  '/hub/connections': {
    get: { ...about('listConnections', 'operation', 'How each connection is doing'), responses: fresh('Connections') },
  },
  '/hub/connections/{id}': {
    post: {
      ...about('controlConnection', 'operation', 'Starts, stops or restarts a connection, until a reload changes it'),
      parameters: [inPath('id', 'Connection ID'), traceHeader],
      requestBody: { required: true, content: json(ref('Control')) },
      responses: {
        '200': { description: 'How it is doing now', content: json(ref('Connection')) },
        '404': problem('There is no such connection'),
        '409': problem('That makes no sense as things are, or stops the connection that was asked by'),
        ...bodyRefusals(),
        ...refusals,
      },
    },
  },
  '/hub/dashboards': {
    get: { ...about('listDashboards', 'operation', 'The names of the dashboards'), responses: fresh('Dashboards') },
  },
  '/hub/dashboards/{name}': {
    get: {
      ...about('readDashboard', 'operation', 'A dashboard, checked, with all that was left out filled in'),
      parameters: [inPath('name', 'Its name')],
      responses: {
        ...fresh('Dashboard'),
        ...badPath,
        '404': problem('There is no such dashboard'),
        '500': problem('The file has mistakes, each told with line and column'),
      },
    },
  },
  '/hub/explain/{address}': {
    get: {
      ...about('explain', 'causes', 'Why a parameter is as it is: its last change and the chain of causes'),
      parameters: [inPath('address', 'Address of the parameter')],
      responses: {
        ...fresh('Explanation'),
        ...badPath,
        '404': problem('There is no such parameter'),
        '503': notNow('Nothing has happened to it yet'),
      },
    },
  },
  '/hub/files': {
    get: {
      ...about('listFiles', 'operation', 'The flow files, and what the last load or reload said of each'),
      responses: fresh('Files'),
    },
  },
  '/hub/health': {
    get: { ...about('readHealth', 'operation', 'How the hub is doing, for monitoring'), responses: fresh('Health') },
  },
  '/hub/health/live': {
    get: {
      ...needsNothing,
      ...about('isLive', 'operation', 'Whether the hub answers, for supervisors'),
      responses: fresh('Probe'),
    },
  },
  '/hub/health/ready': {
    get: {
      ...needsNothing,
      ...about('isReady', 'operation', 'Whether connections run and none has failed, for load balancers'),
      responses: {
        ...fresh('Probe'),
        '503': notNow('A connection has failed, the hub stands by, waits for its lease, or stops'),
      },
    },
  },
  '/hub/log': {
    get: {
      ...about('readLog', 'operation', `The newest ${keptEntries.toLocaleString('en')} entries of the log`),
      parameters: [
        inQuery('after', { type: 'integer', minimum: 0, default: 0 }, 'Only entries after this one: `next` of before'),
        inQuery('level', { enum: logLevels, default: 'debug' }, 'The least level'),
      ],
      responses: { ...fresh('Log'), '400': problem('A query that makes no sense') },
    },
  },
  '/hub/metrics': {
    get: {
      ...about('readMetrics', 'operation', 'Counts and states in the text format of Prometheus'),
      responses: {
        '200': { description: 'Metrics', content: { 'text/plain': { schema: { type: 'string' } } } },
        ...refusals,
      },
    },
  },
  '/hub/openapi.json': {
    get: {
      ...about('readOpenApi', 'operation', 'This document'),
      responses: fresh(undefined),
    },
  },
  '/hub/parameters': {
    get: {
      ...about('listParameters', 'parameters', 'All parameters with state and metadata'),
      parameters: [
        inQuery(
          'address',
          { type: 'array', items: { type: 'string' } },
          'These parameters alone; those that there are not are left out',
        ),
        inQuery(
          'filter',
          { type: 'array', items: { type: 'string' } },
          'RE2 patterns, one of which the address matches',
        ),
        inQuery('limit', { type: 'integer', minimum: 1, maximum: maxParameters }, 'How many at most'),
      ],
      responses: {
        '200': { description: 'The parameters', content: json({ type: 'array', items: ref('Parameter') }) },
        '400': problem('A pattern that is none, or a limit'),
        ...refusals,
      },
    },
  },
  '/hub/rules': {
    get: { ...about('listRules', 'operation', 'How each rule is doing, top to bottom'), responses: fresh('Rules') },
    post: {
      ...about(
        'switchRule',
        'operation',
        'Switches a rule on or off, until it is switched again or its file is another',
      ),
      parameters: [traceHeader],
      requestBody: { required: true, content: json(ref('Switch')) },
      responses: {
        '200': { description: 'How it is doing now', content: json(ref('Rule')) },
        '404': problem('There is no such rule'),
        '409': problem('Several rules have the name'),
        ...bodyRefusals(),
        ...refusals,
      },
    },
  },
  '/hub/record': {
    get: {
      ...about('record', 'operation', 'What comes from outside, line by line, until the client goes'),
      responses: {
        '200': { description: 'A recording', content: { 'application/octet-stream': { schema: { type: 'string' } } } },
        '409': problem('Four clients record already'),
        ...refusals,
      },
    },
  },
  '/hub/reload': {
    post: {
      ...about(
        'reload',
        'operation',
        'Reads the flow files again, and takes over what has changed, or runs it in shadow',
      ),
      parameters: [traceHeader],
      requestBody: { required: true, content: json(ref('Reload')) },
      responses: {
        '200': { description: 'What was swapped, or what runs in shadow', content: json(ref('Reloaded')) },
        '409': problem('There are mistakes, or a connection cannot start: all runs on as it was'),
        ...bodyRefusals(),
        ...refusals,
      },
    },
  },
  '/hub/shadow': {
    get: {
      ...about('readShadow', 'operation', 'What rules in shadow would have done, beside what was done'),
      responses: fresh('Shadow'),
    },
  },
  ...storePaths,
  ...userPaths,
  '/hub/trace': {
    get: {
      ...about('trace', 'causes', 'The last 50 runs of the rules of a name'),
      parameters: [inQuery('rule', { type: 'string' }, 'The name', true)],
      responses: { ...fresh('Traces'), '400': problem('No name, or several'), '404': problem('There is no such rule') },
    },
  },
};
