// SQLite gives a text back up to its first NUL, but bytes as they are: so a text with a NUL is stored as its bytes, in UTF-8.

export function storedText(text: string): string | Uint8Array {
  return text.includes('\0') ? Buffer.from(text) : text;
}

/** What was stored, with the text that bytes stand for. */
export function readStored<Stored>(stored: Stored | Uint8Array): Stored | string {
  return stored instanceof Uint8Array ? Buffer.from(stored).toString() : stored;
}
