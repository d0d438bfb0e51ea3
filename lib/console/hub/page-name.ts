// The name of this page in the list of clients.

export const pageNamePrefix = 'console-';
export const pageName = `${pageNamePrefix}${Math.random().toString(36).slice(2, 10)}`;
