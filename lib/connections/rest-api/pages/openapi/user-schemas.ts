// The schemas of users and their devices.

import {
  type Device,
  type DeviceList,
  deviceKinds,
  type Grants,
  type KioskLink,
  type Me,
  type SignedIn,
  type SignIn,
  type UserActed,
  type UserAction,
  type UserInfo,
  type UserList,
} from '../../../../wire/http/operation/users.ts';
import { describe, list, object, oneOf, type Properties, type Schema } from './schema.ts';
import { flag, text, texts, time } from './words.ts';

/** What each schema describes. */
export interface DescribedOfUsers {
  readonly Me: Me;
  readonly SignIn: SignIn;
  readonly SignedIn: SignedIn;
  readonly Users: UserList;
  readonly UserAction: UserAction;
  readonly UserActed: UserActed;
}

const grants: Properties<Grants> = {
  read: describe(texts, 'Globs of addresses'),
  write: describe(texts, 'Globs of addresses'),
  dashboards: describe(texts, 'Names of dashboards, or globs of them'),
  manage: flag,
  metrics: flag,
};
const deny = describe(texts, 'Globs of addresses; they win');
const me = { user: describe(text, 'Empty: nobody in particular'), isOpen: flag, maySignIn: flag, ...grants };
const deviceList: Properties<DeviceList> = {
  devices: list(
    object<Device>({ id: text, user: text, kind: oneOf(deviceKinds), name: text, since: time, seen: time }),
  ),
  kioskLinks: describe(
    list(object<KioskLink>({ user: text, name: text, until: time }, { dashboard: text })),
    'Those that nobody has opened yet',
  ),
};

export const userSchemas: { readonly [Name in keyof DescribedOfUsers]: Schema<DescribedOfUsers[Name]> } = {
  Me: object<Me>(me),
  SignIn: object<SignIn>({}, { user: text, password: text, code: describe(text, 'That of a kiosk link, instead') }),
  SignedIn: object<SignedIn>(me, { dashboard: text }),
  Users: object<UserList>({
    users: list(object<UserInfo>({ name: text, ...grants, deny, hasPassword: flag, hasToken: flag })),
    ...deviceList,
  }),
  UserAction: object<UserAction>(
    {
      action: oneOf(['invite', 'revoke']),
      device: describe(text, 'A name; of one that is revoked its ID, or the name in links to it'),
    },
    { user: text, dashboard: text },
  ),
  UserActed: object<UserActed>(deviceList, { link: describe(text, 'To be opened on the device, once, within a day') }),
};
