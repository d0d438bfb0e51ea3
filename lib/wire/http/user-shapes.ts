// The shapes for users and their rights, for devices, and for signing in.
import { z } from 'zod';
import { flag, named, type Shape, text, texts, time } from './shape.ts';

/** The rights of a user, as in the setting `users`. */
const grants = {
  read: texts.describe('Globs for addresses'),
  write: texts.describe('Globs for addresses'),
  dashboards: texts.describe('Names of dashboards, or globs for names'),
  edit: texts.describe('Names of flow files, or globs for names'),
  manage: flag,
  metrics: flag,
};

/** The response to `GET /hub/me`: `{"user":"desk2","isOpen":false,"maySignIn":true,"read":["s2/**"],…}`. */
export const me = named(
  'Me',
  z.strictObject({
    user: text.describe('Empty for a client without a user'),
    /** Whether the hub requires no credentials and every client may do everything. */
    isOpen: flag,
    /** Whether there are users, so that a sign-in page makes sense. */
    maySignIn: flag,
    kiosk: text.describe('The dashboard that the console shows alone on this kiosk; omitted: all views').optional(),
    ...grants,
  }),
);
export type Me = Shape<typeof me>;

/**
 * The maximum length of credentials, in characters. Credentials wait in memory until they are compared, so they must not be longer than a
 * header.
 */
const longestText = 4096;
const short = (what: string) => {
  const error = `${what} of at most ${longestText} characters`;
  return z.string({ error }).max(longestText, { error });
};

/** The body of `POST /hub/sign-in`: `{"user":"desk2","password":"…"}`, or the code of a kiosk link, `{"code":"…"}`. */
export const signIn = named(
  'SignIn',
  z.strictObject({
    user: short('the name of a user').optional(),
    password: short('a password').optional(),
    code: short('the code of a link').describe('The code of a kiosk link, instead of user and password').optional(),
  }),
);

export type SignIn = Shape<typeof signIn>;

/** The response to `POST /hub/sign-in`: the user and, for a kiosk, the name of its dashboard. */
export const signedIn = named('SignedIn', me.extend({ dashboard: text.optional() }));
export type SignedIn = Shape<typeof signedIn>;

/** The kind of a device. A browser is signed out after 30 days without a request; a kiosk stays signed in until it is revoked. */
export const deviceKind = z.enum(['browser', 'kiosk']);
export type DeviceKind = z.output<typeof deviceKind>;

/** A signed-in device: `{"id":"…","user":"door-2","kind":"kiosk","name":"Reception","since":"2026-…","seen":"2026-…"}`. */
const device = z.strictObject({
  id: text,
  user: text,
  kind: deviceKind,
  /** The name of the device from the invitation or, for a browser, the name that the browser reports. */
  name: text,
  since: time,
  /** The time at which the device last sent a request, rounded to the hour. */
  seen: time,
});
export type Device = Shape<typeof device>;

/** An unopened link for a kiosk, without the code: `{"user":"door-2","name":"Reception","dashboard":"door","until":"2026-…"}`. */
const kioskLink = z.strictObject({ user: text, name: text, dashboard: text.optional(), until: time });
export type KioskLink = Shape<typeof kioskLink>;

/** The devices that have signed in, and the unopened links for further devices. */
const deviceList = z.strictObject({
  devices: z.array(device),
  kioskLinks: z.array(kioskLink).describe('The links that nobody has opened yet'),
});
export type DeviceList = Shape<typeof deviceList>;

/** A user, as sent only to users with the `manage` right. */
const userInfo = z.strictObject({
  name: text,
  ...grants,
  deny: texts.describe('Globs for addresses, which take precedence'),
  hasPassword: flag,
  hasToken: flag,
});
export type UserInfo = Shape<typeof userInfo>;

/** The response to `GET /hub/users`: `{"users":[…],"devices":[…],"kioskLinks":[…]}`. */
export const userList = named('Users', deviceList.extend({ users: z.array(userInfo) }));
export type UserList = Shape<typeof userList>;

const nameExpected = 'the name of a device; to revoke one, its ID, or the name in links to it';

/**
 * The body of `POST /hub/users`: `{"action":"invite","user":"door-2","device":"Reception","dashboard":"door"}`, or
 * `{"action":"revoke","device":"<id>"}`.
 */
export const userAction = named(
  'UserAction',
  z.strictObject({
    action: z.enum(['invite', 'revoke'], { error: 'one of "invite", "revoke"' }),
    /** The name of the user to invite. */
    user: z.string({ error: 'the name of a user' }).optional(),
    device: z
      .string({ error: nameExpected })
      .min(1, { error: nameExpected })
      .describe('A name; to revoke: the ID of a device, or the name of unopened links'),
    dashboard: z.string({ error: 'the name of a dashboard' }).optional(),
  }),
);
export type UserAction = Shape<typeof userAction>;

/** The response to `POST /hub/users`: the link for an invitation, which works once within 24 hours, and the current devices and links. */
export const userActed = named(
  'UserActed',
  deviceList.extend({ link: text.describe('Open it on the device, once, within 24 hours').optional() }),
);
export type UserActed = Shape<typeof userActed>;
