/** Without what a person who reads it would not see: control, format and tag characters can hold words for a model. */
export const plainText = (text: string): string => text.replace(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, "").toWellFormed();
