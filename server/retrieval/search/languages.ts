/** A language whose words bend in ways that the English stemmer of FTS5 does not know. */
interface Language {
  /** Stands before its stems in the index: a letter of nobody's script. */
  mark: string;
  /** Words that nearly every text of it has, and few texts of others. Folded. */
  common: ReadonlySet<string>;
  /** What a word loses. */
  ending: RegExp;
}

const language = (mark: string, common: string, ending: RegExp): Language => ({
  mark,
  common: new Set(common.split(" ")),
  ending,
});

export const languages: readonly Language[] = [
  language(
    "\u{e001}",
    "der die das und ist nicht mit von den dem ein eine einen einem auf fur auch sich wird werden sind im zu nach bei oder",
    /(?:ern|e[mnrs]|e|(?<=[bdfghklmnt])s|(?<=e[lr])n)$/,
  ),
  language(
    "\u{e002}",
    "le la les des du et est une dans pour que qui sur avec par au aux ce cette ne pas sont ou vous nous",
    /(?:ements?|issons|issez|ees?|e[rz]|ons|ent|e?s|e|x)$/,
  ),
  language(
    "\u{e003}",
    "el la los las de y es una en para que con por del al se su como mas pero son esta este lo",
    /(?:ciones|cion|es|[aeo]s?|s|[aei]r)$/,
  ),
  language(
    "\u{e004}",
    "il lo la gli le di e che una per con del della dei nel non sono si come anche piu questo questa al",
    /(?:zioni|zione|h?[aeio]|[aei]re)$/,
  ),
  language(
    "\u{e005}",
    "o os as de e que uma um para com do da dos das em no na nao se por mais como ao foi sao",
    /(?:coes|cao|oes|ao|[ae]is|es|[aeo]s?|s|[aei]r)$/,
  ),
  language(
    "\u{e006}",
    "de het een en van is niet met dat op te voor zijn aan er om ook door bij wordt naar worden deze",
    /(?:heden|heid|en|e|s)$/,
  ),
];

const english = new Set(
  "the of and to in is that for it with as on be are this by or an from at which not you can has have was if its when".split(
    " ",
  ),
);

const least = { common: 3, share: 0.08, stem: 3 };

/** The language of a text's folded words, by its common ones; null for English, and for what cannot be told. */
export function languageOf(words: readonly string[]): Language | null {
  const count = (common: ReadonlySet<string>) => words.filter((word) => common.has(word)).length;
  const counted = languages.map((language) => ({ language, found: count(language.common) }));
  const { language, found } = counted.reduce((best, each) => (each.found > best.found ? each : best));
  return found >= Math.max(least.common, least.share * words.length) && found > count(english) ? language : null;
}

/** A folded word without its ending, marked; null for one that has none to lose. */
export function stemOf({ mark, ending }: Language, word: string): string | null {
  const stem = word.replace(ending, "");
  if (stem.length < least.stem) return null;
  return mark + stem.replace(/(\p{L})\1$/u, "$1");
}
