// An escaped backslash, a pair, or one half alone.
const escapes = /\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f][0-9a-f]{2})/gi;

/**
 * Replaces halves of surrogate pairs in JSON, such as those of an emoji that was cut: strict parsers of servers refuse
 * the whole text for one. `JSON.stringify` writes them as escapes.
 */
export const wellFormedJson = (json: string): string =>
  /\\ud/i.test(json) ? json.replace(escapes, (whole, half?: string) => (half === undefined ? whole : "\ufffd")) : json;
