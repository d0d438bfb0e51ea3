/** What is told of a write of which the hub does not know whether it stays: another hub may have taken over without it. */
export const unconfirmed = 'not confirmed, another hub may run it by now; it may have taken effect';
