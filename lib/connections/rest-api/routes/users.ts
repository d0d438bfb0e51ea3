// The routes by which people come in and leave, and to who may.

import type { Route } from '../http/router.ts';
import type { Dashboards } from '../pages/dashboards.ts';
import { meOf, signIn, signOut } from '../pages/users/sign-in.ts';
import { serveSignInFile, serveSignInPage, signInPath } from '../pages/users/sign-in-page.ts';
import { actOnUsers, usersOf } from '../pages/users/users.ts';
import { pagesOf } from './handlers.ts';
import type { RouteContext } from './route-context.ts';

export function userRoutes(context: RouteContext, dashboards: Dashboards): Route[] {
  const { entry, log, queue } = context;
  const json = pagesOf(context);
  const office = { entry, log, queue, dashboards };
  return [
    { path: '/hub/me', need: 'nothing', get: json(({ visitor }) => meOf(entry, visitor)) },
    {
      path: signInPath,
      need: 'nothing',
      isUnmetered: true, // whoever guesses from the same address keeps nobody from signing in
      get: serveSignInPage,
      post: (response, request, visitor) => signIn(office, visitor, response, request),
    },
    {
      path: `${signInPath}/*`,
      need: 'nothing',
      isUnmetered: true,
      get: (response, request) => serveSignInFile(response, request.getUrl()),
    },
    {
      path: '/hub/sign-out',
      need: 'nothing',
      post: (response, request, visitor) => signOut(office, visitor, response, request),
    },
    {
      path: '/hub/users',
      need: 'manage',
      get: json(() => usersOf(entry)),
      post: (response, request, visitor) => actOnUsers(office, visitor, response, request),
    },
  ];
}
