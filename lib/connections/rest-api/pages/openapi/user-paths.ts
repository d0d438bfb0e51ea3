// The paths of users and their devices.

import { about, bodyRefusals, fresh, inPath, json, needsNothing, problem, ref, refusals } from './parts.ts';

function textOf(...types: readonly string[]) {
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
  return { description: 'The page, or what belongs to it', content };
}

export const userPaths = {
  '/hub/me': {
    get: { ...needsNothing, ...about('readMe', 'users', 'Who asks, and what that may do'), responses: fresh('Me') },
  },
  '/hub/sign-in': {
    get: {
      ...needsNothing,
      ...about('readSignIn', 'users', 'The page to sign in, for browsers'),
      responses: { '200': textOf('text/html'), ...refusals },
    },
    post: {
      ...needsNothing,
      ...about('signIn', 'users', 'Lets a browser in by a cookie, for a password or the code of a kiosk link'),
      requestBody: { required: true, content: json(ref('SignIn')) },
      responses: {
        '200': {
          description: 'Who that is',
          headers: { 'Set-Cookie': { schema: { type: 'string' } } },
          content: json(ref('SignedIn')),
        },
        ...bodyRefusals(),
        ...refusals,
      },
    },
  },
  '/hub/sign-in/{file}': {
    get: {
      ...needsNothing,
      ...about('readSignInFile', 'users', 'The script and the style of that page'),
      parameters: [inPath('file', 'Its name')],
      responses: { '200': textOf('text/javascript', 'text/css'), '404': problem('There is no such file'), ...refusals },
    },
  },
  '/hub/sign-out': {
    post: {
      ...needsNothing,
      ...about('signOut', 'users', 'Ends what a cookie is good for'),
      requestBody: { required: true, content: json({ type: 'object' }) },
      responses: {
        '200': { description: 'What somebody without it may do', content: json(ref('Me')) },
        '409': problem('Nobody is signed in by a cookie'),
        ...bodyRefusals(),
        ...refusals,
      },
    },
  },
  '/hub/users': {
    get: {
      ...about('listUsers', 'users', 'Users, the devices that are signed in, and open kiosk links'),
      responses: fresh('Users'),
    },
    post: {
      ...about('actOnUsers', 'users', 'Makes a link that lets a kiosk in, once, or revokes a device or such links'),
      requestBody: { required: true, content: json(ref('UserAction')) },
      responses: {
        '200': { description: 'The devices, the open links, and the new one', content: json(ref('UserActed')) },
        '404': problem('There is no such user, dashboard, device or link'),
        '409': problem('Too many links are open'),
        ...bodyRefusals(),
        ...refusals,
      },
    },
  },
};
