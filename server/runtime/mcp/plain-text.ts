/** Removes invisible characters (control, format, tags), because they can hide instructions to a model. */
export const plainText = (text: string): string => text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, "").toWellFormed();
