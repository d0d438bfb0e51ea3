// A second process that reads a file as fast as it can, until it reads the last one: node reading-process.ts <file> <last>.
// Prints a line for each file unlike the one before, and then {"reads":5000,"distinct":300,"broken":["why"]}.

import { readFileSync } from 'node:fs';
import { readXml } from './saxes.ts';

const [path, last] = process.argv.slice(2) as [string, string];
const deadline = Date.now() + 60_000;
const broken: string[] = [];
let reads = 0;
let distinct = 0;
let before = '';
while (Date.now() < deadline && broken.length < 3) {
  const text = readFileSync(path, 'utf8');
  reads++;
  if (text === before) continue;
  before = text;
  distinct++;
  console.log('another file');
  try {
    if (readXml(text).includes(`@last=${last}`)) break;
  } catch (error) {
    broken.push(`${error} in a file of ${text.length} characters`);
  }
}
console.log(JSON.stringify({ reads, distinct, broken }));
