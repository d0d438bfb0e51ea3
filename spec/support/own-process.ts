// A file of specs that imports this has a process of its own: it measures what all in the process add to, such as memory, or changes
// what all of them see, such as the time zone.

export {};
