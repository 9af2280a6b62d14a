/** What has more entries than this is edited as JSON: with a field for each, a browser would take seconds at each key. */
export const mostRows = 200;
