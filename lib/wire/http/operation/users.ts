// Who may come in, who is here, and how somebody signs in.

import type { IsoTime } from '../../time.ts';

/** What somebody may do: globs of addresses, and names of dashboards or globs of them. */
export interface Grants {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly dashboards: readonly string[];
  readonly manage: boolean;
  readonly metrics: boolean;
}

/** `GET /hub/me` answers with `{"user":"desk2","isOpen":false,"maySignIn":true,"read":["s2/**"],…}`. */
export interface Me extends Grants {
  /** Empty: nobody in particular. */
  readonly user: string;
  /** Whether the hub wants no credentials, and lets everybody do everything. */
  readonly isOpen: boolean;
  /** Whether there are users, so that the page to sign in is of use. */
  readonly maySignIn: boolean;
}

/** `POST /hub/sign-in` takes `{"user":"desk2","password":"…"}`, or the code of a kiosk link, `{"code":"…"}`. */
export interface SignIn {
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly code?: string | undefined;
}

/** It answers with who that is, and where a kiosk goes on: the name of a dashboard. */
export interface SignedIn extends Me {
  readonly dashboard?: string | undefined;
}

/** The devices that have come in, and links to those that may. */
export interface DeviceList {
  /** Browsers that somebody has signed in with, and kiosks. */
  readonly devices: readonly Device[];
  /** Those that nobody has opened yet. */
  readonly kioskLinks: readonly KioskLink[];
}

/** `GET /hub/users` answers with `{"users":[…],"devices":[…],"kioskLinks":[…]}`. */
export interface UserList extends DeviceList {
  readonly users: readonly UserInfo[];
}

export interface UserInfo extends Grants {
  readonly name: string;
  /** Globs of addresses that it may neither read nor write. Only those who manage are told. */
  readonly deny: readonly string[];
  readonly hasPassword: boolean;
  readonly hasToken: boolean;
}

/** `{"id":"…","user":"door-2","kind":"kiosk","name":"Reception","since":"2026-…","seen":"2026-…"}`. */
export interface Device {
  readonly id: string;
  readonly user: string;
  readonly kind: DeviceKind;
  /** What it was called when it was invited; of a browser what it calls itself. */
  readonly name: string;
  readonly since: IsoTime;
  /** When it came last, to the hour. */
  readonly seen: IsoTime;
}

/** A browser is signed out when it has not come for 30 days; a kiosk stays until it is revoked. */
export const deviceKinds = ['browser', 'kiosk'] as const;
export type DeviceKind = (typeof deviceKinds)[number];

/** `{"user":"door-2","name":"Reception","dashboard":"door","until":"2026-…"}`: what a link is for, never its code. */
export interface KioskLink {
  readonly user: string;
  /** What the device will be called. */
  readonly name: string;
  readonly dashboard?: string | undefined;
  /** When it is good for nothing any more. */
  readonly until: IsoTime;
}

/** `POST /hub/users` takes `{"action":"invite","user":"door-2","device":"Reception","dashboard":"door"}`, or `{"action":"revoke","device":"<id>"}`. */
export interface UserAction {
  readonly action: 'invite' | 'revoke';
  /** Of an invitation. */
  readonly user?: string | undefined;
  /** The name of a device that is invited; the ID of one that is revoked, or the name that links to it have. */
  readonly device: string;
  readonly dashboard?: string | undefined;
}

/** It answers with the link of an invitation, which is good once, for a day, and with the devices and links that there are now. */
export interface UserActed extends DeviceList {
  /** `/hub/sign-in#…`, to be opened on the device. */
  readonly link?: string | undefined;
}
