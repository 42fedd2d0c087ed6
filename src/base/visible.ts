/** @file Text of strangers for terminals and logs. */

/**
 * Control characters (escape sequences among them), line and paragraph separators, marks that turn the direction of
 * what follows, and halves of characters. Names with other letters of any script stay as they are.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * `text` on one line, with what a terminal would obey as `\u001b`. Names and paths from files may hold anything.
 *
 * ```ts
 * visible('a\x1b[2Jb'); // a\u001b[2Jb
 * ```
 */
export function visible(text: string): string {
  return text.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Lines of text that is ours; those after the first are set in, so that none looks like one of the caller's. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n  ');
}
