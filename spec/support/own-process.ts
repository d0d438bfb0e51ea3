// A file of specs that imports this shares its process with no other one: it measures what is of the whole process, or changes that.

export {};
