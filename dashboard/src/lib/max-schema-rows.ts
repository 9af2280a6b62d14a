/** Larger schemas are edited as JSON: with a field for each entry, typing would take seconds per key. */
export const maxSchemaRows = 200;
