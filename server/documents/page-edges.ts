const ofPages = /(?<!\p{L})(?:pages?|of|seite|von|página|de|pagina|di|sur|van)(?!\p{L})/giu;

/** Whether a head or a foot of pages says more than which page it is: "Page 3 of 10" does not. */
export const saysMore = (text: string): boolean => /\p{L}{2}/u.test(text.replace(ofPages, " "));
