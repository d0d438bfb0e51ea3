// What commands print with: lines for people to standard output, complaints to standard error.

export interface Console {
  print(text: string): void;
  printError(text: string): void;
}
