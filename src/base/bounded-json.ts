/**
 * @file JSON of strangers: counted before it is parsed.
 *
 * A value takes two characters in a file and some fifty bytes in memory. The text is gone through once, which costs
 * little beside parsing it.
 */
import { checkLimit, type LimitName } from './limits.js';

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const isOpening = (code: number) => code === 91 || code === 123;
const isClosing = (code: number) => code === 93 || code === 125;

/** JSON.parse, unless there are more values or deeper ones than the limits; `refuse` gets the reason then. */
export function parseBoundedJson(text: string, values: LimitName, refuse: (reason: string) => never): unknown {
  let [count, depth, deepest] = [1, 0, 0];
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    else if (code === COMMA) count++;
    else if (isOpening(code)) {
      count++;
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (isClosing(code)) depth--;
  }
  checkLimit(values, count, (reason) => refuse(`its number of values ${reason}`));
  checkLimit('jsonDepth', deepest, (reason) => refuse(`its depth ${reason}`));
  return JSON.parse(text);
}
