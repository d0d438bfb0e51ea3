// Who may come in, who is here, and how somebody signs in.
import { z } from 'zod';
import { flag, named, type Shape, text, texts, time } from './shape.ts';

/** What somebody may do. */
const grants = {
  read: texts.describe('Globs of addresses'),
  write: texts.describe('Globs of addresses'),
  dashboards: texts.describe('Names of dashboards, or globs of them'),
  manage: flag,
  metrics: flag,
};

/** `GET /hub/me` answers with `{"user":"desk2","isOpen":false,"maySignIn":true,"read":["s2/**"],…}`. */
export const me = named(
  'Me',
  z.strictObject({
    user: text.describe('Empty: nobody in particular'),
    /** Whether the hub wants no credentials, and lets everybody do everything. */
    isOpen: flag,
    /** Whether there are users, so that the page to sign in is of use. */
    maySignIn: flag,
    ...grants,
  }),
);
export type Me = Shape<typeof me>;

/** What waits to be compared is kept, so it may not be longer than what a header can have. */
const longestText = 4096;
const short = (what: string) => {
  const error = `${what} of at most ${longestText} characters`;
  return z.string({ error }).max(longestText, { error });
};

/** `POST /hub/sign-in` takes `{"user":"desk2","password":"…"}`, or the code of a kiosk link, `{"code":"…"}`. */
export const signIn = named(
  'SignIn',
  z.strictObject({
    user: short('the name of a user').optional(),
    password: short('a password').optional(),
    code: short('the code of a link').describe('That of a kiosk link, instead').optional(),
  }),
);

export type SignIn = Shape<typeof signIn>;

/** It answers with who that is, and where a kiosk goes on: the name of a dashboard. */
export const signedIn = named('SignedIn', me.extend({ dashboard: text.optional() }));
export type SignedIn = Shape<typeof signedIn>;

/** A browser is signed out when it has not come for 30 days; a kiosk stays until it is revoked. */
export const deviceKind = z.enum(['browser', 'kiosk']);
export type DeviceKind = z.output<typeof deviceKind>;

/** `{"id":"…","user":"door-2","kind":"kiosk","name":"Reception","since":"2026-…","seen":"2026-…"}`. */
const device = z.strictObject({
  id: text,
  user: text,
  kind: deviceKind,
  /** What it was called when it was invited; of a browser what it calls itself. */
  name: text,
  since: time,
  /** When it came last, to the hour. */
  seen: time,
});
export type Device = Shape<typeof device>;

/** `{"user":"door-2","name":"Reception","dashboard":"door","until":"2026-…"}`: what a link is for, never its code. */
const kioskLink = z.strictObject({ user: text, name: text, dashboard: text.optional(), until: time });
export type KioskLink = Shape<typeof kioskLink>;

/** The devices that have come in, and links to those that may. */
const deviceList = z.strictObject({
  devices: z.array(device),
  kioskLinks: z.array(kioskLink).describe('Those that nobody has opened yet'),
});
export type DeviceList = Shape<typeof deviceList>;

/** Only those who manage are told. */
const userInfo = z.strictObject({
  name: text,
  ...grants,
  deny: texts.describe('Globs of addresses; they win'),
  hasPassword: flag,
  hasToken: flag,
});
export type UserInfo = Shape<typeof userInfo>;

/** `GET /hub/users` answers with `{"users":[…],"devices":[…],"kioskLinks":[…]}`. */
export const userList = named('Users', deviceList.extend({ users: z.array(userInfo) }));
export type UserList = Shape<typeof userList>;

const nameExpected = 'the name of a device; of one that is revoked its ID, or the name in links to it';

/** `POST /hub/users` takes `{"action":"invite","user":"door-2","device":"Reception","dashboard":"door"}`, or `{"action":"revoke","device":"<id>"}`. */
export const userAction = named(
  'UserAction',
  z.strictObject({
    action: z.enum(['invite', 'revoke'], { error: 'one of "invite", "revoke"' }),
    /** Of an invitation. */
    user: z.string({ error: 'the name of a user' }).optional(),
    device: z
      .string({ error: nameExpected })
      .min(1, { error: nameExpected })
      .describe('A name; of one that is revoked its ID, or the name in links to it'),
    dashboard: z.string({ error: 'the name of a dashboard' }).optional(),
  }),
);
export type UserAction = Shape<typeof userAction>;

/** It answers with the link of an invitation, which is good once, for a day, and with the devices and links that there are now. */
export const userActed = named(
  'UserActed',
  deviceList.extend({ link: text.describe('To be opened on the device, once, within a day').optional() }),
);
export type UserActed = Shape<typeof userActed>;
