// Escapes values so that a parser reads back what was set, whatever it was (XML 1.0 sections 2.2, 2.4, 2.7, 2.11 and 3.3.3). Each
// context is ended by other characters, and a parser changes other white space in it.

/** Where a placeholder stands: in text, in a CDATA section, or in an attribute value between these quotes. */
export type Context = 'text' | 'cdata' | '"' | "'";

/** The characters that XML 1.0 cannot carry, not even as references; lone surrogates are among them. */
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

const special = { text: /[&<>\r]/g, '"': /[&<>"\t\n\r]/g, "'": /[&<>'\t\n\r]/g };
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Stands for a carriage return in CDATA until the section is whole; neither templates nor values can hold it. */
const returnMark = '\0';

/** Escapes one value for its context; forbidden characters become U+FFFD. */
export function escapeValue(context: Context, value: string): string {
  const allowed = value.replace(forbidden, '\ufffd');
  if (context === 'cdata') return allowed.replaceAll('\r', returnMark);
  return allowed.replace(special[context], (character) => entities[character] ?? reference(character));
}

/**
 * Finishes a whole stretch of one context whose values are escaped. Where literals and values meet no `]]>` may arise. A character
 * that the encoding cannot hold becomes a reference; CDATA knows no references, so the section is closed around it.
 */
export function escapeStretch(context: Context, stretch: string, missing: RegExp | undefined): string {
  let escaped = stretch;
  if (context === 'text') escaped = escaped.replaceAll(']]>', ']]&gt;');
  if (context === 'cdata')
    escaped = escaped.replaceAll(']]>', `]]${outsideCdata('')}>`).replaceAll(returnMark, outsideCdata(reference('\r')));
  if (missing === undefined) return escaped;
  return escaped.replace(missing, (character) =>
    context === 'cdata' ? outsideCdata(reference(character)) : reference(character),
  );
}

function reference(character: string): string {
  return `&#${character.codePointAt(0)};`;
}

function outsideCdata(text: string): string {
  return `]]>${text}<![CDATA[`;
}
