// Copies text to the clipboard.

/**
 * Copies text to the clipboard, even on a page without TLS, which has no access to the clipboard API. Resolves to true if the text was
 * copied.
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard)
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // access was denied: continue with the other way
    }
  const area = document.createElement('textarea');
  area.value = text;
  (document.querySelector('dialog[open]') ?? document.body).append(area); // outside an open dialog, nothing can be selected
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  return isDone;
}
