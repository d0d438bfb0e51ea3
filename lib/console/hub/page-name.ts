// The name under which this page appears in the list of clients.

export const pageNamePrefix = 'console-';
export const pageName = `${pageNamePrefix}${Math.random().toString(36).slice(2, 10)}`;
