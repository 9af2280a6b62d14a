/** A language whose inflections FTS5's English stemmer does not know. */
interface Language {
  /** Prefix of its stems in the index: a private-use character. */
  mark: string;
  /** Folded words that are frequent in the language and rare in others. */
  common: ReadonlySet<string>;
  /** Ending that is removed from a word. */
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

/** Detects the language of a text by its common words. Returns null for English or unknown. */
export function languageOf(words: readonly string[]): Language | null {
  const count = (common: ReadonlySet<string>) => words.filter((word) => common.has(word)).length;
  const counted = languages.map((language) => ({ language, found: count(language.common) }));
  const { language, found } = counted.reduce((best, each) => (each.found > best.found ? each : best));
  return found >= Math.max(least.common, least.share * words.length) && found > count(english) ? language : null;
}

/** Returns the marked stem of a folded word, or null if it has no ending to remove. */
export function stemOf({ mark, ending }: Language, word: string): string | null {
  const stem = word.replace(ending, "");
  if (stem.length < least.stem) return null;
  return mark + stem.replace(/(\p{L})\1$/u, "$1");
}
