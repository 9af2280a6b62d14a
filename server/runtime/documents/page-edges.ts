const ofPages = /(?<!\p{L})(?:pages?|of|seite|von|página|de|pagina|di|sur|van)(?!\p{L})/giu;

/** True if a header or footer says more than the page number ("Page 3 of 10" does not). */
export const hasWords = (text: string): boolean => /\p{L}{2}/u.test(text.replace(ofPages, " "));
